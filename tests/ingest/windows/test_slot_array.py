"""The array under the slots: it slides, grows and shrinks, and never stands there twice."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from paramedic.ingest.contract import Entity, NodeName
from paramedic.ingest.windows.row_places import RowPlaces
from paramedic.ingest.windows.slot_array import Room, SlotArray
from paramedic.ingest.windows.slots import EntitySlots

ROOM = Room(retained=40, open=8)
BYTES_A_CELL = 5
"""A float32 and its mask."""


def fill(array: SlotArray, slots: range, retained: int = ROOM.retained) -> None:
    for slot in slots:
        block, touched = array.slot(slot, slot - retained + 1)
        block[:, : array.rows] = slot
        touched[: array.rows] = True


def test_a_slot_is_where_it_belongs_however_long_time_goes_on() -> None:
    array = SlotArray(ROOM, np.float32)
    array.widen(2, 3)
    fill(array, range(1000, 1500))
    values, observed = array.span(1460, 1499, 1460)
    assert values.shape == (3, 2, 40)
    assert values[2, 1].tolist() == list(range(1460, 1500))
    assert observed.all()


def test_sliding_takes_no_second_array() -> None:
    array = SlotArray(ROOM, np.float32)
    array.widen(10, 2000)
    whole = ROOM.capacity * 10 * 2000 * BYTES_A_CELL
    fill(array, range(ROOM.capacity - ROOM.open))
    tracemalloc.start()
    fill(array, range(ROOM.capacity - ROOM.open, 3 * ROOM.capacity))
    array.span(3 * ROOM.capacity - 40, 3 * ROOM.capacity - 1, 3 * ROOM.capacity - 40)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < whole / 20


def test_the_memory_of_rows_that_left_is_given_back() -> None:
    tracemalloc.start()
    array = SlotArray(ROOM, np.float32)
    array.widen(10, 4000)
    fill(array, range(10))
    large, _ = tracemalloc.get_traced_memory()
    array.arrange(range(10), range(0, 4000, 8))
    small, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert small < large / 6
    values, observed = array.span(0, 9, 0)
    assert values.shape == (500, 10, 10)
    assert values[499, 9].tolist() == list(range(10))
    assert observed.all()


def test_new_rows_and_metrics_were_not_observed_before() -> None:
    array = SlotArray(ROOM, np.float32)
    array.widen(1, 1)
    fill(array, range(5))
    array.widen(30, 50)
    values, observed = array.span(0, 4, 0)
    assert values[0, 0].tolist() == [0, 1, 2, 3, 4]
    assert observed.sum() == 5
    assert np.isnan(values).sum() == values.size - 5


@pytest.mark.parametrize("leap", [1, 39, 40, 41, 100, 10_000])
def test_a_leap_leaves_holes_and_keeps_what_is_still_of_use(leap: int) -> None:
    array = SlotArray(ROOM, np.float32)
    array.widen(1, 1)
    fill(array, range(100))
    fill(array, range(99 + leap, 100 + leap))
    values, observed = array.span(60 + leap, 99 + leap, 60 + leap)
    kept = max(0, 40 - leap)
    assert values[0, 0, :kept].tolist() == list(range(60 + leap, 60 + leap + kept))
    assert observed[0, 0].tolist() == [True] * kept + [False] * (39 - kept) + [True]


def test_an_older_slot_than_all_before_finds_its_place() -> None:
    array = SlotArray(ROOM, np.float32)
    array.widen(1, 1)
    fill(array, range(200, 230))
    fill(array, range(80, 81))
    values, observed = array.span(80, 229, 80)
    assert np.flatnonzero(observed[0, 0]).tolist() == [0, *range(120, 150)]
    assert values[0, 0, 0] == 80


@pytest.mark.parametrize("entity", list(Entity))
def test_ranks_keep_every_digit_and_the_others_take_half_the_room(entity: Entity) -> None:
    slots = EntitySlots(entity, ROOM)
    rows = RowPlaces(slots.enter([(NodeName("a"), 0)]))
    slots.write(100, 91, rows, ("m",), np.array([[2.0**24 + 1]]))
    slots.write(101, 91, rows, ("m",), np.array([[1e300]]))
    values, _ = slots.read(100, 101, 91)
    exact = entity is Entity.RANK
    assert values.dtype == (np.float64 if exact else np.float32)
    assert values[0, 0].tolist() == [2.0**24 + exact, 1e300 if exact else np.inf]
