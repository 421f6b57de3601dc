"""The array of one entity against a dictionary that does the same slowly."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paramedic.ingest.contract import Entity, NodeName
from paramedic.ingest.windows.row_places import RowPlaces
from paramedic.ingest.windows.slot_array import Room
from paramedic.ingest.windows.slots import EntitySlots, RowName

HELD = 10
"""Slots that are kept behind the newest one in these tests."""
ROOM = Room(retained=HELD, open=4)

row_names = st.tuples(st.sampled_from([NodeName(n) for n in "abcdefghijkl"]), st.integers(0, 3))
metric_names = st.sampled_from([f"metric_{at}" for at in range(12)])
numbers = st.one_of(st.floats(-1e300, 1e300), st.just(math.nan))


@dataclass
class Ledger:
    """Values by (second, metric, row), and what rows and metrics there are."""

    values: dict[tuple[int, str, RowName], float] = field(default_factory=dict)
    rows: set[RowName] = field(default_factory=set)
    metrics: set[str] = field(default_factory=set)


class SlotsBehaveLikeALedger(RuleBasedStateMachine):
    """Writes, departures, restarts and time in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = EntitySlots(Entity.RANK, ROOM)
        self.ledger = Ledger()
        self.newest = 1000

    @rule(
        back=st.integers(0, HELD - 1),
        rows=st.lists(row_names, min_size=1, max_size=5, unique=True),
        metrics=st.lists(metric_names, min_size=1, max_size=4, unique=True),
        data=st.data(),
    )
    def write(
        self, back: int, rows: list[RowName], metrics: list[str], data: st.DataObject
    ) -> None:
        size = len(rows) * len(metrics)
        block = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)))
        block = block.reshape(len(metrics), len(rows))
        second = self.newest - back
        places = RowPlaces(self.slots.enter(rows))
        twice = self.slots.write(second, self.newest - HELD + 1, places, tuple(metrics), block)
        assert twice == self._note(second, rows, metrics, block.tolist())

    def _note(
        self, second: int, rows: list[RowName], metrics: list[str], block: list[list[float]]
    ) -> int:
        overwritten = set()
        for metric, line in zip(metrics, block, strict=True):
            for row, value in zip(rows, line, strict=True):
                if not math.isnan(value):
                    overwritten |= {row} & {
                        known
                        for at, name, known in self.ledger.values
                        if (at, name) == (second, metric)
                    }
                    self.ledger.values[second, metric, row] = value
        self.ledger.rows.update(rows)
        self.ledger.metrics.update(metrics)
        return len(overwritten)

    @rule(seconds=st.one_of(st.integers(1, 3), st.integers(1, 200)))
    def pass_time(self, seconds: int) -> None:
        self.newest += seconds

    @rule(node=st.sampled_from("abcdefghijkl"))
    def depart(self, node: str) -> None:
        self.slots.forget(lambda row: row[0] == node)
        self.ledger.rows = {row for row in self.ledger.rows if row[0] != node}
        self.ledger.values = {
            key: value for key, value in self.ledger.values.items() if key[2][0] != node
        }

    @rule()
    def restart(self) -> None:
        self.slots = EntitySlots(Entity.RANK, ROOM, self.slots.snapshot())

    @rule()
    def clear(self) -> None:
        self.slots.clear()
        self.ledger.values = {}

    @invariant()
    def the_array_shows_what_the_ledger_holds(self) -> None:
        first = self.newest - HELD + 1
        values, observed = self.slots.read(first, self.newest, first)
        rows = [(key.node, key.index) for key in self.slots.row_keys()]
        metrics = self.slots.metrics()
        assert rows == sorted(self.ledger.rows)
        assert list(metrics) == sorted(self.ledger.metrics)
        assert values.shape == observed.shape == (len(rows), len(metrics), HELD)
        shown = {
            (first + int(at), metrics[metric], rows[row]): float(values[row, metric, at])
            for row, metric, at in zip(*np.nonzero(observed), strict=True)
        }
        assert shown == {k: v for k, v in self.ledger.values.items() if k[0] >= first}
        assert (observed == ~np.isnan(values)).all()

    @invariant()
    def of_a_slot_with_values_it_is_known_that_it_was_heard_of(self) -> None:
        held = {second for second, *_ in self.ledger.values if second > self.newest - HELD}
        assert all(map(self.slots.is_heard, held))
        assert not self.slots.is_heard(self.newest + 1)


TestSlotsBehaveLikeALedger = SlotsBehaveLikeALedger.TestCase
TestSlotsBehaveLikeALedger.settings = settings(max_examples=15, stateful_step_count=20)


@settings(max_examples=30)
@given(rows=st.lists(row_names, min_size=1, max_size=30, unique=True))
def test_rows_are_sorted_however_they_came(rows: list[RowName]) -> None:
    slots = EntitySlots(Entity.RANK, ROOM)
    for at, row in enumerate(rows):
        slots.write(100, 91, RowPlaces(slots.enter([row])), ("m",), np.array([[float(at)]]))
    values, _ = slots.read(100, 100, 91)
    expected = [float(rows.index(row)) for row in sorted(rows)]
    assert values[:, 0, 0].tolist() == expected


def test_a_leap_over_everything_held_leaves_only_holes() -> None:
    slots = EntitySlots(Entity.NODE, ROOM)
    slots.write(100, 91, RowPlaces(slots.enter([(NodeName("a"), None)])), ("m",), np.array([[1.0]]))
    values, observed = slots.read(1_000_091, 1_000_100, 1_000_091)
    assert values.shape == (1, 1, 10)
    assert not observed.any()
