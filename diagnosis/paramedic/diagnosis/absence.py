"""A node whose telemetry has ceased while that of its peers comes: absence is a symptom.

GPU rows and host rows come from different exporters, so each kind is followed by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, NodeName, Window

_SLOTS_TO_BE_BACK = 3
_FEWEST_SLOTS = 3
_FEWEST_NODES = 3


@dataclass(frozen=True, slots=True)
class Absence:
    """A node that is not heard of."""

    node: NodeName
    kinds: tuple[Entity, ...]
    """What is missing."""
    since: int
    """The last second that was heard, or the first of what has ceased since."""
    second: int
    peers_heard: int


class _Field(IntEnum):
    HEARD = 0
    """The newest second; 0: never."""
    STREAK = 1
    """Slots in a row that were heard."""


_ONE = ("telemetry",)


@dataclass(slots=True)
class _Kind:
    """What is heard of the nodes by one kind of rows."""

    rows: tuple[EntityKey, ...] = ()
    starts: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    nodes: tuple[NodeName, ...] = ()
    memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    def hear(self, window: Window) -> None:
        """Take the newest slot in."""
        if window.rows is not self.rows:
            self._meet(window.rows)
        self.memory.arrange(self.nodes, _ONE)
        here = window.observed[:, :, -1].any(axis=1)
        seen = np.logical_or.reduceat(here, self.starts)
        self.heard[seen] = window.last_second
        streak = self.memory.line(_Field.STREAK)
        streak[seen] += 1
        streak[~seen] = 0

    @property
    def heard(self) -> NDArray[np.float64]:
        return self.memory.line(_Field.HEARD)

    def absent(self, second: int, timeout_seconds: float) -> dict[NodeName, int]:
        """Since when each node is not heard that most others are heard without."""
        age = second - self.heard
        present = np.count_nonzero(age < timeout_seconds / 2)
        if len(self.nodes) < _FEWEST_NODES or 2 * present <= len(self.nodes):
            return {}
        gone = (self.heard > 0) & (age >= timeout_seconds)
        return {self.nodes[at]: int(self.heard[at]) for at in np.flatnonzero(gone).tolist()}

    def is_back(self, node: NodeName) -> bool:
        """Whether the node is heard again, or never was by these rows."""
        if node not in self.nodes:
            return True
        at = self.nodes.index(node)
        streak = self.memory.line(_Field.STREAK)[at]
        return bool(self.heard[at] == 0 or streak >= _SLOTS_TO_BE_BACK)

    def _meet(self, rows: tuple[EntityKey, ...]) -> None:
        """Rows are sorted by node, so each node's are neighbours."""
        starts = [at for at, row in enumerate(rows) if at == 0 or row.node != rows[at - 1].node]
        self.rows, self.starts = rows, np.array(starts, np.intp)
        self.nodes = tuple(rows[at].node for at in starts)


class AbsenceWatch:
    """Follows which nodes of a job are heard of, slot by slot."""

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds
        self._kinds: dict[Entity, _Kind] = {}

    def judge(self, windows: Mapping[Entity, Window]) -> Iterator[Absence]:
        """The nodes that have been missing for the time-out."""
        missing: dict[NodeName, dict[Entity, int]] = {}
        second, present = 0, 0
        for entity, window in windows.items():
            if not window.rows:
                continue
            kind = self._kinds.setdefault(entity, _Kind())
            kind.hear(window)
            second = window.last_second
            timeout = max(self._timeout_seconds, _FEWEST_SLOTS * window.slot_seconds)
            gone = kind.absent(second, timeout)
            present = max(present, len(kind.nodes) - len(gone))
            for node, heard in gone.items():
                missing.setdefault(node, {})[entity] = heard
        for node, kinds in missing.items():
            yield Absence(node, tuple(kinds), max(kinds.values()), second, present)

    def is_back(self, node: NodeName) -> bool:
        """Whether the node is heard again in all that was heard of it before."""
        return all(kind.is_back(node) for kind in self._kinds.values())
