"""Events in the store: those of a job's life, each once, in time order whatever came first."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.contract import Event, EventKind, JobName
from paramedic.remediation.store.events import KEPT
from paramedic.remediation.store.store import Store, open_store

Build = Callable[..., Event]
LLAMA = JobName("llama")


def add(store: Store, *events: Event) -> list[bool]:
    with store.writing() as tx:
        return [tx.events.add(event) for event in events]


def of_job(store: Store, *kinds: EventKind, job: str = "llama") -> tuple[Event, ...]:
    with store.reading() as view:
        return view.events.of_job(JobName(job), kinds or list(EventKind))


def test_the_kinds_that_tell_a_jobs_life_are_kept_and_come_back_whole(
    store: Store, event_of: Build
) -> None:
    events = [
        event_of(at, kind, node="node-0001", rank=3, generation=2, reason="é — ü", step=at)
        for at, kind in enumerate(sorted(KEPT))
    ]
    assert add(store, *events) == [True] * len(KEPT)
    assert list(of_job(store)) == events


def test_the_same_event_is_kept_once_and_one_that_differs_anywhere_is_another(
    store: Store, event_of: Build
) -> None:
    first = event_of(1, EventKind.CHECKPOINT, result="saved", step=4)
    other = event_of(1, EventKind.CHECKPOINT, result="saved", step=5)
    assert add(store, first, first, other) == [True, False, True]
    assert add(store, other) == [False]
    assert of_job(store) == (first, other)


def test_a_job_is_asked_for_by_kind(store: Store, event_of: Build) -> None:
    state = event_of(1, EventKind.JOB_STATE, state="training")
    ended = event_of(2, EventKind.PROCESS_EXIT, node="node-0001", signal=9)
    foreign = event_of(3, EventKind.JOB_STATE, state="training", job=JobName("other"))
    add(store, state, ended, foreign)
    assert of_job(store, EventKind.PROCESS_EXIT) == (ended,)
    assert of_job(store, EventKind.JOB_STATE) == (state,)
    assert of_job(store, EventKind.JOB_STATE, job="other") == (foreign,)
    with store.reading() as view:
        assert view.events.of_job(LLAMA, ()) == ()


@pytest.mark.long
@settings(max_examples=10)
@given(
    seconds=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    micro=st.integers(0, 999_999),
)
def test_events_come_in_time_order_and_of_one_moment_in_order_of_arrival(
    event_of: Build, database_in: Callable[[Path], str], seconds: list[int], micro: int
) -> None:
    events = [
        event_of(second + micro * 1e-6, EventKind.JOB_STATE, state="training", step=arrival)
        for arrival, second in enumerate(seconds)
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(database_in(Path(folder)))
        add(store, *events)
        found = of_job(store)
        store.close()
    assert list(found) == sorted(events, key=lambda event: event.timestamp)
