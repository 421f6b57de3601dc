"""Who is named by dumps in a job: when it stands, and not before."""

from __future__ import annotations

from dataclasses import replace

from diagnosis.playing import diagnose, firing, merged
from diagnosis.synthetic import START, Scene, event, exit_of, node_name, with_columns
from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Severity, Status, Tier
from paramedic.ingest.contract import Entity, Event, EventKind, TelemetryBatch

STOPPED_AT = 30


def standing(seconds: int = 60, until: int = 10**9) -> list[TelemetryBatch]:
    """Everybody beats and works, and from a second on nobody makes a step."""
    step = {"step": float(int(STOPPED_AT / 0.3))}
    return [
        with_columns([one], Entity.RANK, step)[0]
        if STOPPED_AT < one.second - START <= until
        else one
        for one in Scene(seconds=seconds).batches()
    ]


def dumped(rank: int, at: float = STOPPED_AT + 0.5) -> Event:
    message = f"rank {rank} has not begun collective 50 of TENSOR, in which 3 ranks wait"
    told = event(EventKind.FLIGHT_RECORDER, at, waiting=3, message=message)
    return replace(told, rank=rank)


def test_whom_the_dumps_name_is_accused_when_the_job_has_stood_for_the_time_out() -> None:
    (verdict,) = diagnose(merged(standing(), [dumped(2)]))
    assert (verdict.node, verdict.rank, verdict.fault) == (node_name(2), 2, Fault.HANG)
    assert (verdict.tier, verdict.phase, verdict.severity) == (
        Tier.APPLICATION, Phase.FAILED, Severity.P0,
    )  # fmt: skip
    assert 10 <= verdict.detected_at.timestamp() - START - STOPPED_AT <= 14
    assert [(one.metric, one.value) for one in verdict.evidence] == [("flight_recorder_rank", 2.0)]
    assert "rank 2 has not begun collective 50 of TENSOR" in verdict.summary
    assert verdict.action.recommended is RecommendedAction.REPLACE_RANK


def test_dumps_that_come_late_are_judged_at_once() -> None:
    (verdict,) = diagnose(merged(standing(70), [dumped(2, 60.5)]))
    assert (verdict.node, verdict.detected_at.timestamp()) == (node_name(2), START + 60.5)


def test_several_that_hang_are_named_each() -> None:
    verdicts = diagnose(merged(standing(), [dumped(1), dumped(2)]))
    assert [(one.node, one.status) for one in verdicts] == [
        (node_name(1), Status.FIRING), (node_name(2), Status.FIRING),
    ]  # fmt: skip
    assert {one.node for one in verdicts[0].candidates} == {node_name(1), node_name(2)}


def test_a_job_that_goes_on_refutes_its_dumps() -> None:
    assert diagnose(merged(Scene(seconds=60).batches(), [dumped(2)])) == []
    assert diagnose(merged(standing(until=36), [dumped(2)])) == []


def test_a_hang_that_is_known_gets_the_dumps_as_evidence() -> None:
    frozen = Scene(seconds=80, frozen={2: 40}).batches()
    fired, supported = diagnose(merged(frozen, [dumped(2, 60.5)]))
    assert (fired.id, supported.status) == (supported.id, Status.UPDATED)
    assert fired.tier is not Tier.APPLICATION
    assert supported.evidence == (*fired.evidence, supported.evidence[-1])
    assert (supported.evidence[-1].metric, supported.evidence[-1].value) == (
        "flight_recorder_rank",
        2.0,
    )
    assert len(diagnose(merged(frozen, [dumped(2, 60.5), dumped(2, 65.5)]))) == 2


def test_it_is_over_when_the_job_makes_steps_again() -> None:
    fired, resolved = diagnose(merged(standing(until=52), [dumped(2)]))
    assert (fired.id, resolved.status) == (resolved.id, Status.RESOLVED)
    assert 52 <= resolved.detected_at.timestamp() - START <= 54
    assert resolved.summary.startswith("the job goes on")


def test_who_has_ended_is_not_named_by_dumps_too() -> None:
    events = [exit_of(2, STOPPED_AT), dumped(2)]
    verdicts = firing(diagnose(merged(standing(), events)))
    assert [one.fault for one in verdicts] == [Fault.PROCESS_EXIT]


def test_a_rank_of_which_nothing_was_ever_heard_is_nobody() -> None:
    assert firing(diagnose(merged(standing(), [dumped(77)]))) == []
