"""Whom it is laid to that a job stands, and what becomes of that when it goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.synthetic import JOB, START, node_name
from diagnosis.test_motion import COMPUTES, moved
from paramedic.diagnosis.blame import (
    causes,
    end_with_going_on,
    lay_standstill,
    suspect,
    take_back,
)
from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding, Trouble, moment
from paramedic.diagnosis.going_on import GoingOn
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.motion import Motion

STOOD_AT = START + 300
STANDS = GoingOn(Liveness(5), Motion())


def goes_on() -> GoingOn:
    """A job whose cards have worked since, for minutes."""
    return GoingOn(Liveness(5), moved([COMPUTES] * 400))


def accused(
    node: int,
    fault: Fault = Fault.ECC_ERROR,
    tier: Tier = Tier.PATTERN,
    confidence: float = 0.98,
    at: int = 100,
    severity: Severity | None = None,
) -> Finding:
    has_failed = fault is Fault.PROCESS_EXIT
    return Finding(
        node=node_name(node),
        rank=None,
        generation=0,
        fault=fault,
        phase=Phase.FAILED if has_failed else Phase.SYMPTOM,
        tier=tier,
        confidence=confidence,
        onset=moment(START + at),
        detected_at=moment(START + at + 9),
        summary="it is odd",
        candidates=(),
        evidence=(),
        severity=severity,
        action=Recommendation(RecommendedAction.NOTIFY, "it is odd"),
    )


def docket_of(*findings: Finding) -> Docket:
    docket = Docket(JOB)
    for one in findings:
        docket.report(one)
    return docket


def laid(docket: Docket, after: int = 60, going_on: GoingOn = STANDS) -> list[Verdict]:
    at = moment(STOOD_AT + after)
    return [*lay_standstill(docket, going_on, STOOD_AT, at, "no work for a minute")]


def test_who_is_accused_most_has_failed_and_the_job_cannot_go_on() -> None:
    docket = docket_of(accused(1, confidence=0.96), accused(2))
    (failed,) = laid(docket)
    assert (failed.node, failed.status) == (node_name(2), Status.UPDATED)
    assert (failed.phase, failed.severity) == (Phase.FAILED, Severity.P0)
    assert failed.onset == moment(START + 100)
    assert (failed.failed_at, failed.detected_at) == (moment(STOOD_AT), moment(STOOD_AT + 60))
    assert failed.summary == "it is odd; the job has come to stand: no work for a minute"
    assert Verdict.from_json(failed.to_json()) == failed
    assert laid(docket, after=90) == []


def test_nobody_is_accused_for_a_standstill_who_was_not_before() -> None:
    assert laid(docket_of()) == []


@pytest.mark.parametrize(
    ("begun", "is_suspected"), [(100, False), (250, True)], ids=["long before", "about then"]
)
def test_what_was_told_once_and_hurt_nobody_is_a_reason_only_about_then(
    begun: int, is_suspected: bool
) -> None:
    trend = accused(1, tier=Tier.KNOWN_ERROR, at=begun, severity=Severity.P2)
    assert (suspect(docket_of(trend), STOOD_AT) is not None) is is_suspected
    drifts = replace(accused(1, at=100), severity=Severity.P2)
    assert suspect(docket_of(drifts), STOOD_AT) is not None, "it would be resolved by now"


def test_who_has_failed_already_is_the_cause_whoever_else_is_accused() -> None:
    hung = replace(accused(1, Fault.HANG, Tier.HEARTBEAT, 0.9), phase=Phase.FAILED)
    docket = docket_of(hung, accused(2))
    (graver,) = laid(docket)
    assert (graver.node, graver.severity, graver.failed_at) == (node_name(1), Severity.P0, None)
    assert docket.open[accused(2).subject].phase is Phase.SYMPTOM


def test_an_end_is_given_the_time_that_a_recovery_takes() -> None:
    docket = docket_of(accused(1, Fault.PROCESS_EXIT, Tier.KNOWN_ERROR, at=299))
    assert laid(docket, after=119) == []
    (graver,) = laid(docket, after=120)
    assert graver.severity is Severity.P0


def test_the_verdict_about_the_job_ends_when_somebody_is_the_cause() -> None:
    lost = replace(accused(0, Fault.TELEMETRY_LOST, severity=Severity.P2), node=None)
    docket = docket_of(lost, accused(1))
    failed, ended = laid(docket)
    assert (failed.node, ended.node, ended.status) == (node_name(1), None, Status.RESOLVED)
    assert ended.summary.startswith("it is known why the job stands")


def test_a_job_that_goes_on_takes_it_back_and_the_symptom_stays() -> None:
    docket = docket_of(accused(1))
    laid(docket, after=-200)
    assert [*take_back(docket, STANDS, moment(STOOD_AT))] == []
    (back,) = take_back(docket, goes_on(), moment(STOOD_AT))
    assert (back.status, back.phase, back.failed_at) == (Status.UPDATED, Phase.SYMPTOM, None)
    assert back.summary == "it is odd; the job has stood still, and goes on"
    assert [*take_back(docket, goes_on(), moment(STOOD_AT))] == []


def test_however_often_a_job_stands_and_goes_on_it_is_told_once() -> None:
    docket = docket_of(accused(1))
    for _ in range(3):
        (failed,) = laid(docket, after=-200)
        (back,) = take_back(docket, goes_on(), moment(STOOD_AT))
    assert failed.summary == "it is odd; the job has come to stand: no work for a minute"
    assert back.summary == "it is odd; the job has stood still, and goes on"


def test_a_slow_rank_of_a_job_that_goes_on_is_slow_again() -> None:
    slow = replace(accused(1, Fault.STRAGGLER), rank=3, phase=Phase.DEGRADED)
    docket = docket_of(slow)
    laid(docket, after=-200)
    (back,) = take_back(docket, goes_on(), moment(STOOD_AT))
    assert back.phase is Phase.DEGRADED


def test_a_failure_that_the_job_has_gone_on_after_is_no_cause_of_later_things() -> None:
    ended = accused(1, Fault.PROCESS_EXIT, Tier.KNOWN_ERROR)
    docket = docket_of(ended)
    assert [verdict.node for _, verdict in causes(docket, STANDS)] == [node_name(1)]
    assert causes(docket, goes_on()) == []
    (over,) = end_with_going_on(docket, goes_on(), (), moment(STOOD_AT))
    assert (over.status, docket.known(node_name(1), Trouble.GONE)) == (Status.RESOLVED, None)


def test_who_has_left_a_job_that_goes_on_has_left_with_its_failure() -> None:
    hung = replace(accused(1, Fault.HANG, Tier.HEARTBEAT), phase=Phase.FAILED)
    docket = docket_of(hung, accused(2))
    assert [*end_with_going_on(docket, goes_on(), (), moment(STOOD_AT))] == []
    left = (node_name(1), node_name(2))
    assert [*end_with_going_on(docket, STANDS, left, moment(STOOD_AT))] == []
    (over,) = end_with_going_on(docket, goes_on(), left, moment(STOOD_AT))
    assert over.node == node_name(1)


def test_what_a_driver_tells_later_does_not_undo_that_the_job_stands() -> None:
    told = accused(1, tier=Tier.KNOWN_ERROR, severity=Severity.P1)
    docket = docket_of(told)
    laid(docket)
    assert docket.revise(replace(told, severity=Severity.P2)) == ()
    (worse,) = docket.revise(replace(told, fault=Fault.NVLINK_ERROR, severity=Severity.P2))
    assert (worse.phase, worse.severity) == (Phase.FAILED, Severity.P0)
    assert worse.failed_at == moment(STOOD_AT)
