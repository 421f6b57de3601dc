"""Actions in the store: written once, found by incident and job, unfinished after a restart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from paramedic.diagnosis.contract import RecommendedAction, Verdict
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import Action, ActionState, StoreDataError
from paramedic.remediation.incidents import derived_incident
from paramedic.remediation.store.store import Store, open_store

Build = Callable[..., Verdict]
PLANNED = Action(
    id="act-1",
    incident="inc-V1",
    kind=RecommendedAction.REPLACE_RANK,
    target=NodeName("node-0001"),
    launcher="local",
    state=ActionState.PLANNED,
    dry_run=False,
    idempotency_key="V1:replace_rank",
    requested_by="policy",
)
FULL = replace(
    PLANNED,
    state=ActionState.SUCCEEDED,
    dry_run=True,
    approved_by="somebody",
    calls=("replace node-0001", "observe — twice"),
    result="node-0001 carries no rank any more",
    details={"verdict": "V1", "attempts": 2, "nested": {"since": [1.5, None]}},
)


def numbered(number: int, **changes: object) -> Action:
    return replace(PLANNED, id=f"act-{number}", idempotency_key=f"key-{number}", **changes)  # type: ignore[arg-type]  # fields by name


@pytest.fixture
def with_incidents(store: Store, verdict_of: Build) -> Store:
    """Incidents inc-V1 of job llama and inc-V2 of job other."""
    for identity, job in (("V1", "llama"), ("V2", "other")):
        verdict = verdict_of(identity, job=JobName(job))
        with store.writing() as tx:
            tx.verdicts.put(verdict, verdict.to_json())
            tx.incidents.put(derived_incident(f"inc-{identity}", [verdict], []))
    return store


def add(store: Store, *actions: Action) -> list[bool]:
    with store.writing() as tx:
        return [tx.actions.add(action) for action in actions]


def of_incident(store: Store, incident: str = "inc-V1") -> tuple[Action, ...]:
    with store.reading() as view:
        return view.actions.of_incident(incident)


@pytest.mark.parametrize("action", [PLANNED, FULL], ids=["bare", "with everything"])
def test_an_action_comes_back_as_it_was_stored(with_incidents: Store, action: Action) -> None:
    add(with_incidents, action)
    assert of_incident(with_incidents) == (action,)


def test_an_intention_is_written_once_whatever_its_number(with_incidents: Store) -> None:
    again = replace(FULL, id="act-2")
    assert add(with_incidents, PLANNED, again) == [True, False]
    assert add(with_incidents, again) == [False]
    assert of_incident(with_incidents) == (PLANNED,)


def test_two_intentions_cannot_have_one_id(with_incidents: Store) -> None:
    add(with_incidents, PLANNED)
    with pytest.raises(StoreDataError, match="refuses"):
        add(with_incidents, replace(PLANNED, idempotency_key="another"))


def test_an_action_of_no_incident_is_refused_as_a_whole(with_incidents: Store) -> None:
    with pytest.raises(StoreDataError, match="FOREIGN KEY"):
        add(with_incidents, PLANNED, numbered(2, incident="inc-V9"))
    assert of_incident(with_incidents) == ()


def test_a_new_state_replaces_the_old_one_and_touches_no_other(with_incidents: Store) -> None:
    add(with_incidents, PLANNED, numbered(2))
    with with_incidents.writing() as tx:
        tx.actions.update(FULL)
    assert of_incident(with_incidents) == (FULL, numbered(2))


def test_actions_stand_in_the_order_in_which_they_were_written(with_incidents: Store) -> None:
    written = [numbered(number) for number in (9, 3, 10, 1)]
    add(with_incidents, *written)
    assert list(of_incident(with_incidents)) == written


def test_a_job_has_the_actions_of_its_incidents_and_no_others(with_incidents: Store) -> None:
    of_other = numbered(2, incident="inc-V2")
    add(with_incidents, PLANNED, of_other, numbered(3))
    with with_incidents.reading() as view:
        assert view.actions.of_job(JobName("llama")) == (PLANNED, numbered(3))
        assert view.actions.of_job(JobName("other")) == (of_other,)
        assert view.actions.of_job(JobName("nobody")) == ()


def test_what_was_under_way_is_found_after_a_restart(with_incidents: Store, store_url: str) -> None:
    states = list(ActionState)
    add(with_incidents, *(numbered(at, state=state) for at, state in enumerate(states)))
    reopened = open_store(store_url)
    try:
        with reopened.reading() as view:
            found = [action.state for action in view.actions.unfinished()]
    finally:
        reopened.close()
    assert found == [ActionState.PLANNED, ActionState.ACTING]
