"""Stretches of a history."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.contract import Entity, EntityKey, Event, EventKind, JobName, NodeName, Window
from paramedic.models.histories.slicing import cut, stretches
from paramedic.models.history import JobHistory

_JOB = JobName("job")


def history(slots: int, width: int = 1) -> JobHistory:
    values = np.arange(slots, dtype=np.float32).reshape(1, 1, slots)
    window = Window(
        _JOB, 0, Entity.NODE, 1000, (EntityKey(Entity.NODE, NodeName("a")),), ("m",),
        values, np.ones_like(values, np.bool_), width,
    )  # fmt: skip
    events = tuple(
        Event(datetime.fromtimestamp(1000 + at * width, UTC), EventKind.CHECKPOINT, _JOB)
        for at in range(slots)
    )
    return JobHistory(_JOB, {Entity.NODE: window}, None, events)


@given(slots=st.integers(1, 40), length=st.integers(1, 15), stride=st.integers(1, 15))
def test_stretches_are_whole_and_a_stride_apart(slots: int, length: int, stride: int) -> None:
    found = list(stretches(history(slots), length, stride))
    assert [one.seconds[0] for one in found] == list(range(1000, 1000 + slots - length + 1, stride))
    for one in found:
        first = one.seconds[0] - 1000
        expected = np.arange(first, first + length)
        np.testing.assert_array_equal(one.windows[Entity.NODE].values[0, 0], expected)


def test_a_stretch_knows_what_had_happened_by_then() -> None:
    part = cut(history(20), 1005, 1010)
    assert part.seconds == range(1005, 1010)
    assert len(part.events) == 10


def test_a_stretch_is_a_view() -> None:
    width = 15
    whole = history(20, width)
    part = cut(whole, 1000 + width, 1000 + 3 * width)
    assert len(part.seconds) == 2
    assert np.shares_memory(part.windows[Entity.NODE].values, whole.windows[Entity.NODE].values)


def test_a_stretch_of_another_time_is_empty() -> None:
    assert not cut(history(20), 5000, 6000).seconds
    assert not cut(history(20), 1, 2).seconds
    assert not list(stretches(JobHistory(_JOB, {}), 10))


@pytest.mark.parametrize(("seconds", "stride"), [(0, 1), (5, 0)])
def test_a_length_that_is_none_is_refused(seconds: int, stride: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        list(stretches(history(9), seconds, stride))
