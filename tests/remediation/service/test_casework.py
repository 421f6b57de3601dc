"""Verdicts as they really come: twice, late, changed, of several jobs, beyond the budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Status, Verdict
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.casework import Casework
from paramedic.remediation.configuration import PolicySettings, RemediateConfig
from paramedic.remediation.contract import ActionState, Incident, IncidentFilter, IncidentState
from paramedic.remediation.controller import Controller
from paramedic.remediation.intake import VerdictMessage
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.launchers.port import Outcome, Placement, Plan, ReplaceRank
from paramedic.remediation.store.store import Store, open_store
from paramedic.remediation.store.verdicts import Change

Build = Callable[..., Verdict]
At = Callable[[float], datetime]
LLAMA, GEMMA = JobName("llama"), JobName("gemma")
NODES = [NodeName(f"node-{number:04d}") for number in range(12)]


class Fleet:
    """Several jobs behind one launcher."""

    name = "fleet"
    capabilities = InMemoryLauncher.capabilities

    def __init__(self, *jobs: JobName) -> None:
        self.of_job = {job: InMemoryLauncher(job, ranks=6, spares=6) for job in jobs}

    def plan(self, request: ReplaceRank) -> Plan:
        return self.of_job[request.job].plan(request)

    def apply(self, request: ReplaceRank) -> Outcome:
        return self.of_job[request.job].apply(request)

    def observe(self, job: JobName) -> tuple[Placement, ...]:
        return self.of_job[job].observe(job)


@dataclass
class Desk:
    """Casework and controller of two jobs over one store."""

    store: Store
    fleet: Fleet
    clock: Any
    config: RemediateConfig

    def take(self, *verdicts: Verdict) -> list[Change]:
        casework = Casework(self.store, self.fleet, self.config, self.clock)
        return [casework.take(VerdictMessage(v, v.to_json())) for v in verdicts]

    def review(self) -> None:
        Casework(self.store, self.fleet, self.config, self.clock).review()

    def advance(self, times: int = 2) -> None:
        for _ in range(times):
            Controller(self.store, self.fleet, self.config.controller, self.clock).advance()

    def incident(self, identity: str) -> Incident:
        with self.store.reading() as view:
            found = view.incidents.get(identity)
        assert found is not None
        return found

    def incidents(self) -> list[str]:
        with self.store.reading() as view:
            return sorted(incident.id for incident in view.incidents.find(IncidentFilter()))

    def actions(self, job: JobName = LLAMA) -> list[tuple[str, ActionState]]:
        with self.store.reading() as view:
            return [(a.idempotency_key, a.state) for a in view.actions.of_job(job)]

    def applied(self, job: JobName = LLAMA) -> list[NodeName]:
        return [request.node for request in self.fleet.of_job[job].applied]


@pytest.fixture
def desk(store: Store, clock: Any) -> Desk:
    return Desk(store, Fleet(LLAMA, GEMMA), clock, RemediateConfig())


def test_a_second_update_replaces_the_first(desk: Desk, verdict_of: Build, at: At) -> None:
    desk.take(verdict_of())
    first = verdict_of(status=Status.UPDATED, detected_at=at(25), summary="silent for 5 s")
    second = verdict_of(
        status=Status.UPDATED, detected_at=at(30), summary="gone", severity=Severity.P0
    )
    assert desk.take(first, second) == [Change.CHANGED, Change.CHANGED]
    incident = desk.incident("inc-V1")
    assert (incident.summary, incident.severity) == ("gone", Severity.P0)


def test_an_update_of_the_same_moment_with_other_content_replaces_the_first(
    desk: Desk, verdict_of: Build
) -> None:
    desk.take(verdict_of(status=Status.UPDATED, summary="one"))
    desk.take(verdict_of(status=Status.UPDATED, summary="another"))
    assert desk.incident("inc-V1").summary == "another"


def test_an_update_that_comes_before_its_firing_is_acted_on_once(
    desk: Desk, verdict_of: Build, at: At
) -> None:
    update = verdict_of(status=Status.UPDATED, detected_at=at(25))
    assert desk.take(update, verdict_of(), update) == [Change.NEW, Change.STALE, Change.UNCHANGED]
    desk.advance()
    assert desk.actions() == [("V1:replace_rank", ActionState.SUCCEEDED)]


def test_a_verdict_that_grew_worse_is_acted_on_when_it_did(
    desk: Desk, verdict_of: Build, at: At
) -> None:
    desk.take(verdict_of(phase=Phase.SYMPTOM))
    desk.advance()
    assert desk.applied() == []
    desk.take(verdict_of(phase=Phase.FAILED, status=Status.UPDATED, detected_at=at(25)))
    desk.advance()
    assert desk.applied() == [NODES[1]]
    assert [key for key, _ in desk.actions()] == ["V1:notify", "V1:replace_rank"]


@pytest.mark.parametrize("status", list(Status))
def test_nothing_that_comes_after_the_end_opens_an_incident_again(
    desk: Desk, verdict_of: Build, at: At, status: Status
) -> None:
    desk.take(verdict_of(), verdict_of(status=Status.RESOLVED, detected_at=at(30)))
    closed = desk.incident("inc-V1")
    desk.take(verdict_of(status=status, detected_at=at(29), summary="late"))
    desk.review()
    assert desk.incident("inc-V1") == closed
    desk.advance()
    assert desk.applied() == []


def test_a_new_verdict_on_the_node_of_a_closed_incident_opens_another(
    desk: Desk, verdict_of: Build
) -> None:
    desk.take(verdict_of("V1"), verdict_of("V1", status=Status.RESOLVED))
    desk.take(verdict_of("V2"))
    assert desk.incidents() == ["inc-V1", "inc-V2"]
    assert desk.incident("inc-V1").verdicts == ("V1",)


def test_an_incident_stays_open_until_the_last_of_its_verdicts_is_resolved(
    desk: Desk, verdict_of: Build, at: At
) -> None:
    slow = verdict_of("V2", fault=Fault.STRAGGLER, phase=Phase.DEGRADED)
    desk.take(verdict_of("V1"), slow)
    desk.take(verdict_of("V1", status=Status.RESOLVED, detected_at=at(30)))
    assert desk.incident("inc-V1").closed_at is None
    desk.take(verdict_of("V2", status=Status.RESOLVED, detected_at=at(40)))
    incident = desk.incident("inc-V1")
    assert (incident.state, incident.closed_at) == (IncidentState.RECOVERED, at(40))


def test_a_job_wide_verdict_is_told_to_people_and_never_touches_a_node(
    desk: Desk, verdict_of: Build
) -> None:
    desk.take(verdict_of(scope=Scope.JOB, node=None, fault=Fault.THROUGHPUT_DROP))
    desk.advance()
    assert desk.actions() == [("V1:notify", ActionState.SKIPPED)]


def test_two_jobs_with_nodes_of_the_same_name_are_two_stories(
    desk: Desk, verdict_of: Build
) -> None:
    desk.take(verdict_of("V1"), verdict_of("V2", job=GEMMA))
    assert desk.incidents() == ["inc-V1", "inc-V2"]
    desk.advance()
    assert (desk.applied(LLAMA), desk.applied(GEMMA)) == ([NODES[1]], [NODES[1]])
    desk.take(verdict_of("V1", status=Status.RESOLVED))
    assert desk.incident("inc-V1").state is IncidentState.RECOVERED
    assert desk.incident("inc-V2").state is IncidentState.ACTING


def test_a_job_whose_launcher_is_away_holds_up_no_other_job(desk: Desk, verdict_of: Build) -> None:
    desk.fleet.of_job[LLAMA].is_reachable = False
    desk.take(verdict_of("V1"), verdict_of("V2", job=GEMMA))
    desk.advance()
    assert desk.actions(LLAMA) == [("V1:replace_rank", ActionState.ACTING)]
    assert desk.actions(GEMMA) == [("V2:replace_rank", ActionState.SUCCEEDED)]


def spend_the_budget(desk: Desk, verdict_of: Build, job: JobName = LLAMA) -> None:
    """Three replacements within the hour, each in an incident of its own."""
    for number in range(3):
        desk.take(verdict_of(f"{job}{number}", job=job, node=NODES[number]))
        desk.advance()
        desk.take(verdict_of(f"{job}{number}", job=job, node=NODES[number], status=Status.RESOLVED))
    assert len(desk.applied(job)) == 3


def test_the_budget_holds_across_incidents_and_the_next_one_is_for_a_person(
    desk: Desk, verdict_of: Build
) -> None:
    spend_the_budget(desk, verdict_of)
    desk.take(verdict_of("V9", node=NODES[4]))
    desk.review()
    desk.advance()
    assert len(desk.applied()) == 3
    assert desk.actions()[-1] == ("V9:replace_rank", ActionState.FAILED)
    assert desk.incident("inc-V9").state is IncidentState.FAILED


def test_the_budget_of_one_job_is_not_spent_by_another(desk: Desk, verdict_of: Build) -> None:
    spend_the_budget(desk, verdict_of, LLAMA)
    desk.take(verdict_of("V9", job=GEMMA, node=NODES[4]))
    desk.advance()
    assert desk.applied(GEMMA) == [NODES[4]]


def test_an_hour_later_the_budget_is_back_for_what_is_found_then(
    desk: Desk, verdict_of: Build
) -> None:
    spend_the_budget(desk, verdict_of)
    desk.clock.go_on(3600)
    desk.take(verdict_of("V9", node=NODES[4]))
    desk.advance()
    assert desk.applied()[-1] == NODES[4]


def test_a_budget_survives_the_end_of_the_process(
    desk: Desk, verdict_of: Build, store_url: str
) -> None:
    spend_the_budget(desk, verdict_of)
    again = open_store(store_url)
    after = Desk(again, desk.fleet, desk.clock, desk.config)
    after.take(verdict_of("V9", node=NODES[4]))
    assert after.actions()[-1] == ("V9:replace_rank", ActionState.FAILED)
    again.close()


@pytest.mark.long
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data(), st.integers(0, 3))
def test_whatever_order_verdicts_come_in_no_job_is_acted_on_beyond_its_budget(
    tmp_path_factory: pytest.TempPathFactory,
    database_in: Callable[[Path], str],
    clock: Any,
    verdict_of: Build,
    data: st.DataObject,
    budget: int,
) -> None:
    store = open_store(database_in(tmp_path_factory.mktemp("order")))
    config = RemediateConfig(policy=PolicySettings(replacements_per_hour=budget))
    desk = Desk(store, Fleet(LLAMA, GEMMA), clock, config)
    told = [
        verdict_of(f"{job}{number}", job=job, node=NODES[number], status=status)
        for job in (LLAMA, GEMMA)
        for number in range(4)
        for status in (Status.FIRING, Status.RESOLVED)
    ]
    order = data.draw(st.lists(st.sampled_from(told), max_size=14))
    for verdict in order:
        desk.take(verdict)
        desk.advance(times=1)
    desk.advance(times=2 * len(order))
    for job in (LLAMA, GEMMA):
        assert len(desk.applied(job)) <= budget
        assert len(set(desk.applied(job))) == len(desk.applied(job))
    store.close()
