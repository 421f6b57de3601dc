"""Events and verdicts in one line each, whatever they hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.verdicts import NOON, a_verdict
from paramedic.api.wiring.narration import Theme, is_training, narrate
from paramedic.diagnosis.contract import Scope
from paramedic.ingest.contract import Event, EventKind, JobName, JobState, NodeName

DETAILS = st.dictionaries(
    st.sampled_from(["state", "change", "by", "signal", "exit_code", "expected", "result", "step"]),
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=10)),
)


def test_a_verdict_names_status_severity_fault_and_whom() -> None:
    line = narrate(a_verdict())
    assert line is not None
    assert line.theme is Theme.VERDICT
    assert line.text == ("firing P1 hang on node-0002 (heartbeat, confidence 0.97): it is silent")


def test_a_verdict_about_a_group_or_the_job_says_so() -> None:
    group = narrate(a_verdict(scope=Scope.GROUP, node=None, members=("node-0001", "node-0002")))
    job = narrate(a_verdict(scope=Scope.JOB, node=None))
    rack = narrate(a_verdict(scope=Scope.GROUP, node=None, members=tuple("abcdefgh")))
    assert rack is not None
    assert "on a, b, c and 5 more (" in rack.text
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


@pytest.mark.parametrize(("lost", "words"), [(0, "0 steps lost"), (1, "1 step lost")])
def test_steps_that_were_lost_are_counted_in_words(lost: int, words: str) -> None:
    details: dict[str, str | int | float | bool | None] = {"state": "training", "steps_lost": lost}
    line = narrate(
        Event(NOON, EventKind.JOB_STATE, JobName("train"), generation=1, details=details)
    )
    assert line is not None
    assert line.text.endswith(f", {words})")


@given(st.sampled_from(list(JobState)))
def test_only_the_state_training_is_training(state: JobState) -> None:
    event = Event(NOON, EventKind.JOB_STATE, JobName("train"), details={"state": state.value})
    assert is_training(event) is (state is JobState.TRAINING)
