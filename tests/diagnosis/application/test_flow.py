"""Waiting for data, and throughput: long enough, against the job's own usual, and no machine's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.application.training import Training
from diagnosis.synthetic import START, event, job_state, node_name
from paramedic.diagnosis.contract import Fault, Phase, Severity, Status, Tier
from paramedic.diagnosis.finding import Finding, moment
from paramedic.ingest.contract import EventKind

TROUBLE_AT = 100


def slower(by: float, until: int = 10**9, steps: int = 250) -> Training:
    """A training whose steps take so many times as long."""
    training = Training()
    training.go_on(range(steps), lambda step: _slow(by) if TROUBLE_AT <= step < until else {})
    return training


def _slow(by: float) -> dict[str, float]:
    return {"step_seconds": 0.5 * by, "samples_per_second": 256 / by}


def starved(share: float, until: int = 10**9, steps: int = 400) -> Training:
    training = Training()
    training.go_on(
        range(steps),
        lambda step: (
            {"step_seconds": 1.0, "dataloader_seconds": share} if TROUBLE_AT <= step < until else {}
        ),
    )
    return training


def test_half_of_the_throughput_lost_is_a_p0_after_a_minute_and_over_when_it_is_back() -> None:
    fired, resolved = slower(2.5, until=200).said
    assert (fired.fault, fired.severity) == (Fault.THROUGHPUT_DROP, Severity.P0)
    assert (fired.tier, fired.phase) == (Tier.APPLICATION, Phase.DEGRADED)
    assert fired.onset.timestamp() == START + TROUBLE_AT
    assert 60 <= fired.detected_at.timestamp() - START - TROUBLE_AT <= 63
    assert "lost 60 % of its throughput" in fired.summary
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)


@pytest.mark.long
def test_a_smaller_loss_is_a_trend_after_minutes() -> None:
    told = slower(1.4, steps=720).only()
    assert told.severity is Severity.P2
    assert 600 <= told.detected_at.timestamp() - START - TROUBLE_AT <= 603


@pytest.mark.parametrize(("by", "until"), [(1.15, 10**9), (1.4, 10**9), (3.0, 150)])
def test_what_is_small_or_short_is_not_told(by: float, until: int) -> None:
    assert slower(by, until).said == []


def accusation(at: int) -> Finding:
    return Finding(
        node_name(1), 1, 0, Fault.STRAGGLER, Phase.DEGRADED, Tier.PATTERN, 0.99, moment(START + at),
        moment(START + at), "rank 1 is slow", (), (),
    )  # fmt: skip


@pytest.mark.parametrize(("named_at", "faults"), [(TROUBLE_AT + 5, 0), (TROUBLE_AT - 130, 1)])
def test_a_drop_that_a_machine_explains_is_the_machines(named_at: int, faults: int) -> None:
    training = Training()
    training.docket.report(accusation(named_at))
    training.go_on(range(300), lambda step: _slow(3) if step >= TROUBLE_AT else {})
    assert len(training.firing()) == faults


def test_steps_of_another_size_are_measured_by_their_samples() -> None:
    """The batch is doubled: steps take twice as long, and no sample is lost."""
    training = Training()
    training.go_on(range(300), lambda step: {"step_seconds": 1.0} if step > 100 else {})
    assert training.said == []


@pytest.mark.long
def test_after_a_resize_another_speed_is_the_usual_one() -> None:
    training = Training()
    training.hear(job_state("training", 0))
    training.go_on(range(100))
    training.hear(job_state("resizing", 100))
    training.generation = 1
    training.hear(job_state("training", 102, generation=1))
    training.go_on(range(100, 300), lambda _: _slow(3))
    assert training.said == []


@pytest.mark.long
def test_most_ranks_that_wait_for_data_are_a_stall_that_gets_graver() -> None:
    fired, graver, resolved = starved(0.6, until=330).said
    assert (fired.fault, fired.severity) == (Fault.DATA_STALL, Severity.P2)
    assert 60 <= fired.detected_at.timestamp() - START - TROUBLE_AT <= 62
    assert (graver.status, graver.severity) == (Status.UPDATED, Severity.P1)
    assert graver.detected_at.timestamp() - START - TROUBLE_AT >= 180
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)


@pytest.mark.parametrize(("share", "until"), [(0.6, 140), (0.25, 10**9)])
def test_a_short_or_small_wait_for_data_is_not_told(share: float, until: int) -> None:
    assert starved(share, until, steps=300).said == []


def test_a_job_that_always_waits_for_data_is_as_usual() -> None:
    training = Training()
    training.go_on(range(300), lambda _: {"step_seconds": 1.0, "dataloader_seconds": 0.6})
    assert training.said == []


def test_one_rank_that_waits_for_data_is_no_trouble_of_the_job() -> None:
    training = Training()
    training.go_on(range(100))
    for step in range(100, 250):
        own = {"step": float(step), "step_seconds": 1.0, "dataloader_seconds": 0.02}
        training.tell({}, [own, own, own, {**own, "dataloader_seconds": 0.7}])
    assert training.said == []


def test_a_checkpoint_that_failed_is_told_once_and_over_with_the_next_that_is_saved() -> None:
    training = Training()
    failed = event(EventKind.CHECKPOINT, 50.25, node_name(2), result="failed", step=40)
    training.hear(failed)
    training.hear(replace(failed, node=node_name(3)))
    training.hear(event(EventKind.CHECKPOINT, 60, result="loaded"))
    training.hear(event(EventKind.CHECKPOINT, 110, result="saved"))
    fired, resolved = training.said
    assert (fired.fault, fired.severity, fired.node) == (
        Fault.CHECKPOINT_FAILED,
        Severity.P1,
        None,
    )
    assert "step 40" in fired.summary
    assert resolved.status is Status.RESOLVED


def test_two_verdicts_of_a_job_never_have_one_second() -> None:
    """Their ids are told apart by it."""
    training = Training()
    training.go_on(range(50))
    training.second = START + 60
    training.hear(event(EventKind.CHECKPOINT, 60, result="failed"))
    training.go_on([60, 61], lambda _: {"loss": float("inf")})
    first, second = training.said
    assert first.id != second.id
    assert second.detected_at.timestamp() == START + 61
