"""Finds GPU pages that say again what they said before: the exporter has not collected anew.

The rule: the GPU rows of one node at one origin are a repeat when every gauge of every GPU is bit
for bit what it was in the page before, there are at least 8 of them, and the last change is less
than `repeat_limit_seconds` ago. Power, temperatures, clocks and activities of a GPU that is read
anew never all stay the same for long; what does for longer is believed, whatever it is. Rates are
not compared: they follow from counters and times, and turn to zero when a counter is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.collect.cadence import Pulse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.ingest.contract import NodeName, Table

_RATE = "_per_second"
_LEAST_VALUES = 8


@dataclass(slots=True)
class _Known:
    """What a node said last at one origin."""

    said: bytes = b""
    changed_at: int = 0
    pulse: Pulse = field(default_factory=Pulse)


class Repeats:
    """Remembers what every node said last, and when it said something new."""

    def __init__(self, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._known: dict[tuple[str, NodeName], _Known] = {}
        self._pulses: dict[NodeName, dict[str, Pulse]] = {}

    def repeated(self, origin: str, second: int, table: Table) -> frozenset[NodeName]:
        """The nodes of a GPU table whose rows are repeats; the others' samples are counted."""
        values = _gauges(table)
        found = [
            node
            for node, start, end in _blocks(table.nodes)
            if self._is_repeat(self._of(origin, node), second, values[start:end])
        ]
        return frozenset(found)

    def pulses(self, node: NodeName) -> Iterator[Pulse]:
        """The pulses of a node, one an origin."""
        yield from self._pulses.get(node, {}).values()

    def forget(self, node: NodeName) -> None:
        """Let go of what is known of a node."""
        for origin in self._pulses.pop(node, {}):
            del self._known[origin, node]

    def _of(self, origin: str, node: NodeName) -> _Known:
        known = self._known.get((origin, node))
        if known is None:
            known = self._known[origin, node] = _Known()
            self._pulses.setdefault(node, {})[origin] = known.pulse
        return known

    def _is_repeat(
        self, known: _Known, second: int, values: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    ) -> bool:
        said = values.tobytes()
        if said != known.said:
            known.said, known.changed_at = said, second
        elif (
            second - known.changed_at < self._limit_seconds
            and np.count_nonzero(values == values) >= _LEAST_VALUES  # NaN is not itself
        ):
            return True
        known.pulse.beat(second)
        return False


def _gauges(table: Table) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The values that are compared, one row a GPU."""
    columns = [values for metric, values in table.columns.items() if not metric.endswith(_RATE)]
    if not columns:
        return np.empty((len(table.nodes), 0))
    return np.array(columns, dtype=np.float64).T.copy()


def _blocks(nodes: Sequence[NodeName]) -> Iterator[tuple[NodeName, int, int]]:
    """Each node with the range of its rows, which stand together."""
    start = 0
    for node, rows in groupby(nodes):
        end = start + sum(1 for _ in rows)
        yield node, start, end
        start = end
