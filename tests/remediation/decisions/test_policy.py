"""What is done about which verdict, and the bars that hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Scope,
    Status,
    Verdict,
)
from paramedic.ingest.contract import NodeName
from paramedic.remediation.configuration import PolicySettings
from paramedic.remediation.contract import Action, ActionState
from paramedic.remediation.launchers.port import Capabilities
from paramedic.remediation.policy import EVERY_NODE, Situation, decide
from paramedic.remediation.progress import Progress

Build = Callable[..., Verdict]
At = Callable[[float], datetime]
ABLE = Capabilities(
    can_replace_rank=True,
    can_resize=False,
    has_spares=True,
    can_cordon=False,
    supports_in_process=False,
)
REPLACE = RecommendedAction.REPLACE_RANK
NOTIFY = RecommendedAction.NOTIFY


class Judge:
    """Decides with a history, one second after the other."""

    def __init__(self, at: At, settings: PolicySettings, capabilities: Capabilities) -> None:
        self._at = at
        self._settings = settings
        self._capabilities = capabilities
        self.history: list[Action] = []

    def ask(self, verdict: Verdict, seconds: float = 30.0) -> Action | None:
        situation = Situation(
            incident="inc-V1",
            launcher="in_memory",
            capabilities=self._capabilities,
            history=tuple(self.history),
            now=self._at(seconds),
        )
        action = decide(verdict, situation, self._settings)
        if action is not None:
            self.history.append(action)
        return action

    def finish(self, state: ActionState, attempts: int = 1) -> None:
        last = self.history[-1]
        progress = replace(Progress.of(last), attempts=attempts)
        self.history[-1] = replace(last, state=state, details=progress.to_details())


@pytest.fixture
def judge(at: At) -> Judge:
    return Judge(at, PolicySettings(), ABLE)


def planned(action: Action | None) -> Action:
    assert action is not None
    return action


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.STRAGGLER])
@pytest.mark.parametrize("phase", [Phase.FAILED, Phase.DEGRADED])
def test_a_certain_stuck_or_slow_rank_is_replaced(
    judge: Judge, verdict_of: Build, fault: Fault, phase: Phase
) -> None:
    action = planned(judge.ask(verdict_of(fault=fault, phase=phase)))
    assert (action.kind, action.state, action.target) == (
        REPLACE,
        ActionState.PLANNED,
        NodeName("node-0001"),
    )
    assert action.idempotency_key == "V1:replace_rank"
    assert not action.dry_run


@pytest.mark.parametrize("fault", [Fault.ECC_ERROR, Fault.STORAGE_ERROR])
def test_a_slow_rank_is_replaced_whatever_its_machine_says_of_the_cause(
    judge: Judge, verdict_of: Build, fault: Fault
) -> None:
    of_rank = verdict_of(fault=fault, phase=Phase.DEGRADED, rank=3)
    assert planned(judge.ask(of_rank)).kind is REPLACE
    of_machine = verdict_of("V2", fault=fault, phase=Phase.DEGRADED, rank=None)
    assert planned(judge.ask(of_machine)).kind is NOTIFY
    early = verdict_of("V3", fault=fault, phase=Phase.SYMPTOM, rank=3)
    assert planned(judge.ask(early)).kind is NOTIFY


def test_a_slow_rank_that_is_not_to_be_replaced_is_told_to_people(
    judge: Judge, verdict_of: Build
) -> None:
    advice = Recommendation(RecommendedAction.RUN_TEST, "its batches come late")
    slow = verdict_of(fault=Fault.STRAGGLER, phase=Phase.DEGRADED, action=advice)
    action = planned(judge.ask(slow))
    assert action.kind is NOTIFY
    assert Progress.of(action).reason == "its batches come late"


def test_an_exit_is_recorded_as_already_handled(judge: Judge, verdict_of: Build) -> None:
    action = planned(judge.ask(verdict_of(fault=Fault.PROCESS_EXIT)))
    assert action.kind is RecommendedAction.RECOVER_IN_PROCESS
    assert action.state is ActionState.SKIPPED
    assert action.result == "the supervisor acted on the exit of its own child before any verdict"


@pytest.mark.parametrize(
    ("given_fields", "why"),
    [
        ({"confidence": 0.89}, "confidence"),
        ({"phase": Phase.SYMPTOM}, "symptom"),
        ({"fault": Fault.ECC_ERROR}, "people"),
        ({"scope": Scope.JOB, "node": None}, "people"),
    ],
)
def test_everything_else_is_told_to_people(
    judge: Judge, verdict_of: Build, given_fields: dict[str, object], why: str
) -> None:
    action = planned(judge.ask(verdict_of(**given_fields)))
    assert (action.kind, action.state) == (NOTIFY, ActionState.SKIPPED)
    assert why in action.details["reason"]


def test_an_action_about_no_machine_is_aimed_at_every_node(judge: Judge, verdict_of: Build) -> None:
    assert planned(judge.ask(verdict_of(scope=Scope.JOB, node=None))).target == EVERY_NODE


def test_a_launcher_that_cannot_replace_is_not_asked_to(at: At, verdict_of: Build) -> None:
    judge = Judge(at, PolicySettings(), replace(ABLE, can_replace_rank=False))
    assert planned(judge.ask(verdict_of())).kind is NOTIFY


def test_nothing_is_done_about_what_is_over(judge: Judge, verdict_of: Build) -> None:
    assert judge.ask(verdict_of(status=Status.RESOLVED)) is None


def test_the_same_verdict_is_acted_on_once(judge: Judge, verdict_of: Build) -> None:
    judge.ask(verdict_of())
    judge.finish(ActionState.SUCCEEDED)
    assert judge.ask(verdict_of(status=Status.UPDATED)) is None


def test_growing_confidence_turns_a_note_into_a_replacement(
    judge: Judge, verdict_of: Build
) -> None:
    assert planned(judge.ask(verdict_of(confidence=0.5))).kind is NOTIFY
    assert planned(judge.ask(verdict_of(status=Status.UPDATED))).kind is REPLACE


def test_one_action_on_a_node_at_a_time_and_the_next_when_it_is_over(
    judge: Judge, verdict_of: Build
) -> None:
    judge.ask(verdict_of("V1"))
    second = verdict_of("V2", fault=Fault.STRAGGLER)
    assert judge.ask(second) is None
    judge.finish(ActionState.FAILED)
    assert planned(judge.ask(second)).kind is REPLACE


def test_the_budget_of_an_hour_is_kept_and_comes_back(judge: Judge, verdict_of: Build) -> None:
    def ask(number: int, seconds: float) -> Action:
        node = NodeName(f"node-{number:04d}")
        return planned(judge.ask(verdict_of(f"V{number}", node=node), seconds))

    for number in range(3):
        assert ask(number, number).state is ActionState.PLANNED
        judge.finish(ActionState.SUCCEEDED)
    fourth = ask(3, 3599)
    assert fourth.state is ActionState.FAILED
    assert "budget of 3" in str(fourth.result)
    assert ask(4, 3600).state is ActionState.PLANNED


def test_what_was_never_tried_costs_no_budget(at: At, verdict_of: Build) -> None:
    judge = Judge(at, PolicySettings(replacements_per_hour=1), ABLE)
    judge.ask(verdict_of("V1"))
    judge.finish(ActionState.SKIPPED, attempts=0)
    second = verdict_of("V2", node=NodeName("node-0002"))
    assert planned(judge.ask(second)).state is ActionState.PLANNED


def test_a_dry_run_is_marked_in_the_action(at: At, verdict_of: Build) -> None:
    judge = Judge(at, PolicySettings(dry_run=True, replacements_per_hour=0), ABLE)
    action = planned(judge.ask(verdict_of()))
    assert action.dry_run
    assert action.state is ActionState.PLANNED


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["V1", "V2", "V3", "V4", "V5"]),
            st.sampled_from(["finish", "fail", "leave"]),
            st.integers(0, 7200),
        ),
        max_size=25,
    )
)
def test_no_sequence_of_verdicts_gets_past_the_bars(
    verdict_of: Build, at: At, asked: Sequence[tuple[str, str, int]]
) -> None:
    judge = Judge(at, PolicySettings(replacements_per_hour=2), ABLE)
    for identity, then, seconds in sorted(asked, key=lambda entry: entry[2]):
        action = judge.ask(verdict_of(identity, node=NodeName(f"node-{identity}")), seconds)
        if action is not None and action.state is ActionState.PLANNED and then != "leave":
            judge.finish(ActionState.SUCCEEDED if then == "finish" else ActionState.FAILED)
    keys = [action.idempotency_key for action in judge.history]
    assert len(keys) == len(set(keys))
    tried = [
        Progress.of(action).planned_at
        for action in judge.history
        if action.state is ActionState.PLANNED or Progress.of(action).attempts
    ]
    for moment in tried:
        within = [other for other in tried if 0 <= (other - moment).total_seconds() < 3600]
        assert len(within) <= 2
