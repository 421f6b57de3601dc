"""Who of several that ended was the first; the others are victims, and one verdict is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diagnosis.playing import diagnose, firing, merged
from diagnosis.synthetic import JOB, START, Scene, event, exit_of, node_name, without_rows
from paramedic.diagnosis.contract import Fault, Phase, Scope, Status, Tier, Verdict
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.downfall import Around, Downfall
from paramedic.diagnosis.exits import Ending
from paramedic.diagnosis.finding import Finding, moment
from paramedic.diagnosis.going_on import GoingOn
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.motion import Gait, Motion
from paramedic.diagnosis.sight import JobSight
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


def xid(rank: int, at: float, code: int = 94) -> Event:
    """94: an uncorrectable memory error that ends no more than the process that meets it."""
    return replace(event(EventKind.XID, at, node_name(rank), xid=code), gpu=0)


def test_a_card_that_told_its_error_has_failed_by_the_end_of_its_process() -> None:
    over = event(EventKind.JOB_STATE, 70, state="finished")
    fired, failed = of_the_job(xid(2, 45), ended(2, DIED_AT), over)
    assert (fired.fault, fired.node) == (Fault.ECC_ERROR, node_name(2))
    assert (failed.id, failed.status, failed.phase) == (fired.id, Status.UPDATED, Phase.FAILED)
    assert failed.failed_at is not None
    assert failed.failed_at.timestamp() == START + DIED_AT
    assert failed.action == fired.action
    assert failed.summary.endswith("the process of rank 2 on node-0002 has ended with exit code 1")
    assert failed.evidence[-1].metric == "process_exit"


def test_its_victims_are_counted_there_and_its_own_other_processes_are_none() -> None:
    more = replace(ended(2, DIED_AT + 0.5), rank=9)
    *_, told = of_the_job(xid(2, 45), ended(2, DIED_AT), more, ended(1, 60), ended(3, 61))
    assert (told.fault, told.node) == (Fault.ECC_ERROR, node_name(2))
    assert told.summary.endswith("ended after it on 2 other nodes")


@pytest.mark.parametrize(
    ("code", "at", "how"),
    [(48, 45, {"signal": 9}), (94, -20, {"exit_code": 1})],
    ids=["its own doing", "long before"],
)
def test_an_end_that_the_card_does_not_explain_is_a_verdict_of_its_own(
    code: int, at: float, how: dict[str, int]
) -> None:
    card, end = firing(of_the_job(xid(2, at, code), ended(2, DIED_AT, **how)))
    assert (card.fault, end.fault) == (Fault.ECC_ERROR, Fault.PROCESS_EXIT)


def test_whose_card_told_an_error_just_before_is_why_another_process_ends() -> None:
    fired, failed, *_ = of_the_job(xid(2, 45), ended(1, DIED_AT))
    assert (failed.id, failed.node, failed.phase) == (fired.id, node_name(2), Phase.FAILED)


@pytest.mark.parametrize(
    ("at", "how"),
    [(45, {"signal": 11}), (-20, {"exit_code": 1})],
    ids=["its own doing", "long before"],
)
def test_another_process_that_ends_for_no_such_error_is_named(
    at: float, how: dict[str, int]
) -> None:
    verdicts = of_the_job(xid(2, at), ended(1, DIED_AT, **how))
    assert named(verdicts) == [node_name(2), node_name(1)]


SEEN_AT = START + 56
ACCUSED = Finding(
    node_name(3), None, 0, Fault.UNKNOWN, Phase.SYMPTOM, Tier.PATTERN, 0.97,
    moment(START), moment(START + 9), "its network card drops packets", (), (),
)  # fmt: skip


def of_freed_memory(gait: Gait, *findings: Finding) -> tuple[list[Verdict], list[Verdict]]:
    """What is said of node 1, whose memory is seen free: just before clocks can tell, and then."""
    around = Around(
        Docket(JOB), GoingOn(Liveness(5), Motion(gait=gait)), JobSight(head=SEEN_AT), 10.0, 5, 1,
        frozenset(),
    )  # fmt: skip
    for finding in findings:
        around.docket.report(finding)
    seen = replace(event(EventKind.PROCESS_EXIT, 50, node_name(1), seen_in="memory"), gpu=0)
    downfall = Downfall()
    said = [*downfall.hear(Ending(node_name(1), 0, seen), around)]
    said += [one for second in range(5) for one in downfall.tick(SEEN_AT + second, around)]
    return said, [*downfall.tick(SEEN_AT + 5, around)]


def test_an_end_that_only_rows_show_is_told_when_clocks_can_tell_it_from_those_of_all() -> None:
    before, (end,) = of_freed_memory(Gait.SPINS, ACCUSED)
    assert before == []
    assert (end.fault, end.node) == (Fault.PROCESS_EXIT, node_name(1))


def test_when_all_have_left_by_then_whoever_was_accused_has_failed() -> None:
    before, (failed,) = of_freed_memory(Gait.GONE, ACCUSED)
    assert before == []
    assert (failed.node, failed.phase) == (node_name(3), Phase.FAILED)


def test_when_all_have_left_and_nobody_was_accused_the_job_is_over() -> None:
    assert of_freed_memory(Gait.GONE) == ([], [])
