"""Which verdicts belong together, and what an incident looks like."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Fault, RecommendedAction, Scope, Severity, Status, Verdict
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import Action, ActionState, Incident, IncidentState
from paramedic.remediation.incidents import OpenCase, derived_incident, incident_for, incident_id

Build = Callable[..., Verdict]
At = Callable[[float], datetime]


def case_of(*verdicts: Verdict) -> OpenCase:
    incident = derived_incident(incident_id(verdicts[0]), verdicts, [])
    return OpenCase(incident, verdicts)


def chosen(verdict: Verdict, *cases: OpenCase) -> str | None:
    incident = incident_for(verdict, cases, correlation_seconds=60.0)
    return None if incident is None else incident.id


def action_in(state: ActionState) -> Action:
    return Action(
        id="act",
        incident="inc-V1",
        kind=RecommendedAction.REPLACE_RANK,
        target=NodeName("node-0001"),
        launcher="in_memory",
        state=state,
        dry_run=False,
        idempotency_key="k",
        requested_by="policy",
    )


def test_a_verdict_without_an_open_incident_opens_its_own(verdict_of: Build) -> None:
    assert chosen(verdict_of()) is None


def test_a_further_verdict_on_the_node_joins_however_late(verdict_of: Build, at: At) -> None:
    later = verdict_of("V2", fault=Fault.PROCESS_EXIT, onset=at(9000))
    assert chosen(later, case_of(verdict_of("V1"))) == "inc-V1"


def test_another_node_at_the_same_moment_stays_apart(verdict_of: Build) -> None:
    other = verdict_of("V2", node=NodeName("node-0002"))
    assert chosen(other, case_of(verdict_of("V1"))) is None


def test_the_same_node_name_in_another_job_stays_apart(verdict_of: Build) -> None:
    other = verdict_of("V2", job=JobName("other"))
    assert chosen(other, case_of(verdict_of("V1"))) is None


def test_that_a_node_fails_too_often_is_an_incident_apart(verdict_of: Build) -> None:
    often = verdict_of("V2", fault=Fault.NODE_FAILURE_RATE)
    assert chosen(often, case_of(verdict_of("V1"))) is None
    assert chosen(verdict_of("V3"), case_of(often)) is None


@pytest.mark.parametrize(("onset", "joins"), [(70.0, True), (70.1, False), (-50.0, True)])
def test_a_verdict_about_the_job_joins_within_a_minute_of_the_onset(
    verdict_of: Build, at: At, onset: float, joins: bool
) -> None:
    wide = verdict_of("V2", scope=Scope.JOB, node=None, onset=at(onset))
    assert (chosen(wide, case_of(verdict_of("V1"))) == "inc-V1") is joins


def test_a_node_joins_the_incident_of_a_group(verdict_of: Build) -> None:
    members = (NodeName("node-0005"), NodeName("node-0006"), NodeName("node-0007"))
    group = verdict_of("V1", scope=Scope.GROUP, node=None, members=members)
    assert chosen(verdict_of("V2"), case_of(group)) == "inc-V1"


def test_a_member_of_the_group_joins_however_late(verdict_of: Build, at: At) -> None:
    members = (NodeName("node-0005"), NodeName("node-0006"), NodeName("node-0007"))
    group = verdict_of("V1", scope=Scope.GROUP, node=None, members=members)
    late = verdict_of("V2", node=NodeName("node-0006"), onset=at(4000))
    assert chosen(late, case_of(group)) == "inc-V1"


def test_of_several_that_fit_the_oldest_takes_it(verdict_of: Build) -> None:
    first = case_of(verdict_of("V1"))
    second = case_of(verdict_of("V2", node=NodeName("node-0002")))
    wide = verdict_of("V3", scope=Scope.JOB, node=None)
    assert chosen(wide, first, second) == "inc-V1"


def test_its_own_node_goes_before_a_wide_neighbour(verdict_of: Build) -> None:
    wide = case_of(verdict_of("V1", scope=Scope.JOB, node=None))
    own = case_of(verdict_of("V2"))
    assert chosen(verdict_of("V3"), wide, own) == "inc-V2"


def test_an_incident_is_as_bad_as_its_worst_verdict(verdict_of: Build, at: At) -> None:
    mild = verdict_of("V1", severity=Severity.P2, fault=Fault.STRAGGLER, onset=at(4))
    bad = verdict_of("V2", severity=Severity.P0, summary="it is dead", onset=at(9))
    incident = derived_incident("inc-V1", [mild, bad], [])
    assert (incident.severity, incident.fault) == (Severity.P0, Fault.HANG)
    assert incident.summary == "it is dead"
    assert incident.opened_at == at(4)
    assert incident.verdicts == ("V1", "V2")


def test_it_closes_when_the_last_verdict_is_resolved(verdict_of: Build, at: At) -> None:
    one = verdict_of("V1", status=Status.RESOLVED, detected_at=at(50))
    two = verdict_of("V2", status=Status.RESOLVED, detected_at=at(40))
    still = derived_incident("inc-V1", [one, verdict_of("V2")], [])
    assert (still.state, still.closed_at) == (IncidentState.OPEN, None)
    over = derived_incident("inc-V1", [one, two], [action_in(ActionState.FAILED)])
    assert (over.state, over.closed_at) == (IncidentState.RECOVERED, at(50))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (ActionState.PLANNED, IncidentState.ACTING),
        (ActionState.ACTING, IncidentState.ACTING),
        (ActionState.SUCCEEDED, IncidentState.ACTING),
        (ActionState.FAILED, IncidentState.FAILED),
        (ActionState.SKIPPED, IncidentState.OPEN),
    ],
)
def test_the_state_follows_the_actions(
    verdict_of: Build, state: ActionState, expected: IncidentState
) -> None:
    assert derived_incident("inc-V1", [verdict_of()], [action_in(state)]).state is expected


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "node-0001", "node-0002", "node-0003"]), st.integers(0, 300)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_no_two_open_incidents_ever_share_a_node(
    verdict_of: Build, at: At, arrivals: list[tuple[str | None, int]]
) -> None:
    cases: dict[str, OpenCase] = {}
    for number, (node, seconds) in enumerate(arrivals):
        scope = Scope.JOB if node is None else Scope.NODE
        verdict = verdict_of(f"V{number}", scope=scope, node=node, onset=at(seconds))
        found = chosen(verdict, *cases.values()) or incident_id(verdict)
        before = cases[found].verdicts if found in cases else ()
        verdicts = (*before, verdict)
        cases[found] = OpenCase(derived_incident(found, verdicts, []), verdicts)
    incidents: list[Incident] = [case.incident for case in cases.values()]
    nodes = [node for incident in incidents for node in incident.nodes]
    assert len(nodes) == len(set(nodes))
    assert sum(len(incident.verdicts) for incident in incidents) == len(arrivals)
