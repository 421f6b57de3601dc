"""Ranks that tell of one step in two seconds are compared all the same."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diagnosis.playing import diagnose, merged
from diagnosis.synthetic import JOB, START, node_name
from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.same_step import telling_ranks, with_peers_of_the_step
from paramedic.diagnosis.symptoms import JUDGED_METRICS
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Table, TelemetryBatch, Window

METRICS = ("step", "compute_seconds", "collective_seconds")
ROWS = tuple(EntityKey(Entity.RANK, NodeName(f"n{rank}"), rank) for rank in range(4))
NAN = math.nan
Told = list[list[tuple[float, float]]]
"""Slot by slot, the step and the seconds of computing of each rank; NaN where no step ended."""
CALM: list[tuple[float, float]] = [(7, 0.3)] * 4
THREE_FIRST: Told = [
    CALM,
    [(8, 0.3), (8, 0.3), (8, 0.3), (7, NAN)],
    [(8.0, NAN)] * 3 + [(8.0, 1.2)],
]


def windows(told: Told) -> tuple[Window, Window]:
    """What was told, and of it what may be compared."""
    values = np.array([[(s, c, 0.1 * c) for s, c in slot] for slot in told]).transpose(1, 2, 0)
    here = ~np.isnan(values)
    whole = Window(JOB, 0, Entity.RANK, START, ROWS, METRICS, values, here)
    part = Window(JOB, 0, Entity.RANK, START, ROWS, METRICS[1:], values[:, 1:], here[:, 1:])
    return whole, part


def completed(told: Told, part: Window | None = None) -> Window:
    whole, known = windows(told)
    return with_peers_of_the_step(whole, part or known, telling_ranks(part or known))


def test_who_told_of_the_step_a_second_before_stands_beside_who_tells_now() -> None:
    full = completed(THREE_FIRST)
    assert full.observed[:, :, -1].all()
    assert full.values[:, 0, -1].tolist() == [0.3, 0.3, 0.3, 1.2]
    assert full.values[:, 1, -1].tolist() == pytest.approx([0.03, 0.03, 0.03, 0.12])


def test_what_was_told_is_not_changed() -> None:
    whole, part = windows(THREE_FIRST)
    before = part.values.copy(), part.observed.copy()
    with_peers_of_the_step(whole, part, telling_ranks(part))
    np.testing.assert_array_equal(part.values, before[0])
    np.testing.assert_array_equal(part.observed, before[1])


def test_who_is_behind_is_not_there() -> None:
    """Rank 3 computes on: what it took for the step before says nothing of this one."""
    full = completed(THREE_FIRST[:2])
    assert full.observed[:, 0, -1].tolist() == [True, True, True, False]


def test_the_newest_that_was_told_counts() -> None:
    full = completed([CALM, [(7, NAN)] * 4, [(8.0, 0.5)] * 3 + [(7.0, NAN)], THREE_FIRST[2]])
    assert full.values[:3, 0, -1].tolist() == [0.5] * 3


@pytest.mark.parametrize("told", [[CALM] * 3, [CALM, [(7, NAN)] * 4]])
def test_where_all_tell_or_nobody_nothing_is_added(told: Told) -> None:
    whole, part = windows(told)
    assert with_peers_of_the_step(whole, part, telling_ranks(part)) is part


def test_a_job_that_tells_no_numbers_of_steps_is_compared_by_seconds() -> None:
    _, part = windows(THREE_FIRST)
    assert with_peers_of_the_step(part, part, telling_ranks(part)) is part


def long_steps(slow_from: int, ratio: float) -> list[TelemetryBatch]:
    """Steps of 1.3 s of which rank 0 hears last: every few seconds it tells of them alone."""
    ends = [1.3 * step for step in range(1, 60)]
    return [_batch(second, ends, slow_from, ratio) for second in range(int(ends[-1]))]


def _batch(second: int, ends: list[float], slow_from: int, ratio: float) -> TelemetryBatch:
    rng = np.random.default_rng(second)
    rows = []
    for rank in range(4):
        late = 0.45 if rank == 0 else 0.0
        ended = [step for step, at in enumerate(ends) if at + late < second + 1]
        is_new = bool(ended) and ends[ended[-1]] + late >= second
        work = 0.4 * rng.normal(1, 0.03) * (ratio if rank == 0 and second >= slow_from else 1.0)
        rows.append((float(len(ended)), work, 1.3 - work) if is_new else (len(ended), NAN, NAN))
    columns = dict(zip(METRICS, map(tuple, zip(*rows, strict=True)), strict=True))
    table = Table(Entity.RANK, tuple(map(node_name, range(4))), tuple(range(4)), columns)
    return TelemetryBatch(JOB, 0, START + second, (table,))


def verdict_of(batches: list[TelemetryBatch]) -> Verdict:
    (verdict,) = diagnose(merged(batches))
    return verdict


def test_no_step_of_a_slow_rank_is_lost_because_a_second_ended_in_it() -> None:
    verdict = verdict_of(long_steps(slow_from=40, ratio=3.0))
    assert verdict.node == node_name(0)
    assert verdict.detected_at.timestamp() - START - 40 <= 6


def test_a_healthy_job_whose_steps_end_across_seconds_is_left_alone() -> None:
    assert diagnose(merged(long_steps(slow_from=40, ratio=1.0))) == []


def test_the_number_of_the_step_is_no_metric_that_ranks_are_judged_by() -> None:
    assert "step" not in JUDGED_METRICS
