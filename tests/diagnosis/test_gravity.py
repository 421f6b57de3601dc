"""How grave a finding about a machine is: by who else is accused, and what the job still does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from diagnosis.application.training import Training
from diagnosis.playing import diagnose, firing, merged, tell
from diagnosis.synthetic import JOB, START, Scene, job_state, node_name, without_rows
from paramedic.diagnosis.admission import Admission
from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Severity,
    Tier,
    Verdict,
)
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding, moment
from paramedic.diagnosis.pace import Pace
from paramedic.ingest.contract import Entity, JobName

P0, P1, P2 = Severity
_TEST = Recommendation(RecommendedAction.RUN_TEST, "nobody knows better")


def accused(
    node: int, at: int = 0, fault: Fault = Fault.ECC_ERROR, severity: Severity | None = None
) -> Finding:
    tier = Tier.PATTERN if severity is None else Tier.KNOWN_ERROR
    return Finding(
        node_name(node), None, 0, fault, Phase.SYMPTOM, tier, 0.99, moment(START + at),
        moment(START + at), "it departs", (), (), severity, action=_TEST,
    )  # fmt: skip


def told(*findings: Finding, left: float = math.nan) -> list[Severity]:
    """How grave each verdict is that a job with so much of its throughput gets."""
    docket = Docket(JobName("llama"), Admission(throughput_left=lambda _second: left))
    return [verdict.severity for one in findings for verdict in docket.report(one)]


@pytest.mark.parametrize(("others", "severity"), [((), P1), ((2,), P0)])
def test_what_was_a_trend_is_one_no_longer_when_it_has_failed(
    others: tuple[int, ...], severity: Severity
) -> None:
    docket = Docket(JobName("llama"))
    trend = replace(accused(1), is_trend=True)
    (fired,) = docket.report(trend)
    for node in others:
        docket.report(accused(node))
    known = docket.fail(trend.subject, moment(START + 60), moment(START + 59), "it has ended")
    assert (fired.severity, known.severity) == (P2, severity)
    assert known.failed_at == moment(START + 59)
    again = docket.amend(trend.subject, moment(START + 70), "with victims")
    assert (again.severity, again.phase) == (severity, Phase.FAILED)


def test_the_second_of_two_machines_at_once_is_a_p0() -> None:
    assert told(accused(1), accused(2, 30)) == [P1, P0]


def test_a_machine_that_was_accused_long_before_is_another_trouble() -> None:
    assert told(accused(1), accused(2, 700)) == [P1, P1]


def test_a_trend_of_another_machine_accuses_nobody() -> None:
    assert told(accused(1, severity=P2), accused(2), accused(3, severity=P1)) == [P2, P1, P1]


@pytest.mark.parametrize(
    ("left", "fault", "severity"),
    [
        (0.4, Fault.STRAGGLER, P0),
        (0.0, Fault.ECC_ERROR, P0),
        (0.7, Fault.ECC_ERROR, P1),
        (0.0, Fault.PROCESS_EXIT, P1),
        (0.99, Fault.UNKNOWN, P2),
        (math.nan, Fault.UNKNOWN, P1),
    ],
)
def test_what_is_left_of_the_throughput_decides(
    left: float, fault: Fault, severity: Severity
) -> None:
    assert told(accused(1, fault=fault), left=left) == [severity]


def test_what_a_finding_knows_of_the_job_goes_before_what_its_steps_say() -> None:
    assert told(replace(accused(1), throughput_ratio=0.0), left=1.0) == [P0]


def test_a_known_error_keeps_the_severity_of_the_list() -> None:
    assert told(accused(1), accused(2, severity=P1), left=0.1) == [P0, P1]


def test_a_trouble_that_gets_worse_is_never_less_grave() -> None:
    straggler = accused(1, fault=Fault.STRAGGLER)
    docket = Docket(JobName("llama"), Admission(throughput_left=lambda at: at - START))
    severities = [
        verdict.severity
        for one in (straggler, accused(1, 1, Fault.HANG))
        for verdict in docket.report(one)
    ]
    assert severities == [P0, P0]


def speed_at(training: Training, second: int) -> float:
    return training.watch.flow.throughput_left(START + second)


def test_the_speed_of_a_job_is_measured_by_its_own_usual() -> None:
    training = Training()
    training.go_on(range(100), lambda step: _slow(4) if step >= 95 else {})
    assert speed_at(training, 100) == pytest.approx(0.25, rel=0.1)
    assert math.isnan(speed_at(training, 200))  # nothing has come since


def test_the_speed_of_a_job_that_has_only_begun_is_unknown() -> None:
    training = Training()
    training.go_on(range(15), lambda _step: {})
    assert math.isnan(speed_at(training, 15))


def _slow(by: float) -> dict[str, float]:
    return {"step_seconds": 0.5 * by, "samples_per_second": 256 / by}


def test_a_job_stands_when_no_step_ends_for_longer_than_is_usual() -> None:
    pace = Pace(newest_step_second=100, advances=50, longest_pause_seconds=4)
    assert [pace.stands(at) for at in (103, 106, 107)] == [False, False, True]
    assert not Pace(newest_step_second=100, advances=3).stands(200)


def of(verdicts: list[Verdict]) -> list[tuple[Fault, Severity]]:
    return [(one.fault, one.severity) for one in firing(verdicts)]


def test_a_rank_that_hangs_stops_the_job() -> None:
    frozen = Scene(seconds=65, frozen={2: 40}).batches()
    assert of(diagnose(merged(frozen))) == [(Fault.HANG, P0)]


def test_who_resumes_knows_how_fast_the_job_was() -> None:
    facts = merged(Scene(seconds=65, frozen={2: 40}).batches())
    before = DetectorConfig().build(JOB)
    tell(before, facts[:41])
    resumed = DetectorConfig().resume(before.snapshot())
    assert of(tell(resumed, facts[41:])) == [(Fault.HANG, P0)]


@pytest.mark.long
def test_lost_telemetry_is_a_trend_by_heart_beats_too() -> None:
    batches = Scene(seconds=230).batches()
    for entity in Entity:
        batches = without_rows(batches, entity, node_name(3), range(40, 230))
    assert of(diagnose(merged(batches, [job_state("training", 0)]))) == [(Fault.TELEMETRY_LOST, P2)]
