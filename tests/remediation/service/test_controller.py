"""Actions are carried out exactly once, whatever fails or crashes in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.casework import Casework
from paramedic.remediation.configuration import (
    ControllerSettings,
    PolicySettings,
    RemediateConfig,
)
from paramedic.remediation.contract import (
    Action,
    ActionState,
    Incident,
    IncidentState,
    StoreUnavailableError,
)
from paramedic.remediation.controller import Controller, due
from paramedic.remediation.intake import VerdictMessage
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.launchers.port import (
    LauncherSetupError,
    LauncherUnavailableError,
    Outcome,
    Placement,
    Plan,
    ReplaceRank,
)
from paramedic.remediation.progress import Progress
from paramedic.remediation.store.store import Store

Build = Callable[..., Verdict]
Wrap = Callable[[Verdict], VerdictMessage]


@dataclass
class RoughLauncher:
    """A launcher in front of a good one, which breaks at the places that a test names."""

    inner: InMemoryLauncher
    break_before_apply: list[Exception] = field(default_factory=list)
    break_after_apply: list[Exception] = field(default_factory=list)
    moves: bool = True
    """False: it says that it did it and nothing moves."""

    def __post_init__(self) -> None:
        self.name = self.inner.name
        self.capabilities = self.inner.capabilities

    def plan(self, request: ReplaceRank) -> Plan:
        return self.inner.plan(request)

    def apply(self, request: ReplaceRank) -> Outcome:
        if self.break_before_apply:
            raise self.break_before_apply.pop(0)
        outcome = self.inner.apply(request)
        if self.break_after_apply:
            raise self.break_after_apply.pop(0)
        return outcome

    def observe(self, job: JobName) -> tuple[Placement, ...]:
        if self.moves:
            return self.inner.observe(job)
        return (Placement(NodeName("node-0001"), 1, 1001, 0),)


class CrashError(Exception):
    """The process ends here."""


class Ward:
    """Casework and controller over one store; `crash` begins anew with what is stored."""

    def __init__(self, store: Store, launcher: InMemoryLauncher, clock: Any, wrap: Wrap) -> None:
        self.store = store
        self.launcher = RoughLauncher(launcher)
        self.clock = clock
        self._wrap = wrap
        self.config = RemediateConfig()

    def take(self, *verdicts: Verdict) -> None:
        for verdict in verdicts:
            casework = Casework(self.store, self.launcher, self.config, self.clock)
            casework.take(self._wrap(verdict))

    def advance(self, times: int = 1) -> None:
        for _ in range(times):
            settings = ControllerSettings(first_retry_seconds=1.0)
            Controller(self.store, self.launcher, settings, self.clock).advance()

    def action(self, incident: str = "inc-V1") -> Action:
        with self.store.reading() as view:
            (action,) = view.actions.of_incident(incident)
        return action

    def incident(self, identity: str = "inc-V1") -> Incident:
        with self.store.reading() as view:
            found = view.incidents.get(identity)
        assert found is not None
        return found

    @property
    def applied(self) -> int:
        return len(self.launcher.inner.applied)


@pytest.fixture
def ward(
    store: Store, launcher: InMemoryLauncher, clock: Any, message_of: Wrap, verdict_of: Build
) -> Ward:
    return Ward(store, launcher, clock, message_of)


def test_a_hang_is_planned_called_and_seen_to_be_gone(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of())
    assert ward.action().state is ActionState.PLANNED
    ward.advance()
    called = ward.action()
    assert called.state is ActionState.ACTING
    assert called.calls == ("replace node-0001 of llama: node-0001 is silent",)
    ward.advance()
    assert ward.action().state is ActionState.SUCCEEDED
    assert ward.action().result == "node-0001 carries no rank any more"
    assert ward.incident().state is IncidentState.ACTING
    ward.take(verdict_of(status=Status.RESOLVED))
    assert ward.incident().state is IncidentState.RECOVERED


def test_the_request_says_which_generation_was_seen(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of())
    ward.advance()
    (request,) = ward.launcher.inner.applied
    assert (request.generation, request.idempotency_key) == (0, "V1:replace_rank")


def test_a_crash_after_the_call_repeats_it_and_nothing_is_done_twice(
    ward: Ward, verdict_of: Build
) -> None:
    ward.take(verdict_of())
    ward.launcher.break_after_apply = [CrashError()]
    with pytest.raises(CrashError):
        ward.advance()
    assert ward.action().state is ActionState.ACTING
    assert Progress.of(ward.action()).applied_at is None
    ward.advance(times=2)
    assert ward.applied == 1
    assert ward.action().state is ActionState.SUCCEEDED


def test_a_crash_before_the_call_forgets_nothing(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of())
    ward.launcher.break_before_apply = [CrashError()]
    with pytest.raises(CrashError):
        ward.advance()
    ward.advance(times=2)
    assert ward.applied == 1
    assert ward.action().state is ActionState.SUCCEEDED


def test_nothing_is_called_while_the_intent_cannot_be_written(
    ward: Ward, verdict_of: Build
) -> None:
    ward.take(verdict_of())
    with ward.store.writing(), pytest.raises(StoreUnavailableError):
        ward.advance()
    assert ward.applied == 0
    ward.advance(times=2)
    assert ward.action().state is ActionState.SUCCEEDED


@pytest.mark.long
def test_an_unavailable_launcher_is_tried_again_with_growing_waits(
    ward: Ward, verdict_of: Build
) -> None:
    ward.take(verdict_of())
    ward.launcher.break_before_apply = [LauncherUnavailableError("socket gone")] * 2
    ward.advance(times=5)
    assert len(ward.launcher.break_before_apply) == 1, "the wait is kept"
    ward.clock.go_on(1.0)
    ward.advance(times=5)
    assert ward.launcher.break_before_apply == []
    ward.clock.go_on(1.9)
    ward.advance()
    assert ward.applied == 0
    ward.clock.go_on(0.1)
    ward.advance(times=2)
    assert ward.action().state is ActionState.SUCCEEDED
    assert Progress.of(ward.action()).attempts == 3


def test_an_unavailable_launcher_fails_the_action_when_the_verdict_is_resolved(
    ward: Ward, verdict_of: Build
) -> None:
    ward.take(verdict_of())
    ward.launcher.break_before_apply = [LauncherUnavailableError("socket gone")]
    ward.advance()
    ward.take(verdict_of(status=Status.RESOLVED))
    ward.clock.go_on(5)
    ward.advance()
    assert ward.action().state is ActionState.FAILED
    assert "socket gone" in str(ward.action().result)
    assert ward.applied == 0


def test_a_plan_for_what_is_over_already_is_skipped(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of(), verdict_of(status=Status.RESOLVED))
    ward.advance()
    assert ward.action().state is ActionState.SKIPPED
    assert ward.applied == 0


def test_what_the_launcher_did_by_itself_is_skipped(ward: Ward, verdict_of: Build) -> None:
    by_itself = ReplaceRank(JobName("llama"), NodeName("node-0001"), 0, "its own", "exit")
    ward.launcher.inner.apply(by_itself)
    ward.take(verdict_of())
    ward.advance()
    assert ward.action().state is ActionState.SKIPPED
    assert "already done" in str(ward.action().result)


def test_a_refusal_fails_the_action_and_the_incident(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of(node=NodeName("node-0005")))
    ward.advance()
    assert ward.action().state is ActionState.FAILED
    assert ward.action().result == "refused: node-0005 carries no rank"
    assert ward.incident().state is IncidentState.FAILED


def test_a_launcher_that_can_never_do_it_fails_the_action(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of())
    ward.launcher.break_before_apply = [LauncherSetupError("no such launcher")]
    ward.advance()
    assert (ward.action().state, ward.action().result) == (ActionState.FAILED, "no such launcher")


def test_an_effect_that_does_not_come_is_a_failure_after_two_minutes(
    ward: Ward, verdict_of: Build
) -> None:
    ward.launcher.moves = False
    ward.take(verdict_of())
    ward.advance(times=3)
    ward.clock.go_on(119)
    ward.advance()
    assert ward.action().state is ActionState.ACTING
    ward.clock.go_on(1)
    ward.advance()
    assert ward.action().result == "after 120 s node-0001 still carries a rank"
    assert ward.action().state is ActionState.FAILED


def test_an_effect_that_cannot_be_looked_at_is_a_failure_after_two_minutes(
    ward: Ward, verdict_of: Build
) -> None:
    ward.take(verdict_of())
    ward.advance()
    ward.launcher.inner.is_reachable = False
    ward.advance()
    assert ward.action().state is ActionState.ACTING
    ward.clock.go_on(120)
    ward.advance()
    assert ward.action().state is ActionState.FAILED


@pytest.mark.long
def test_of_one_job_one_replacement_is_under_way_at_a_time(ward: Ward, verdict_of: Build) -> None:
    ward.launcher.moves = False
    ward.take(verdict_of("V1"), verdict_of("V2", node=NodeName("node-0002")))
    ward.advance(times=3)
    assert ward.action("inc-V2").state is ActionState.PLANNED
    ward.launcher.moves = True
    ward.advance(times=3)
    assert ward.action("inc-V1").state is ActionState.SUCCEEDED
    assert ward.action("inc-V2").state is ActionState.SUCCEEDED
    assert ward.applied == 2


def test_a_dry_run_shows_the_calls_and_makes_none(ward: Ward, verdict_of: Build) -> None:
    ward.config = RemediateConfig(policy=PolicySettings(dry_run=True))
    ward.take(verdict_of())
    ward.advance()
    action = ward.action()
    assert (action.state, action.dry_run, ward.applied) == (ActionState.SKIPPED, True, 0)
    assert action.calls == ("replace node-0001 of llama: node-0001 is silent",)


@pytest.mark.long
def test_a_verdict_that_had_to_wait_for_its_node_is_acted_on_in_the_review(
    ward: Ward, verdict_of: Build
) -> None:
    ward.launcher.moves = False
    ward.take(verdict_of("V1"), verdict_of("V2"))
    ward.advance()
    ward.clock.go_on(120)
    ward.advance()
    casework = Casework(ward.store, ward.launcher, ward.config, ward.clock)
    casework.review()
    casework.review()
    with ward.store.reading() as view:
        keys = [action.idempotency_key for action in view.actions.of_incident("inc-V1")]
    assert keys == ["V1:replace_rank", "V2:replace_rank"]


def test_what_is_under_way_goes_before_what_is_planned(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of("V1"), verdict_of("V2", node=NodeName("node-0002")))
    planned, other = ward.action("inc-V1"), ward.action("inc-V2")
    acting = replace(other, state=ActionState.ACTING)
    assert due([planned, acting], ward.clock()) == [acting]
    assert due([planned, other], ward.clock()) == [planned]


def test_of_a_job_that_is_over_no_rank_is_replaced(
    ward: Ward, verdict_of: Build, event_of: Callable[..., Event]
) -> None:
    ward.take(verdict_of())
    with ward.store.writing() as tx:
        tx.jobs.apply(event_of(25, EventKind.JOB_STATE, state="finished"))
    ward.advance()
    assert ward.action().state is ActionState.SKIPPED
    assert ward.action().result == "the job was over before"
    assert ward.applied == 0


def test_a_late_message_about_what_is_resolved_plans_nothing(ward: Ward, verdict_of: Build) -> None:
    ward.take(verdict_of(status=Status.RESOLVED), verdict_of())
    with ward.store.reading() as view:
        assert view.actions.of_incident("inc-V1") == ()
    assert ward.incident().state is IncidentState.RECOVERED
