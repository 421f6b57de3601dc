"""Ranks whose steps are so long that a window holds only a few are judged all the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.playing import diagnose, merged
from diagnosis.synthetic import JOB, START, node_name
from paramedic.diagnosis.contract import Fault, Verdict
from paramedic.diagnosis.earlier_steps import EarlierSteps
from paramedic.ingest.contract import Entity, EntityKey, Table, TelemetryBatch, Window

METRICS = ("compute_seconds", "collective_seconds")
SLOTS = 60


def row(rank: int) -> EntityKey:
    return EntityKey(Entity.RANK, node_name(rank), rank)


def part_until(
    second: int,
    step_seconds: int,
    ranks: tuple[int, ...] = (0, 1),
    metrics: tuple[str, ...] = METRICS,
) -> Window:
    """What may be compared: the second, in every slot in which a step ended."""
    seconds = np.arange(second - SLOTS + 1, second + 1)
    is_told = (seconds % step_seconds == 0) & (seconds >= 0)
    shape = (len(ranks), len(metrics), SLOTS)
    observed = np.broadcast_to(is_told, shape).copy()
    offsets = np.array(ranks)[:, None, None] / 10 + np.arange(len(metrics))[None, :, None] / 100
    values = np.where(observed, seconds + offsets, np.nan)
    rows = tuple(map(row, ranks))
    return Window(JOB, 0, Entity.RANK, second - SLOTS + 1, rows, metrics, values, observed)


def lived(until: int, step_seconds: int) -> EarlierSteps:
    earlier = EarlierSteps()
    for second in range(until + 1):
        earlier.remember(part_until(second, step_seconds))
    return earlier


def told(window: Window, at: int = 0, metric: int = 0) -> list[float]:
    values: list[float] = window.values[at, metric][window.observed[at, metric]].round(2).tolist()
    return values


def test_steps_that_have_left_the_window_stand_before_it() -> None:
    window = lived(240, 12).before(part_until(240, 12))
    assert told(window) == [float(second) for second in range(0, 241, 12)]
    assert window.last_second == 240
    assert window.seconds[-1] - window.seconds[0] + 1 == window.values.shape[2]


@pytest.mark.parametrize("step_seconds", [1, 2])
def test_a_window_that_holds_enough_steps_stays_as_it_is(step_seconds: int) -> None:
    part = part_until(240, step_seconds)
    assert lived(240, step_seconds).before(part) is part


def test_no_more_is_remembered_than_says_something() -> None:
    window = lived(1200, 12).before(part_until(1200, 12))
    assert 25 <= len(told(window)) <= 35


def test_nothing_of_before_is_compared_when_a_stretch_of_training_begins() -> None:
    earlier = lived(240, 12)
    earlier.clear()
    part = part_until(240, 12)
    assert earlier.before(part) is part


def test_what_is_remembered_does_not_change_with_the_window_it_came_from() -> None:
    earlier, part = EarlierSteps(), part_until(0, 12)
    earlier.remember(part)
    part.values[:] = -1
    assert told(earlier.before(part_until(120, 12)))[0] == 0.0


@pytest.mark.long
@given(st.permutations([0, 1, 2]), st.permutations(METRICS))
def test_rows_and_metrics_keep_what_is_theirs_in_any_order(
    ranks: list[int], metrics: list[str]
) -> None:
    window = lived(240, 12).before(part_until(240, 12, tuple(ranks), tuple(metrics)))
    for at, rank in enumerate(ranks):
        for metric, name in enumerate(metrics):
            first = told(window, at, metric)[0] - rank / 10
            if rank == 2:  # it has come lately
                assert first >= 181
            else:
                assert first == pytest.approx(METRICS.index(name) / 100, abs=1e-6)


def long_steps(seconds: int, slow_from: int, ratio: float, ranks: int = 4) -> list[TelemetryBatch]:
    """Steps of 12 s, each told of until the next one ends; rank 1 becomes slower."""
    columns = ("step", "step_seconds", "compute_seconds", "collective_seconds")
    rng = np.random.default_rng(7)
    batches, step, ended, rows = [], 0, 0.0, []
    for second in range(seconds):
        if second >= ended:
            work = 8.0 * rng.normal(1, 0.02, ranks)
            work[1] *= ratio if second >= slow_from else 1.0
            whole = float(work.max()) + 4.0
            rows = [(float(step), whole, one, whole - one) for one in work.tolist()]
            step, ended = step + 1, second + whole
        cells = dict(zip(columns, map(tuple, zip(*rows, strict=True)), strict=True))
        nodes = tuple(map(node_name, range(ranks)))
        table = Table(Entity.RANK, nodes, tuple(range(ranks)), cells)
        batches.append(TelemetryBatch(JOB, 0, START + second, (table,)))
    return batches


def verdicts(ratio: float) -> list[Verdict]:
    return diagnose(merged(long_steps(600, slow_from=400, ratio=ratio)))


@pytest.mark.long
def test_a_slow_rank_of_a_job_with_long_steps_is_named_after_a_few_of_them() -> None:
    (verdict,) = verdicts(1.5)
    assert (verdict.node, verdict.fault) == (node_name(1), Fault.STRAGGLER)
    assert verdict.detected_at.timestamp() - START - 400 <= 5 * 16


@pytest.mark.long
def test_a_healthy_job_with_long_steps_is_left_alone() -> None:
    assert verdicts(1.0) == []
