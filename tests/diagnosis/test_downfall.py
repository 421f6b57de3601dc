"""Who of several that ended was the first; the others are victims, and one verdict is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diagnosis.playing import diagnose, firing, merged
from diagnosis.synthetic import START, Scene, event, exit_of, node_name, without_rows
from paramedic.diagnosis.contract import Fault, Phase, Scope, Status, Verdict
from paramedic.ingest.contract import Entity, Event, EventKind

DIED_AT = 50.25
RANKS = 4


def ended(rank: int, at: float, **how: int) -> Event:
    return event(EventKind.PROCESS_EXIT, at, node_name(rank), rank, **(how or {"exit_code": 1}))


def of_the_job(*exits: Event, seconds: int = 75, stops_at: int = 50) -> list[Verdict]:
    """What is said of a job whose steps end, with these exits."""
    batches = Scene(ranks=RANKS, seconds=seconds, frozen={9: stops_at}).batches()
    return diagnose(merged(batches, exits))


def named(verdicts: Sequence[Verdict]) -> list[str | None]:
    return [verdict.node for verdict in firing(verdicts)]


def test_an_error_that_ends_one_rank_is_its_fault_a_second_later() -> None:
    (verdict,) = of_the_job(ended(2, DIED_AT))
    assert (verdict.node, verdict.fault, verdict.rank) == (node_name(2), Fault.PROCESS_EXIT, 2)
    assert verdict.onset.timestamp() + 0.75 == verdict.detected_at.timestamp() - 1


@pytest.mark.parametrize("how", [{"signal": 6}, {"exit_code": 1}], ids=["alike", "unlike"])
def test_those_that_end_after_the_first_are_counted_as_its_victims(how: dict[str, int]) -> None:
    others = [ended(rank, 60.0 + rank / 9, **how) for rank in (0, 1, 3)]
    first, told = of_the_job(ended(2, DIED_AT, signal=6), *others)
    assert (first.node, told.id, told.status) == (node_name(2), first.id, Status.UPDATED)
    assert told.summary.endswith("ended after it on 3 other nodes")


def test_a_crash_is_told_by_its_event_and_its_neighbours_follow_within_the_second() -> None:
    others = [ended(rank, DIED_AT + 0.3, exit_code=1) for rank in (0, 1, 3)]
    verdicts = of_the_job(exit_of(2, DIED_AT), *others)
    assert named(verdicts) == [node_name(2)]
    assert verdicts[0].detected_at == verdicts[0].onset


@pytest.mark.parametrize("how", [{"exit_code": 1}, {"signal": 15}, {"signal": 6}])
def test_when_all_end_alike_within_a_second_nobody_is_accused(how: dict[str, int]) -> None:
    (verdict,) = of_the_job(*(ended(rank, DIED_AT + rank / 5, **how) for rank in range(RANKS)))
    assert (verdict.scope, verdict.fault) == (Scope.JOB, Fault.THROUGHPUT_DROP)
    assert "nobody can be said to be the first" in verdict.summary


def test_who_was_named_for_a_kill_that_hit_everybody_is_named_no_longer() -> None:
    verdicts = of_the_job(*(exit_of(rank, DIED_AT) for rank in range(RANKS)))
    still_open = {v.id: v for v in verdicts}
    ends = [v.status for v in still_open.values()]
    assert ends.count(Status.FIRING) == 1
    assert [v.scope for v in still_open.values() if v.status is Status.FIRING] == [Scope.JOB]


@pytest.mark.long
def test_who_was_slow_before_everybody_ended_has_failed() -> None:
    slow = Scene(seconds=80, slow={1: 2.0}, slow_from=30).batches()
    stands = Scene(seconds=5, frozen={9: -1}, first_second=START + 80).batches()
    exits = [ended(rank, 80.0, signal=6) for rank in range(RANKS)]
    fired, failed = diagnose(merged([*slow, *stands], exits))
    assert (fired.fault, fired.phase) == (Fault.STRAGGLER, Phase.DEGRADED)
    assert (failed.id, failed.phase, failed.node) == (fired.id, Phase.FAILED, node_name(1))


def test_who_fell_silent_before_the_others_ended_is_accused_and_not_they() -> None:
    batches = Scene(seconds=90, frozen={1: 50}).batches()
    batches = without_rows(batches, Entity.NODE, node_name(1), range(51, 90))
    exits = [ended(rank, 52.0 + rank) for rank in (0, 2, 3)]
    verdicts = diagnose(merged(batches, exits))
    assert named(verdicts) == [node_name(1)]
    assert verdicts[0].fault is Fault.MACHINE_UNREACHABLE


def test_who_is_heard_of_again_is_not_why_the_others_ended() -> None:
    batches = without_rows(Scene(seconds=90).batches(), Entity.NODE, node_name(1), range(50, 56))
    batches = without_rows(batches, Entity.RANK, node_name(1), range(50, 56))
    verdicts = diagnose(merged(batches, [ended(3, 51.5)]))
    assert named(verdicts) == [node_name(3)]


@pytest.mark.long
def test_a_job_that_goes_on_without_the_first_can_lose_a_second() -> None:
    batches = Scene(seconds=100).batches()
    verdicts = diagnose(merged(batches, [ended(2, 40.0), ended(3, 80.0)]))
    assert named(verdicts) == [node_name(2), node_name(3)]


@pytest.mark.long
def test_a_watchdog_that_gives_up_after_minutes_makes_no_second_culprit() -> None:
    verdicts = of_the_job(ended(2, DIED_AT), ended(3, 290.0), seconds=299)
    assert named(verdicts) == [node_name(2)]


def test_whose_node_had_failed_keeps_its_victims_though_its_own_end_is_taken_back() -> None:
    batches = Scene(seconds=90, frozen={1: 50}).batches()
    verdicts = diagnose(merged(batches, [ended(rank, 70.0, signal=6) for rank in range(RANKS)]))
    newest = {one.id: one for one in verdicts}.values()
    assert {(one.fault, one.status) for one in newest} == {
        (Fault.HANG, Status.UPDATED),
        (Fault.PROCESS_EXIT, Status.RESOLVED),
    }


def test_the_process_of_a_gpu_is_told_of_without_its_rank() -> None:
    told = replace(event(EventKind.PROCESS_EXIT, DIED_AT, node_name(2), exit_code=137), gpu=3)
    (verdict,) = of_the_job(told)
    assert verdict.summary.startswith("the process on GPU 3 of node-0002 has ended")
    assert verdict.detected_at == verdict.onset
