"""A job that does nothing for long: when that counts, and what it means for who is accused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from diagnosis.cards import START as CARDS_START
from diagnosis.crowd import JOB, START, Crowd, name, slow
from diagnosis.playing import merged, tell
from diagnosis.synthetic import with_columns
from diagnosis.test_machines import QUICK
from diagnosis.test_motion import COMPUTES, GONE, RESTS, SPINS, STEPS, Levels, moved
from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Status, Verdict
from paramedic.diagnosis.settings import StandstillSettings
from paramedic.diagnosis.stand import stand_of
from paramedic.ingest.contract import Entity, Event, EventKind, Table, TelemetryBatch

STOPS_AT = 80
NOBODY_TELLS_FLOWS = {"gpu_power_watts": 100.0, "gpu_utilization_ratio": 1.0}
USED, FREE = 6e10, 1e9


def stands_after(
    lows: Sequence[Levels], before: Sequence[Levels] = STEPS, width: int = 1, since: float = 0
) -> int | None:
    """For how many seconds the job counts as standing that goes on like this, if it does."""
    motion = moved([*before, *lows], width)
    stand = stand_of(motion, since, StandstillSettings())
    return None if stand is None else stand.seconds


@pytest.mark.parametrize("low", [SPINS, GONE], ids=["spins", "gone"])
def test_a_minute_counts_of_cards_that_wait_or_were_given_back(low: Levels) -> None:
    assert stands_after([low] * 58) is None
    assert stands_after([low] * 62) is not None


@pytest.mark.parametrize(
    ("low", "before"),
    [
        (RESTS, STEPS),
        (NOBODY_TELLS_FLOWS, [{**NOBODY_TELLS_FLOWS, "gpu_power_watts": 600.0}] * 108),
    ],
    ids=["a pause", "a crawl"],
)
def test_what_may_be_something_else_counts_after_as_long_as_that_takes(
    low: Levels, before: Sequence[Levels]
) -> None:
    assert stands_after([low] * 290, before) is None
    assert stands_after([low] * 305, before) is not None


def test_a_job_that_has_paused_for_long_before_is_given_longer() -> None:
    saves = [*STEPS, *[RESTS] * 70, *STEPS]
    assert stands_after([RESTS] * 330, saves) is None
    assert stands_after([RESTS] * 360, saves) is not None


def test_slow_telemetry_needs_some_slots() -> None:
    works = [COMPUTES] * 30
    assert stands_after([SPINS] * 4, works, width=30) is None
    assert stands_after([SPINS] * 6, works, width=30) is not None


def test_what_came_before_the_job_trained_does_not_count() -> None:
    trains_at = CARDS_START + len(STEPS) + 30
    assert stands_after([SPINS] * 80, since=trains_at) is None
    assert stands_after([SPINS] * 95, since=trains_at) in range(60, 66)


def job_state(state: str, at: float) -> Event:
    told: dict[str, str | int] = {"state": state, "sampling_seconds": 1}
    return Event(datetime.fromtimestamp(START + at, UTC), EventKind.JOB_STATE, JOB, details=told)


def plain(
    seconds: int, goes_on_at: int = 10**6, gone_at: float = math.inf, is_slow: bool = True
) -> list[TelemetryBatch]:
    """Cards of which one is slow, in a job that comes to stand; nothing is told of ranks."""
    stands = range(STOPS_AT, min(goes_on_at, seconds))
    faults = slow(3, 0.5, gpu=1) if is_slow else ()
    crowd = Crowd(nodes=6, gpus=2, seconds=seconds, faults=faults, pause=stands, steps=())
    return [_with_use(one, is_free=one.second - START >= gone_at) for one in crowd.batches()]


def _with_use(batch: TelemetryBatch, *, is_free: bool) -> TelemetryBatch:
    used = {"gpu_utilization_ratio": 1.0, "gpu_memory_used_bytes": FREE if is_free else USED}
    return with_columns([batch], Entity.GPU, used)[0]


def told(batches: Iterable[TelemetryBatch], *events: Event) -> list[Verdict]:
    return tell(QUICK.build(JOB), merged(batches, [job_state("training", -1), *events]))


@pytest.mark.long
@pytest.mark.parametrize("gone_at", [math.inf, 100], ids=["spins", "gone"])
def test_who_was_slow_has_failed_when_the_job_has_stood_for_a_minute(gone_at: float) -> None:
    fired, failed = told(plain(160, gone_at=gone_at))
    assert (fired.node, fired.phase, fired.severity) == (name(3), Phase.SYMPTOM, Severity.P1)
    assert (failed.id, failed.phase, failed.severity) == (fired.id, Phase.FAILED, Severity.P0)
    assert failed.failed_at is not None
    assert failed.failed_at.timestamp() - START in range(STOPS_AT - 2, STOPS_AT + 2)
    assert failed.detected_at.timestamp() - START in range(STOPS_AT + 58, STOPS_AT + 64)


def with_steps(batch: TelemetryBatch) -> TelemetryBatch:
    """A rank of each node that makes a step a second, and works like the others."""
    nodes = tuple(name(at) for at in range(6))
    told = {"heartbeat": 1.0, "step": float(batch.second - START), "compute_seconds": 0.8}
    columns = {metric: (value,) * len(nodes) for metric, value in told.items()}
    ranks = Table(Entity.RANK, nodes, tuple(range(6)), columns)
    return replace(batch, tables=(*batch.tables, ranks))


@pytest.mark.long
def test_a_job_whose_ranks_make_steps_does_not_stand_whatever_its_cards_show() -> None:
    (fired,) = told([with_steps(one) for one in plain(200, gone_at=100)])
    assert (fired.node, fired.phase) == (name(3), Phase.SYMPTOM)


@pytest.mark.long
@pytest.mark.parametrize("state", ["evaluating", "checkpointing", "recovering", "suspended"])
def test_a_job_that_says_why_it_does_nothing_has_not_failed(state: str) -> None:
    (fired,) = told(plain(200), job_state(state, STOPS_AT))
    assert fired.phase is Phase.SYMPTOM


@pytest.mark.long
def test_a_job_that_has_ended_has_not_come_to_stand() -> None:
    ended = replace(job_state("finished", STOPS_AT + 5), details={"state": "finished"})
    _, resolved = told(plain(200, gone_at=STOPS_AT + 4), ended)
    assert (resolved.status, resolved.phase) == (Status.RESOLVED, Phase.SYMPTOM)


@pytest.mark.long
@pytest.mark.parametrize("ends", [True, False], ids=["somebody has ended", "all work"])
def test_after_an_end_nobody_is_accused_of_working_differently_until_the_job_has_gone_on(
    *, ends: bool
) -> None:
    crowd = Crowd(nodes=6, gpus=2, seconds=170, steps=(), faults=slow(3, 0.5, gpu=1, first=85))
    ended = Event(
        datetime.fromtimestamp(START + 82, UTC), EventKind.PROCESS_EXIT, JOB, name(1), 0,
        details={"signal": 9},
    )  # fmt: skip
    verdicts = told(crowd.batches(), *([ended] if ends else []))
    (odd,) = (one for one in verdicts if one.node == name(3) and one.status is Status.FIRING)
    after = odd.detected_at.timestamp() - START
    assert (after > 82 + 60) is ends


@pytest.mark.long
def test_it_is_a_symptom_again_when_the_job_goes_on() -> None:
    fired, failed, back = told(plain(240, goes_on_at=155))
    assert (failed.phase, back.phase) == (Phase.FAILED, Phase.SYMPTOM)
    assert (back.id, back.failed_at) == (fired.id, None)
    assert back.detected_at.timestamp() - START in range(213, 219)


@pytest.mark.long
def test_who_fell_silent_as_the_job_came_to_stand_is_waited_for_and_named() -> None:
    batches = [_without(one) if one.second - START >= STOPS_AT else one for one in plain(160)]
    newest = {one.id: one for one in told(batches)}.values()
    assert {(one.node, one.fault, one.phase) for one in newest if one.phase is Phase.FAILED} == {
        (name(5), Fault.MACHINE_UNREACHABLE, Phase.FAILED)
    }


def _without(batch: TelemetryBatch) -> TelemetryBatch:
    """Nothing comes of the last node."""
    tables = []
    for table in batch.tables:
        kept = [at for at, node in enumerate(table.nodes) if node != name(5)]
        indices = table.indices
        tables.append(
            replace(
                table,
                nodes=tuple(table.nodes[at] for at in kept),
                indices=None if indices is None else tuple(indices[at] for at in kept),
                columns={
                    metric: [values[at] for at in kept] for metric, values in table.columns.items()
                },
            )
        )
    return replace(batch, tables=tuple(tables))


@pytest.mark.long
def test_a_job_that_hangs_and_of_which_nobody_is_accused_is_told_of_as_a_whole() -> None:
    fired, over = told(plain(520, goes_on_at=440, is_slow=False))
    assert (fired.scope, fired.fault) == (Scope.JOB, Fault.THROUGHPUT_DROP)
    assert (fired.phase, fired.severity) == (Phase.FAILED, Severity.P0)
    assert fired.detected_at.timestamp() - START - STOPS_AT in range(298, 304)
    assert (over.id, over.status) == (fired.id, Status.RESOLVED)
