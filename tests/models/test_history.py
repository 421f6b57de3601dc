"""A job's past, whole or as far as it was known at some moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from paramedic.ingest.contract import (
    Entity,
    EntityKey,
    Event,
    EventKind,
    JobName,
    NodeName,
    Window,
)
from paramedic.models.history import JobHistory

JOB = JobName("llama-7b")
FIRST = 1_780_000_000


def window(entity: Entity, *rows: EntityKey, slots: int = 6) -> Window:
    values = np.arange(len(rows) * slots, dtype=np.float32).reshape(len(rows), 1, slots)
    seen = np.ones(values.shape, dtype=np.bool_)
    return Window(JOB, 0, entity, FIRST, rows, ("load_average",), values, seen)


def event(second: float) -> Event:
    return Event(datetime.fromtimestamp(second, UTC), EventKind.JOB_STATE, JOB)


def history() -> JobHistory:
    a, b = NodeName("a"), NodeName("b")
    windows = {
        Entity.NODE: window(Entity.NODE, EntityKey(Entity.NODE, b)),
        Entity.GPU: window(Entity.GPU, EntityKey(Entity.GPU, a, 0), EntityKey(Entity.GPU, b, 0)),
    }
    return JobHistory(JOB, windows, events=(event(FIRST + 1.5), event(FIRST + 3.0)))


def test_every_node_that_was_observed_is_known() -> None:
    assert history().nodes == ("a", "b")


def test_nothing_observed_is_no_time_and_no_node() -> None:
    nothing = JobHistory(JOB, {})
    assert (nothing.nodes, len(nothing.seconds)) == ((), 0)


def test_the_past_of_a_moment_ends_with_its_slot() -> None:
    past = history().until(FIRST + 2)
    assert list(past.seconds) == [FIRST, FIRST + 1, FIRST + 2]
    assert past.windows[Entity.GPU].values[1, 0].tolist() == [6.0, 7.0, 8.0]
    assert past.windows[Entity.GPU].observed.shape == (2, 1, 3)
    assert [one.timestamp.timestamp() for one in past.events] == [FIRST + 1.5]


def test_slots_that_are_wider_than_a_second_are_counted_by_their_first() -> None:
    slow = {e: replace(w, slot_seconds=10) for e, w in history().windows.items()}
    past = replace(history(), windows=slow).until(FIRST + 15)
    assert list(past.seconds) == [FIRST, FIRST + 10]
