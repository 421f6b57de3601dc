"""Application health in the whole detector, from batches and events to verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from diagnosis.playing import Fact, diagnose, firing, merged, tell
from diagnosis.synthetic import JOB, START, Scene, event, job_state, with_columns
from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Status, Tier, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.finding import Subject, Trouble, subject_of
from paramedic.ingest.contract import Entity, EventKind, TelemetryBatch


def broken_from(second: int, seconds: int = 30, until: int = 10**6) -> list[TelemetryBatch]:
    """A job whose loss is no number."""
    return [
        with_columns([batch], Entity.RANK, {"loss": math.inf})[0]
        if second <= batch.second - START < until
        else batch
        for batch in Scene(seconds=seconds).batches()
    ]


def test_a_loss_that_is_no_number_is_told_with_its_closed_slot() -> None:
    (told,) = diagnose(merged(broken_from(20)))
    assert (told.fault, told.scope, told.tier) == (
        Fault.LOSS_DIVERGENCE,
        Scope.JOB,
        Tier.APPLICATION,
    )
    assert told.detected_at.timestamp() == START + 20
    assert Verdict.from_json(told.to_json()) == told


def test_it_is_over_when_the_job_trains_again_from_before() -> None:
    again = Scene(seconds=20, generation=1, first_second=START + 40).batches()
    events = [job_state("training", 0), job_state("recovering", 31), job_state("training", 42, 1)]
    fired, resolved = diagnose(merged([*broken_from(20), *again], events))
    assert (fired.id, resolved.status) == (resolved.id, Status.RESOLVED)


@pytest.mark.long
def test_a_detector_that_goes_on_from_a_snapshot_says_the_same() -> None:
    facts: Sequence[Fact] = merged(broken_from(20, until=24))
    config = DetectorConfig()
    whole = tell(config.build(JOB), facts)
    for cut in (22, 26):
        first = config.build(JOB)
        before = tell(first, facts[:cut])
        assert before + tell(config.resume(first.snapshot()), facts[cut:]) == whole


def test_who_takes_a_job_over_does_not_tell_it_twice_and_ends_it() -> None:
    facts = merged(broken_from(10, until=20))
    told, over = diagnose(facts)
    successor = DetectorConfig().build(JOB)
    successor.adopt([told])
    (resolved,) = tell(successor, facts)
    assert (resolved.id, resolved.detected_at) == (told.id, over.detected_at)


def test_a_checkpoint_that_failed_is_the_jobs_verdict_and_ends_with_the_job() -> None:
    events = [
        event(EventKind.CHECKPOINT, 10.5, result="failed", reason="disk full"),
        job_state("finished", 20),
    ]
    fired, resolved = diagnose(merged(Scene(seconds=25).batches(), events))
    assert (fired.fault, fired.severity) == (Fault.CHECKPOINT_FAILED, Severity.P1)
    assert "disk full" in fired.summary
    assert resolved.status is Status.RESOLVED


@pytest.mark.long
def test_a_job_that_is_slow_is_told_beside_one_that_stands() -> None:
    """Half of the throughput goes first, then nobody makes a step."""
    batches = Scene(seconds=420, slow=dict.fromkeys(range(4), 4.0), slow_from=80).batches()
    stuck = [
        with_columns([one], Entity.RANK, {"step": 600.0})[0] if one.second > START + 180 else one
        for one in batches
    ]
    idle = with_columns(stuck, Entity.NODE, {"cpu_utilization_ratio": 0.0})
    told = firing(diagnose(merged(idle, [job_state("training", 0)])))
    assert [(one.fault, one.phase) for one in told] == [
        (Fault.THROUGHPUT_DROP, Phase.DEGRADED),
        (Fault.THROUGHPUT_DROP, Phase.FAILED),
    ]


def test_slow_and_standing_are_two_subjects() -> None:
    slow, stands = (
        subject_of(None, Fault.THROUGHPUT_DROP, None, Tier.APPLICATION, phase)
        for phase in (Phase.DEGRADED, Phase.FAILED)
    )
    assert (slow, stands) == (Subject(None, Trouble.PACE), Subject(None, Trouble.JOB))
