"""Heart-beats and steps of a job whose samples get lost in blocks: holes are nobody's silence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.synthetic import JOB, START, node_name
from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.settings import SilenceSettings
from paramedic.diagnosis.silence import SilenceWatch
from paramedic.ingest.contract import Entity, Table, TelemetryBatch

NODES = 24
STEP_SECONDS = 10
FROZEN = 7


def holes(seconds: int, seed: int, lost: float, usual: float) -> np.ndarray[tuple[int, int]]:
    """Whether each node's row of each second is lost: a share of all, in blocks."""
    rng = np.random.default_rng(seed)
    begins = rng.random((seconds, NODES)) < lost / usual / (1 - lost)
    left, gone = np.zeros(NODES), np.zeros((seconds, NODES), np.bool_)
    for at in range(seconds):
        left = np.where((left <= 0) & begins[at], rng.geometric(1 / usual, NODES), left - 1)
        gone[at] = left > 0
    return gone


def named(
    seconds: int = 240, seed: int = 0, lost: float = 0.16, frozen_at: int = 10**9, usual: float = 5
) -> list[tuple[str, int, Fault]]:
    """Who is found silent first, and when, in a job whose ranks make a step every ten seconds."""
    liveness, watch = Liveness(5), SilenceWatch(SilenceSettings())
    gone = holes(seconds, seed, lost, usual)
    for second in range(seconds):
        step = min(second, frozen_at) // STEP_SECONDS
        silent = gone[second].copy()
        silent[FROZEN] |= second > frozen_at
        ranks = tuple(np.flatnonzero(~silent).tolist())
        columns = {"heartbeat": [1.0] * len(ranks), "step": [float(step)] * len(ranks)}
        table = Table(Entity.RANK, tuple(map(node_name, ranks)), ranks, columns)
        liveness.observe(TelemetryBatch(JOB, 0, START + second, (table,)), ())
        found = watch.judge(liveness)
        if found:
            return [(str(one.node), second, one.fault) for one in found]
    return []


@pytest.mark.parametrize("seed", range(3))
def test_nobody_is_accused_of_what_others_survive_between_two_long_steps(seed: int) -> None:
    assert named(seed=seed) == []


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), lost=st.floats(0.02, 0.2), usual=st.floats(2, 6))
def test_however_samples_get_lost_a_working_job_hangs_nowhere(
    seed: int, lost: float, usual: float
) -> None:
    assert named(140, seed, lost, usual=usual) == []


def test_a_freeze_is_named_in_spite_of_the_holes_and_alone() -> None:
    ((node, second, fault),) = named(seed=1, frozen_at=120)
    assert (node, fault) == (node_name(FROZEN), Fault.HANG)
    assert second - 120 <= 45


def test_where_nothing_gets_lost_a_freeze_is_named_when_a_step_is_overdue() -> None:
    ((node, second, _),) = named(lost=0.0, frozen_at=120)
    assert (node, second) == (node_name(FROZEN), 120 + STEP_SECONDS + STEP_SECONDS // 2 + 2)


def test_before_steps_are_known_their_absence_says_nothing() -> None:
    assert named(60, lost=0.0, frozen_at=25) == []


def heard(second: int, kind: Entity, nodes: list[int]) -> TelemetryBatch:
    names = tuple(map(node_name, nodes))
    columns = {
        Entity.RANK: {"heartbeat": [1.0] * len(nodes), "step": [0.0] * len(nodes)},
        Entity.NODE: {
            "process_stopped": [0.0] * len(nodes),
            "cpu_utilization_ratio": [0.2] * len(nodes),
        },
        Entity.GPU: {"gpu_power_watts": [300.0] * len(nodes)},
    }[kind]
    indices = None if kind is Entity.NODE else tuple(nodes)
    return TelemetryBatch(JOB, 0, START + second, (Table(kind, names, indices, columns),))


def found_silent(losses: tuple[tuple[Entity, int, range], ...]) -> list[str]:
    """Whom a standing job's silence is laid to when these rows are lost, by kind and node."""
    liveness, watch = Liveness(5), SilenceWatch(SilenceSettings())
    for second in range(120):
        for kind in (Entity.RANK, Entity.NODE, Entity.GPU):
            lost = {node for what, node, when in losses if what is kind and second in when}
            nodes = [node for node in range(8) if node not in lost]
            liveness.observe(heard(second, kind, nodes), ())
        found = [one for one in watch.judge(liveness) if one.fault is Fault.MACHINE_UNREACHABLE]
        if found:
            return [str(one.node) for one in found]
    return []


HOLES = tuple(
    (kind, 2 + at % 4, range(10 + 12 * at, 14 + 12 * at))
    for at in range(6)
    for kind in (Entity.RANK, Entity.NODE, Entity.GPU)
)
"""All that comes of one node or another is lost for four seconds, time and again."""


@pytest.mark.parametrize(
    ("begins", "lossy", "is_named"),
    [(95, True, True), (104, True, False), (104, False, True)],
    ids=["all at once", "one after the other among holes", "one after the other without any"],
)
def test_where_samples_get_lost_a_machine_falls_silent_at_once_or_not_at_all(
    begins: int, *, lossy: bool, is_named: bool
) -> None:
    """Its rank is silent since second 95, its system and its cards since then or later."""
    gone = ((Entity.RANK, 1, range(95, 120)), *(
        (kind, 1, range(begins, 120)) for kind in (Entity.NODE, Entity.GPU)
    ))  # fmt: skip
    assert found_silent((*gone, *(HOLES if lossy else ()))) == [node_name(1)] * is_named
