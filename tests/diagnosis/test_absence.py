"""Whose telemetry has ceased: counted in seconds in which most others are heard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.absence import Absence, AbsenceWatch
from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Severity
from paramedic.diagnosis.unheard import finding_of_absence
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window

TIMEOUT_SECONDS = 30
NODES = 8
START = 1_790_000_000
EVERYBODY = frozenset(range(NODES))
KINDS = (Entity.GPU, Entity.NODE)
ROWS = {
    kind: tuple(EntityKey(kind, NodeName(f"n{node}"), None) for node in range(NODES))
    for kind in (Entity.GPU, Entity.NODE)
}


def window(kind: Entity, second: int, heard: frozenset[int], width: int = 1) -> Window:
    there = np.array([node in heard for node in range(NODES)])[:, None, None]
    values = there.astype(np.float32)
    job = JobName("job")
    return Window(job, 0, kind, second, ROWS[kind], ("m",), values, there, slot_seconds=width)


def watch(slots: Sequence[frozenset[int]], width: int = 1) -> Iterator[Absence]:
    """Everybody that is missing in any of these slots."""
    watcher = AbsenceWatch(TIMEOUT_SECONDS)
    for at, heard in enumerate(slots):
        yield from watcher.judge({Entity.GPU: window(Entity.GPU, START + at * width, heard, width)})


@pytest.mark.long
@given(
    before=st.integers(1, 40),
    outage=st.integers(1, 100),
    returns=st.lists(st.integers(0, 25), min_size=NODES, max_size=NODES),
)
def test_whatever_the_outage_and_the_staggered_return_nobody_is_accused(
    before: int, outage: int, returns: list[int]
) -> None:
    back = [
        frozenset(node for node in range(NODES) if returns[node] <= second) for second in range(40)
    ]
    assert list(watch([EVERYBODY] * before + [frozenset()] * outage + back)) == []


def test_a_slow_source_that_returns_bit_by_bit_accuses_nobody() -> None:
    back = [frozenset(range(some)) for some in (2, 5, 7, 8, 8)]
    assert list(watch([EVERYBODY] * 5 + [frozenset()] * 6 + back, width=15)) == []


def test_who_stays_away_after_an_outage_is_accused_a_time_out_after_the_return() -> None:
    slots = [EVERYBODY] * 5 + [frozenset()] * 60 + [EVERYBODY - {3}] * 40
    first = next(watch(slots))
    assert (first.node, first.second - START) == ("n3", 64 + TIMEOUT_SECONDS)
    assert first.second - first.since == TIMEOUT_SECONDS


def test_slots_that_never_came_are_a_common_silence_too() -> None:
    watcher = AbsenceWatch(TIMEOUT_SECONDS)

    def judge(second: int, heard: frozenset[int]) -> list[Absence]:
        return list(watcher.judge({Entity.GPU: window(Entity.GPU, second, heard)}))

    early = [one for second in range(20) for one in judge(START + second, EVERYBODY)]
    early += [one for second in range(20, 45) for one in judge(START + second, EVERYBODY - {3})]
    late = [one for second in range(90, 115) for one in judge(START + second, EVERYBODY - {3})]
    assert early == late == []


def test_a_source_slower_than_its_slots_is_followed_at_its_own_pace() -> None:
    """Every 10 s a node is heard, each in another second."""
    slots = [
        frozenset({second % 10} - {3} if second > 50 else {second % 10}) for second in range(99)
    ]
    missing = list(watch(slots))
    assert {one.node for one in missing} == {"n3"}


def stopping(
    silent_from: int, stands_from: int, silent: Sequence[Entity] = KINDS, timeout: int = 30
) -> list[Absence]:
    """Node 4 falls silent, and the cards of the others spin from some second on."""
    watcher = AbsenceWatch(timeout)
    found: list[Absence] = []
    for at in range(85 + timeout):
        away = EVERYBODY - {4} if at >= silent_from else EVERYBODY
        spins = at >= stands_from
        gpus = working(START + at, away if Entity.GPU in silent else EVERYBODY, spins=spins)
        hosts = window(Entity.NODE, START + at, away if Entity.NODE in silent else EVERYBODY)
        found += watcher.judge({Entity.GPU: gpus, Entity.NODE: hosts})
    return found


def working(second: int, heard: frozenset[int], *, spins: bool) -> Window:
    power, sent = (130.0, 0.0) if spins else (300.0, 1e9)
    there = np.array([node in heard for node in range(NODES)])[:, None, None]
    values = np.array([power, 1.0, sent], np.float32)[None, :, None]
    metrics = ("gpu_power_watts", "gpu_utilization_ratio", "gpu_pcie_tx_bytes_per_second")
    shape = (NODES, len(metrics), 1)
    return Window(
        JobName("job"), 0, Entity.GPU, second, ROWS[Entity.GPU], metrics,
        np.where(there, values, np.nan), np.broadcast_to(there, shape),
    )  # fmt: skip


def test_who_falls_silent_when_the_job_comes_to_stand_is_out_of_reach_in_seconds() -> None:
    first = stopping(90, 92)[0]
    finding = finding_of_absence(first, 0)
    assert (first.node, first.is_standing, first.second - START) == ("n4", True, 99)
    assert (finding.fault, finding.phase) == (Fault.MACHINE_UNREACHABLE, Phase.FAILED)
    assert "and the job stands still since then" in finding.summary


@pytest.mark.parametrize(("stands_from", "found"), [(91, {"n1"}), (200, set())])
def test_of_two_nodes_the_silent_one_is_missed_where_the_job_stands(
    stands_from: int, found: set[str]
) -> None:
    watcher = AbsenceWatch(20)
    missed: list[Absence] = []
    for at in range(130):
        heard = frozenset({0}) if at >= 90 else frozenset({0, 1})
        gpus = working(START + at, heard, spins=at >= stands_from)
        hosts = window(Entity.NODE, START + at, heard)
        pairs = {one.entity: the_first_two(one) for one in (gpus, hosts)}
        missed += watcher.judge(pairs)
    assert {one.node for one in missed} == found
    assert all(
        "while 1 other node is heard" in finding_of_absence(one, 0).summary for one in missed
    )


def the_first_two(window: Window) -> Window:
    return replace(
        window, rows=window.rows[:2], values=window.values[:2], observed=window.observed[:2]
    )


def stepping(at: int, stops_at: int, silent_from: int) -> Window:
    """The last minute: steps of 16 s end with 6 s of exchange, and the last one never ends."""
    seconds = np.arange(at - 59, at + 1)
    waits = (seconds % 16 >= 10) | (seconds >= stops_at)
    shown = np.array([np.where(waits, 130.0, 300.0), np.ones(60), np.where(waits, 0.0, 1e9)])
    values = np.repeat(shown[None].astype(np.float32), NODES, axis=0)
    there = np.ones(values.shape, np.bool_)
    there[4, :, seconds >= silent_from] = False
    metrics = ("gpu_power_watts", "gpu_utilization_ratio", "gpu_pcie_tx_bytes_per_second")
    job = JobName("job")
    return Window(job, 0, Entity.GPU, START + at - 59, ROWS[Entity.GPU], metrics, values, there)


@pytest.mark.long
def test_a_job_may_come_to_stand_in_a_part_of_its_step_in_which_cards_do_little() -> None:
    watcher = AbsenceWatch(60)
    found: list[Absence] = []
    for at in range(60, 215):
        heard = EVERYBODY - {4} if at >= 191 else EVERYBODY
        hosts = window(Entity.NODE, START + at, heard)
        gpus = stepping(at, stops_at=186, silent_from=191)
        found += watcher.judge({Entity.GPU: gpus, Entity.NODE: hosts})
    assert {(one.node, one.is_standing) for one in found} == {("n4", True)}


@pytest.mark.parametrize(
    ("node", "since", "silent_seconds"),
    [(3, 92, 10.0), (4, 92, None), (3, 70, None)],
    ids=["another looks odd since then", "the silent one itself", "odd since long before"],
)
def test_who_looks_odd_since_another_fell_silent_may_wait_for_that_one(
    node: int, since: int, silent_seconds: float | None
) -> None:
    watcher = AbsenceWatch(30)
    for at in range(100):
        heard = EVERYBODY - {4} if at >= 90 else EVERYBODY
        gpus = working(START + at, heard, spins=False)
        list(watcher.judge({Entity.GPU: gpus, Entity.NODE: window(Entity.NODE, START + at, heard)}))
    assert watcher.missed_for(NodeName(f"n{node}"), START + since) == silent_seconds


def test_who_was_silent_while_the_job_went_on_has_lost_the_exporters_time_to_be_back() -> None:
    first = stopping(90, 100, timeout=60)[0]
    assert (first.is_standing, first.second - START) == (True, 119)


def test_whose_cards_alone_are_silent_has_lost_them_once_an_exporter_would_be_back() -> None:
    first = stopping(90, 92, [Entity.GPU], timeout=60)[0]
    assert (first.is_standing, first.second - START) == (True, 119)
    assert finding_of_absence(first, 0).fault is Fault.GPU_CARD_DROP


@pytest.mark.parametrize(
    ("silent_from", "stands_from", "silent"),
    [(90, 200, KINDS), (95, 85, KINDS), (90, 92, [Entity.NODE]), (200, 90, KINDS)],
    ids=["the job goes on", "it stood before", "only the host is silent", "nobody is silent"],
)
def test_a_hole_is_no_fault(silent_from: int, stands_from: int, silent: Sequence[Entity]) -> None:
    assert stopping(silent_from, stands_from, silent) == []


def test_lost_telemetry_of_a_job_that_goes_on_is_a_trend_and_asks_only_for_a_look() -> None:
    lost = next(watch([EVERYBODY] * 5 + [EVERYBODY - {3}] * 40))
    finding = finding_of_absence(lost, 0)
    assert (finding.fault, finding.gravity) == (Fault.TELEMETRY_LOST, Severity.P2)
    assert finding.recommendation.recommended is RecommendedAction.NOTIFY


@pytest.mark.parametrize("silent_kind", [Entity.GPU, Entity.NODE])
def test_only_others_are_counted_as_heard(silent_kind: Entity) -> None:
    watcher = AbsenceWatch(TIMEOUT_SECONDS)
    found: list[Absence] = []
    for at in range(TIMEOUT_SECONDS + 6):
        heard = {
            kind: EVERYBODY - {4} if kind is silent_kind and at > 4 else EVERYBODY for kind in ROWS
        }
        found += watcher.judge({kind: window(kind, START + at, heard[kind]) for kind in ROWS})
    assert found[0].peers_heard == NODES - 1
    assert "while 7 other nodes are heard" in finding_of_absence(found[0], 0).summary
