"""Stretches of histories whose slots are wider than a second."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.histories.test_slicing import history
from paramedic.ingest.contract import Entity
from paramedic.models.histories.slicing import cut, stretches

FIRST, WIDTH = 1000, 15
edges = st.tuples(st.integers(980, 1200), st.integers(980, 1200)).map(sorted)


def values(part: object) -> list[float]:
    found: list[float] = part.windows[Entity.NODE].values[0, 0].tolist()  # type: ignore[attr-defined]
    return found


@settings(max_examples=15)
@given(outer=edges, inner=edges, width=st.sampled_from([1, WIDTH]))
def test_a_stretch_of_a_stretch_is_what_both_share(
    outer: list[int], inner: list[int], width: int
) -> None:
    twice = cut(cut(history(12, width), *outer), *inner)
    begin, end = max(outer[0], inner[0]), min(outer[1], inner[1])
    expected = [at for at in range(12) if begin <= FIRST + at * width < end]
    assert values(twice) == expected
    if expected:
        assert twice.seconds[0] == FIRST + expected[0] * width


@pytest.mark.parametrize(("first", "begins"), [(1015, 1), (1016, 2), (999, 0)])
def test_a_slot_belongs_to_a_stretch_when_it_begins_in_it(first: int, begins: int) -> None:
    assert values(cut(history(4, WIDTH), first, 2000)) == list(range(begins, 4))


def test_what_happened_before_a_wide_slot_was_over_was_known_when_it_closed() -> None:
    whole = history(3, WIDTH)
    late = replace(whole.events[0], timestamp=whole.events[1].timestamp + timedelta(seconds=14))
    told = replace(whole, events=(whole.events[0], whole.events[1], late, whole.events[2]))
    assert late.timestamp.timestamp() == FIRST + 2 * WIDTH - 1
    assert cut(told, FIRST, FIRST + 2 * WIDTH).events == told.events[:3]
    assert told.until(FIRST).events == told.events[:1]


def test_stretches_of_wide_slots_hold_whole_slots() -> None:
    found = list(stretches(history(9, WIDTH), 3 * WIDTH))
    assert [values(one) for one in found] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_every_kind_of_row_is_cut_alike() -> None:
    one = history(20)
    gpus = replace(one.windows[Entity.NODE], entity=Entity.GPU)
    part = cut(replace(one, windows={**one.windows, Entity.GPU: gpus}), 1003, 1009)
    assert {window.seconds for window in part.windows.values()} == {range(1003, 1009)}
    assert all(np.array_equal(w.values[0, 0], range(3, 9)) for w in part.windows.values())
