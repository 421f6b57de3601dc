"""Events and verdicts in one line each, whatever they hold."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.wiring.narration import Theme, is_training, narrate
from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.ingest.contract import Event, EventKind, JobName, JobState, NodeName

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DETAILS = st.dictionaries(
    st.sampled_from(["state", "change", "by", "signal", "exit_code", "expected", "result", "step"]),
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=10)),
)


def verdict(scope: Scope, node: str | None, members: tuple[str, ...] = ()) -> Verdict:
    return Verdict(
        id="7Q0JT2M9ZB4N6W8XKCVFR1DH3A",
        job=JobName("train"),
        generation=0,
        scope=scope,
        node=None if node is None else NodeName(node),
        gpu=None,
        members=tuple(NodeName(member) for member in members),
        status=Status.FIRING,
        phase=Phase.SYMPTOM,
        fault=Fault.HANG,
        tier=Tier.HEARTBEAT,
        severity=Severity.P1,
        confidence=0.971,
        onset=NOON,
        detected_at=NOON,
        summary="it is silent",
        candidates=(),
        evidence=(),
        action=Recommendation(RecommendedAction.NOTIFY, "look"),
    )


def test_a_verdict_names_status_severity_fault_and_whom() -> None:
    line = narrate(verdict(Scope.NODE, "node-0002"))
    assert line is not None
    assert line.theme is Theme.VERDICT
    assert line.text == ("firing P1 hang on node-0002 (heartbeat, confidence 0.97): it is silent")


def test_a_verdict_about_a_group_or_the_job_says_so() -> None:
    group = narrate(verdict(Scope.GROUP, None, ("node-0001", "node-0002")))
    job = narrate(verdict(Scope.JOB, None))
    assert group is not None
    assert job is not None
    assert "on node-0001, node-0002 (" in group.text
    assert "on the job (" in job.text


@given(
    kind=st.sampled_from(list(EventKind)),
    details=DETAILS,
    rank=st.one_of(st.none(), st.integers(0, 9)),
)
def test_every_event_has_a_line_or_none_and_never_an_error(
    kind: EventKind, details: dict[str, str | int | bool | None], rank: int | None
) -> None:
    event = Event(NOON, kind, JobName("train"), NodeName("node-0000"), None, rank, 0, details)
    line = narrate(event)
    assert line is None or line.text


@given(st.sampled_from(list(JobState)))
def test_only_the_state_training_is_training(state: JobState) -> None:
    event = Event(NOON, EventKind.JOB_STATE, JobName("train"), details={"state": state.value})
    assert is_training(event) is (state is JobState.TRAINING)
