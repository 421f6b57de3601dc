"""What the store adds to an incident: who took over, and when it was first known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.contract import Event, EventKind
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.contract import Incident
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
