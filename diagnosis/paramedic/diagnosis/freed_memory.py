"""Processes that nobody saw end: the memory of their GPU is free while that of the others is not.

Contexts are what a process holds of a card as long as it lives, so a card that has given back nine
tenths of its memory at once has lost its process. While the job works on, somebody may have meant
it; when most have given theirs back, the job is over, and that tells nothing of anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.exits import Ending
from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import Event, EventKind
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from collections.abc import Collection

    from paramedic.ingest.contract import NodeName, Window

METRIC = "gpu_memory_used_bytes"
_FREE_SHARE = 0.1
_HELD_SHARE = 0.5
_LEAST_BYTES = 4e9
"""Jobs that hold less than this of a card cannot be told from drivers."""
_ENOUGH_SECONDS = 3
_ONE = ("memory",)


class _Field(IntEnum):
    HELD = 0
    """The most bytes that were used."""
    FREE = 1
    """Slots in a row in which it was free."""
    SINCE = 2
    """The first of these."""


@dataclass(slots=True)
class FreedMemory:
    """Follows the memory of a job's GPUs."""

    memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    def look(
        self, window: Window, generation: int, departed: Collection[NodeName]
    ) -> Iterator[Ending]:
        """The ends that the newest slot shows."""
        if METRIC not in window.metrics:
            return
        self.memory.arrange(window.rows, _ONE)
        at = window.metrics.index(METRIC)
        here, used = window.observed[:, at, -1], window.values[:, at, -1]
        held, free = self.memory.line(_Field.HELD), self.memory.line(_Field.FREE)
        held[here] = np.maximum(held[here], used[here])
        known = here & (held >= _LEAST_BYTES)
        is_free = known & (used < _FREE_SHARE * held)
        self.memory.line(_Field.SINCE)[is_free & (free == 0)] = window.last_second
        free[is_free] += 1
        free[here & ~is_free] = 0
        most_hold = 2 * np.count_nonzero(known & (used >= _HELD_SHARE * held)) > len(window.rows)
        enough = max(2, _ENOUGH_SECONDS // window.slot_seconds)
        for row in np.flatnonzero(is_free & (free >= enough)).tolist() if most_hold else ():
            if window.rows[row].node not in departed:
                yield self._ending(window, row, generation)

    def _ending(self, window: Window, row: int, generation: int) -> Ending:
        since = int(self.memory.line(_Field.SINCE)[row])
        key = window.rows[row]
        told = {"seen_in": METRIC}
        event = Event(
            moment(since), EventKind.PROCESS_EXIT, window.job, key.node, key.index, None,
            generation, told,
        )  # fmt: skip
        return Ending(key.node, generation, event)
