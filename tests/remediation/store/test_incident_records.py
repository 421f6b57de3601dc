"""Incidents in the store: who took over, when it was first known, which verdicts belong to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from paramedic.diagnosis.contract import Fault, Severity, Status, Verdict
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.contract import (
    Incident,
    IncidentFilter,
    IncidentState,
    StoreDataError,
)
from paramedic.remediation.incidents import derived_incident
from paramedic.remediation.store.store import Store

BuildEvent = Callable[..., Event]
Build = Callable[..., Verdict]
At = Callable[[float], datetime]


def open_incident(store: Store, *states: Verdict) -> None:
    with store.writing() as tx:
        for verdict in states:
            tx.verdicts.put(verdict, verdict.to_json())
        tx.incidents.put(derived_incident("inc-V1", [states[-1]], []))


def incident(store: Store) -> Incident:
    with store.reading() as view:
        found = view.incidents.get("inc-V1")
    assert found is not None
    return found


def move(event_of: BuildEvent, seconds: float, **details: object) -> Event:
    return event_of(seconds, EventKind.MEMBERSHIP, **details)


def take(store: Store, *events: Event) -> None:
    for event in events:
        Bookkeeping(store).take(event)


def test_the_node_that_carries_on_a_rank_is_named(
    store: Store, verdict_of: Build, event_of: BuildEvent
) -> None:
    take(
        store,
        move(event_of, 0, change="joined", node="node-0000", rank=0),
        move(event_of, 0, change="joined", node="node-0001", rank=1),
        move(event_of, 1, change="joined", node="node-0004"),
    )
    open_incident(store, verdict_of())
    assert incident(store).taken_over_by == ()
    take(
        store,
        event_of(21, EventKind.PROCESS_EXIT, node="node-0001", rank=1, signal=9),
        move(event_of, 22, change="replaced_by", node="node-0001", rank=1, by="node-0004"),
    )
    assert incident(store).taken_over_by == ("node-0004",)


def test_only_the_first_heir_counts_and_only_of_this_incident(
    store: Store, verdict_of: Build, event_of: BuildEvent
) -> None:
    take(
        store,
        move(event_of, 0, change="joined", node="node-0000", rank=0),
        move(event_of, 0, change="joined", node="node-0001", rank=1),
        move(event_of, 22, change="replaced_by", node="node-0001", rank=1, by="node-0002"),
        move(event_of, 40, change="replaced_by", node="node-0002", rank=1, by="node-0003"),
        move(event_of, 50, change="replaced_by", node="node-0000", rank=0, by="node-0004"),
    )
    open_incident(store, verdict_of())
    assert incident(store).taken_over_by == ("node-0002",)


def test_a_node_that_had_left_before_has_no_heir_in_this_incident(
    store: Store, verdict_of: Build, event_of: BuildEvent
) -> None:
    take(
        store,
        move(event_of, 0, change="joined", node="node-0001", rank=1),
        move(event_of, 5, change="replaced_by", node="node-0001", rank=1, by="node-0002"),
    )
    open_incident(store, verdict_of())
    assert incident(store).taken_over_by == ()


def test_the_first_firing_is_known_after_the_end(store: Store, verdict_of: Build, at: At) -> None:
    ended = verdict_of(status=Status.RESOLVED, detected_at=at(90))
    open_incident(store, verdict_of(), verdict_of(detected_at=at(30)), ended)
    found = incident(store)
    assert (found.detected_at, found.closed_at) == (at(20), at(90))


def stored(
    store: Store, verdict_of: Build, identity: str, seconds: float = 20, **given: object
) -> Incident:
    """An incident of one verdict, put into the store; named fields are the incident's."""
    verdict = verdict_of(identity, **{name: given.pop(name) for name in ("job",) if name in given})
    told = derived_incident(f"inc-{identity}", [verdict], [])
    moment = verdict.onset.replace(second=int(seconds))
    changed = replace(told, opened_at=moment, detected_at=verdict.detected_at, **given)  # type: ignore[arg-type]
    with store.writing() as tx:
        tx.verdicts.put(verdict, verdict.to_json())
        tx.incidents.put(changed)
    return changed


def ids(store: Store, wanted: IncidentFilter) -> list[str]:
    with store.reading() as view:
        return [found.id for found in view.incidents.find(wanted)]


def test_an_incident_comes_back_as_it_was_put(store: Store, verdict_of: Build) -> None:
    nodes = (NodeName("node-0001"), NodeName("ä-2"))
    put = stored(
        store, verdict_of, "V1", nodes=nodes, severity=Severity.P0, fault=Fault.NETWORK_GROUP,
        state=IncidentState.FAILED, summary="two — at once",
    )  # fmt: skip
    assert incident(store) == put


def test_putting_it_again_changes_its_fields_and_repeats_nothing(
    store: Store, verdict_of: Build, at: At
) -> None:
    first = stored(store, verdict_of, "V1")
    later = replace(first, state=IncidentState.RECOVERED, closed_at=at(90), summary="it is well")
    with store.writing() as tx:
        tx.incidents.put(later)
        tx.incidents.put(later)
    assert incident(store) == later
    assert ids(store, IncidentFilter()) == ["inc-V1"]


def test_its_verdicts_stand_in_the_order_in_which_they_joined(
    store: Store, verdict_of: Build
) -> None:
    first = stored(store, verdict_of, "V1")
    with store.writing() as tx:
        for identity in ("V9", "V5"):
            verdict = verdict_of(identity)
            tx.verdicts.put(verdict, verdict.to_json())
            tx.incidents.put(replace(first, verdicts=(identity,)))
    assert incident(store).verdicts == ("V1", "V9", "V5")
    with store.reading() as view:
        assert [one.id for one in view.verdicts.of_incident("inc-V1")] == ["V1", "V9", "V5"]


def test_a_verdict_stays_with_the_incident_that_had_it_first(
    store: Store, verdict_of: Build
) -> None:
    stored(store, verdict_of, "V1")
    stored(store, verdict_of, "V2", verdicts=("V2", "V1"))
    with store.reading() as view:
        owners = [view.incidents.of_verdict(one) for one in ("V1", "V2", "V3")]
    assert [None if owner is None else owner.id for owner in owners] == ["inc-V1", "inc-V2", None]


def test_a_verdict_that_was_never_stored_cannot_belong_to_one(
    store: Store, verdict_of: Build
) -> None:
    told = derived_incident("inc-V1", [verdict_of()], [])
    with pytest.raises(StoreDataError), store.writing() as tx:
        tx.incidents.put(told)
    assert ids(store, IncidentFilter()) == []


def test_open_ones_come_oldest_first_and_those_of_a_job_alone(
    store: Store, verdict_of: Build, at: At
) -> None:
    stored(store, verdict_of, "V2", 30)
    stored(store, verdict_of, "V1", 10)
    stored(store, verdict_of, "V3", 20, job=JobName("other"))
    stored(store, verdict_of, "V4", 5, closed_at=at(50))
    with store.reading() as view:
        everywhere = [one.id for one in view.incidents.open()]
        of_llama = [one.id for one in view.incidents.open_of(JobName("llama"))]
    assert everywhere == ["inc-V1", "inc-V3", "inc-V2"]
    assert of_llama == ["inc-V1", "inc-V2"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (IncidentFilter(), ["inc-V2", "inc-V3", "inc-V1"]),
        (IncidentFilter(limit=2), ["inc-V2", "inc-V3"]),
        (IncidentFilter(job=JobName("llama")), ["inc-V2", "inc-V1"]),
        (IncidentFilter(state=IncidentState.FAILED), ["inc-V2"]),
        (IncidentFilter(job=JobName("other"), state=IncidentState.FAILED), []),
        (IncidentFilter(job=JobName("llama"), limit=1), ["inc-V2"]),
    ],
)
def test_a_filter_chooses_and_the_newest_comes_first(
    store: Store, verdict_of: Build, wanted: IncidentFilter, found: list[str]
) -> None:
    stored(store, verdict_of, "V1", 10)
    stored(store, verdict_of, "V3", 20, job=JobName("other"))
    stored(store, verdict_of, "V2", 30, state=IncidentState.FAILED)
    assert ids(store, wanted) == found
