"""The end of a job resolves what is open, but for what brought it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diagnosis.playing import diagnose, merged
from diagnosis.synthetic import START, Scene, event, exit_of, job_state, node_name, without_rows
from paramedic.diagnosis.contract import Fault, Phase, Scope, Status, Verdict
from paramedic.ingest.contract import Entity, Event, EventKind, TelemetryBatch

RANKS = 4
VANISHED_AT, ABORTED_AT = 50, 75


def finished(at: float, result: str | None = None) -> Event:
    over = event(EventKind.JOB_STATE, at, state="finished")
    return over if result is None else replace(over, details={**over.details, "result": result})


def left(at: float, *ranks: int, exit_code: int = 134) -> list[Event]:
    """Ends of processes, alike."""
    return [
        event(EventKind.PROCESS_EXIT, at, node_name(rank), rank, exit_code=exit_code)
        for rank in ranks
    ]


def vanished(seconds: int = 100) -> list[TelemetryBatch]:
    """Nothing comes of the second node any more, and the others wait."""
    gone = range(VANISHED_AT + 1, seconds)
    batches = Scene(seconds=seconds, frozen={1: VANISHED_AT}).batches()
    return without_rows(batches, Entity.NODE, node_name(1), gone)


def newest(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return list({verdict.id: verdict for verdict in verdicts}.values())


def still_open(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [one for one in newest(verdicts) if one.status is not Status.RESOLVED]


@pytest.mark.parametrize("result", [None, "failed", "stopped"])
def test_who_brought_the_job_down_is_not_acquitted_by_its_end(result: str | None) -> None:
    ends = [*left(ABORTED_AT, 0, 2, 3), finished(ABORTED_AT, result)]
    verdicts = diagnose(merged(vanished(), ends))
    (culprit,) = newest(verdicts)
    assert (culprit.node, culprit.fault) == (node_name(1), Fault.MACHINE_UNREACHABLE)
    assert (culprit.phase, culprit.status) == (Phase.FAILED, Status.UPDATED)
    assert culprit.summary.endswith("ended after it on 3 other nodes")


def test_a_job_that_has_done_its_work_had_no_reason_to_end() -> None:
    ends = [*left(ABORTED_AT, 0, 2, 3), finished(ABORTED_AT, result="finished")]
    verdicts = diagnose(merged(vanished(), ends))
    assert [(one.fault, one.status) for one in newest(verdicts)] == [
        (Fault.MACHINE_UNREACHABLE, Status.RESOLVED)
    ]


def test_who_vanished_is_named_after_the_end_that_came_before_its_time_out() -> None:
    ends = [*left(VANISHED_AT + 4, 0, 2, 3), finished(VANISHED_AT + 4)]
    (culprit,) = still_open(diagnose(merged(vanished(), ends)))
    assert (culprit.node, culprit.fault) == (node_name(1), Fault.MACHINE_UNREACHABLE)


def test_when_all_have_ended_at_once_that_stays_to_be_told_of_a_job_that_is_over() -> None:
    ends = [*left(60, *range(RANKS)), finished(60.5)]
    (verdict,) = still_open(diagnose(merged(Scene(seconds=80).batches(), ends)))
    assert (verdict.scope, verdict.fault) == (Scope.JOB, Fault.THROUGHPUT_DROP)


@pytest.mark.parametrize("leaves_at", [[60, 60, 60, 60], [60, 62, 62, 63]], ids=["alike", "first"])
def test_processes_that_have_done_their_work_bring_no_job_down(leaves_at: list[int]) -> None:
    ends = [one for rank, at in enumerate(leaves_at) for one in left(at, rank, exit_code=0)]
    batches = Scene(seconds=60).batches()
    after = Scene(seconds=20, frozen={9: -1}, first_second=START + 60).batches()
    verdicts = diagnose(merged([*batches, *after], [*ends, finished(63.5)]))
    assert still_open(verdicts) == []


def test_a_failure_that_the_job_has_gone_on_after_did_not_end_it() -> None:
    batches = Scene(seconds=100).batches()
    verdicts = diagnose(merged(batches, [exit_of(2, 40.0), finished(90)]))
    assert [one.status for one in verdicts] == [Status.FIRING, Status.RESOLVED]
    assert verdicts[1].summary.startswith("the job has finished")


@pytest.mark.long
def test_who_is_only_slow_is_told_of_no_longer_when_the_job_is_over() -> None:
    slow = Scene(seconds=90, slow={1: 2.0}, slow_from=30).batches()
    fired, ended = diagnose(merged(slow, [finished(80)]))
    assert (fired.phase, ended.status) == (Phase.DEGRADED, Status.RESOLVED)


def test_the_next_run_of_the_job_begins_with_nothing_open() -> None:
    again = [finished(ABORTED_AT), job_state("starting", ABORTED_AT + 10)]
    verdicts = diagnose(merged(vanished(), [*left(ABORTED_AT, 0, 2, 3), *again]))
    assert still_open(verdicts) == []
    assert verdicts[-1].summary.startswith("another run of the job has begun")


def test_what_is_told_of_a_job_that_is_over_decides_nothing() -> None:
    ends = [finished(60), *left(61, 0, 1), event(EventKind.XID, 62, node_name(1), xid=79)]
    assert diagnose(merged(Scene(seconds=80).batches(), ends)) == []
