"""What the metrics page counts: verdicts as they are, every state they took, what is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from paramedic.diagnosis.contract import Fault, Severity, Status, Verdict
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import Action, ActionState, Tally
from paramedic.remediation.incidents import derived_incident
from paramedic.remediation.store.store import Store
from remediation.store.test_action_records import PLANNED

Build = Callable[..., Verdict]
At = Callable[[float], datetime]


def tally(store: Store) -> Tally:
    with store.reading() as view:
        return view.tally()


def put(store: Store, *states: Verdict) -> None:
    with store.writing() as tx:
        for verdict in states:
            tx.verdicts.put(verdict, verdict.to_json())


def open_incident(store: Store, verdict: Verdict, *actions: Action) -> None:
    put(store, verdict)
    with store.writing() as tx:
        tx.incidents.put(derived_incident(f"inc-{verdict.id}", [verdict], actions))
        for action in actions:
            tx.actions.add(action)


def test_an_empty_store_counts_nothing(store: Store) -> None:
    assert tally(store) == Tally({}, {}, {}, {})


def test_a_verdict_is_counted_as_it_is_now_and_each_of_its_states_for_ever(
    store: Store, verdict_of: Build, at: At
) -> None:
    put(
        store,
        verdict_of(),
        verdict_of(status=Status.UPDATED, detected_at=at(25)),
        verdict_of(status=Status.UPDATED, detected_at=at(30)),
        verdict_of(status=Status.RESOLVED, detected_at=at(35)),
        verdict_of("V2", fault=Fault.STRAGGLER, severity=Severity.P2),
        verdict_of("V3"),
    )
    found = tally(store)
    assert found.verdicts == {
        ("resolved", "hang", "P1"): 1,
        ("firing", "straggler", "P2"): 1,
        ("firing", "hang", "P1"): 1,
    }
    assert found.verdict_changes == {"firing": 3, "updated": 2, "resolved": 1}


def test_a_late_state_grows_the_changes_and_leaves_what_is_now(
    store: Store, verdict_of: Build, at: At
) -> None:
    put(store, verdict_of(status=Status.RESOLVED, detected_at=at(30)), verdict_of())
    found = tally(store)
    assert found.verdicts == {("resolved", "hang", "P1"): 1}
    assert found.verdict_changes == {"resolved": 1, "firing": 1}


def test_only_incidents_that_are_not_over_count_by_job_and_severity(
    store: Store, verdict_of: Build, at: At
) -> None:
    open_incident(store, verdict_of("V1"))
    open_incident(store, verdict_of("V2", node=NodeName("node-0002")))
    open_incident(store, verdict_of("V3", job=JobName("other"), severity=Severity.P0))
    open_incident(store, verdict_of("V4", status=Status.RESOLVED, detected_at=at(60)))
    assert tally(store).incidents_open == {("llama", "P1"): 2, ("other", "P0"): 1}


def test_actions_count_by_kind_and_state(store: Store, verdict_of: Build) -> None:
    more = [
        replace(PLANNED, id=name, idempotency_key=name, state=state)
        for name, state in (("a", ActionState.FAILED), ("b", ActionState.FAILED))
    ]
    open_incident(store, verdict_of(), PLANNED, *more)
    assert tally(store).actions == {
        ("replace_rank", "planned"): 1,
        ("replace_rank", "failed"): 2,
    }
