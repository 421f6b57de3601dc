"""Verdicts in the store: idempotent, never older over newer, bytes kept."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Candidate, Fault, Scope, Status, Verdict
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import VerdictFilter
from paramedic.remediation.store.store import Store, open_store
from paramedic.remediation.store.verdicts import Change

Build = Callable[..., Verdict]
At = Callable[[float], datetime]


def put(store: Store, verdict: Verdict) -> Change:
    with store.writing() as tx:
        return tx.verdicts.put(verdict, verdict.to_json())


def newest(store: Store, identity: str = "V1") -> Verdict | None:
    with store.reading() as view:
        return view.verdicts.get(identity)


def test_the_same_state_twice_changes_nothing(store: Store, verdict_of: Build) -> None:
    assert put(store, verdict_of()) is Change.NEW
    assert put(store, verdict_of()) is Change.UNCHANGED
    with store.reading() as view:
        assert view.tally().verdict_changes == {"firing": 1}


def test_a_verdict_goes_through_its_life(store: Store, verdict_of: Build, at: At) -> None:
    put(store, verdict_of())
    assert put(store, verdict_of(status=Status.UPDATED, detected_at=at(25))) is Change.CHANGED
    assert put(store, verdict_of(status=Status.RESOLVED, detected_at=at(30))) is Change.CHANGED
    found = newest(store)
    assert found is not None
    assert found.status is Status.RESOLVED


def test_an_older_status_never_overwrites_a_newer_one(
    store: Store, verdict_of: Build, at: At
) -> None:
    put(store, verdict_of(status=Status.RESOLVED, detected_at=at(30)))
    assert put(store, verdict_of()) is Change.STALE
    assert put(store, verdict_of(status=Status.UPDATED, detected_at=at(40))) is Change.STALE
    found = newest(store)
    assert found is not None
    assert found.status is Status.RESOLVED


def test_a_firing_never_overwrites_an_update_however_late_it_says_it_is(
    store: Store, verdict_of: Build, at: At
) -> None:
    put(store, verdict_of(status=Status.UPDATED, detected_at=at(25)))
    assert put(store, verdict_of(detected_at=at(40))) is Change.STALE
    assert put(store, verdict_of(status=Status.UPDATED, detected_at=at(26))) is Change.CHANGED
    found = newest(store)
    assert found is not None
    assert (found.status, found.detected_at) == (Status.UPDATED, at(26))


def test_an_older_update_never_overwrites_a_newer_one(
    store: Store, verdict_of: Build, at: At
) -> None:
    put(store, verdict_of(status=Status.UPDATED, detected_at=at(40), confidence=0.9))
    late = verdict_of(status=Status.UPDATED, detected_at=at(30), confidence=0.5)
    assert put(store, late) is Change.STALE
    found = newest(store)
    assert found is not None
    assert found.confidence == 0.9


def test_a_document_comes_back_byte_for_byte_with_fields_that_we_do_not_know(
    store: Store, verdict_of: Build
) -> None:
    verdict = verdict_of(summary="41 % — ünüsual")
    document = json.dumps({**verdict.to_dict(), "from_the_future": [1.50, "é"]}).encode()
    with store.writing() as tx:
        tx.verdicts.put(verdict, document)
    with store.reading() as view:
        assert view.verdicts.document("V1") == document
        assert view.verdicts.documents(VerdictFilter()) == (document,)


def test_a_group_is_about_each_of_its_members(store: Store, verdict_of: Build, at: At) -> None:
    members = (NodeName("é_1"), NodeName('n"%'), NodeName("last"))
    group = verdict_of("G", scope=Scope.GROUP, node=None, members=members)
    put(store, group)
    named = (Candidate(NodeName("other"), 1.0), Candidate(NodeName("éx1"), 1.0))
    put(store, verdict_of("J", scope=Scope.JOB, node=None, candidates=named))
    put(store, replace(group, id="H", members=(*members[1:], NodeName("four")), candidates=named))
    with store.reading() as view:
        found = {
            node: [
                json.loads(one)["id"]
                for one in view.verdicts.documents(VerdictFilter(node=NodeName(node)))
            ]
            for node in (*members, "other", "éx1", "las")
        }
    assert found == {
        members[0]: ["G"], members[1]: ["G", "H"], "last": ["G", "H"],
        "other": [], "éx1": [], "las": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (VerdictFilter(), ["C", "B", "A"]),
        (VerdictFilter(limit=2), ["C", "B"]),
        (VerdictFilter(job=JobName("other")), ["C"]),
        (VerdictFilter(node=NodeName("node-0002")), ["B"]),
        (VerdictFilter(fault=Fault.STRAGGLER), ["B"]),
        (VerdictFilter(status=Status.RESOLVED), ["A"]),
        (VerdictFilter(job=JobName("llama"), status=Status.FIRING), ["B"]),
        (VerdictFilter(job=JobName("nobody")), []),
    ],
)
def test_a_filter_chooses_and_the_newest_comes_first(
    store: Store, verdict_of: Build, at: At, wanted: VerdictFilter, ids: list[str]
) -> None:
    put(store, verdict_of("A", status=Status.RESOLVED, detected_at=at(1)))
    node = NodeName("node-0002")
    put(store, verdict_of("B", node=node, fault=Fault.STRAGGLER, detected_at=at(2)))
    put(store, verdict_of("C", job=JobName("other"), detected_at=at(2.5)))
    with store.reading() as view:
        found = [json.loads(document)["id"] for document in view.verdicts.documents(wanted)]
    assert found == ids


def test_a_life_knows_when_the_verdict_was_first_known(
    store: Store, verdict_of: Build, at: At
) -> None:
    put(store, verdict_of(detected_at=at(20)))
    put(store, verdict_of(status=Status.UPDATED, detected_at=at(25)))
    with store.reading() as view:
        (life,) = view.verdicts.lives(JobName("llama"))
    assert life.known_at == at(20)
    assert life.verdict.detected_at == at(25)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(list(Status)), st.integers(20, 40)), min_size=1, max_size=8
    ).flatmap(lambda states: st.tuples(st.just(states), st.permutations(states * 2)))
)
def test_any_order_and_repetition_of_states_ends_with_the_newest(
    verdict_of: Build,
    at: At,
    database_in: Callable[[Path], str],
    orders: tuple[list[tuple[Status, int]], list[tuple[Status, int]]],
) -> None:
    states, arrivals = orders
    order = list(Status)
    status, seconds = max(states, key=lambda state: (order.index(state[0]), state[1]))
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(database_in(Path(folder)))
        for arrived_status, arrived_seconds in arrivals:
            put(store, verdict_of(status=arrived_status, detected_at=at(arrived_seconds)))
        found = newest(store)
        with store.reading() as view:
            remembered = sum(view.tally().verdict_changes.values())
        store.close()
    assert found is not None
    assert (found.status, found.detected_at) == (status, at(seconds))
    assert remembered == len(set(states))
