"""GPUs that are no longer reported while the other GPUs of their node are: fallen off the bus.

An exporter that is restarted or not reached loses all cards of its node at once, which says nothing
about any of them. One card that is missing among its siblings says much: so evidence adds up with
each slot in which it is, and goes down by more than rows get lost in this job anyway. A single
slot counts for nothing: at the edge of two seconds rows fall into the one or the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.finding import Finding, moment
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, NodeName, Window

_ENOUGH_SECONDS = 8.0
_FEWEST_SLOTS = 3.0
_ALLOWANCE = 0.1
"""A card that is missing in less than one of ten slots is none that is lost."""
_LOST_ROWS_FOLD = 2.0
_MEMORY_SLOTS = 120.0
BACK_SECONDS = 60.0
_CONFIDENCE = 0.95
_ONE = ("row",)


class _Field(IntEnum):
    EVIDENCE = 0
    """In slots."""
    SINCE = 1
    """When the evidence began."""
    HEARD = 2
    """The newest second; 0: never."""
    PRESENT = 3
    """Slots in a row; 0 from the first on in which it is missing."""


@dataclass(slots=True)
class _Siblings:
    """The GPUs of each node, which are neighbours among the rows."""

    rows: tuple[EntityKey, ...]
    starts: list[int] = field(init=False)
    sizes: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        rows = self.rows
        changes = (at for at, row in enumerate(rows) if at == 0 or row.node != rows[at - 1].node)
        self.starts = list(changes)
        self.sizes = np.diff([*self.starts, len(rows)])

    def are_there(self, here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of which rows at least half of the others on the same node are there."""
        others = np.repeat(self.sizes, self.sizes) - 1
        told = np.add.reduceat(here.astype(np.intp), self.starts)
        heard = np.repeat(told, self.sizes) - here
        found: NDArray[np.bool_] = (others > 0) & (heard > 0) & (2 * heard >= others)
        return found


class Missing(NamedTuple):
    """A card that is missing among its siblings."""

    row: EntityKey
    seconds: float
    """That count, less what rows get lost anyway."""
    needed_seconds: float
    since: int


def _level_slots(slot_seconds: int) -> float:
    """In so many slots a card has to be missing."""
    return max(_ENOUGH_SECONDS / slot_seconds, _FEWEST_SLOTS)


@dataclass(slots=True)
class LostCards:
    """Follows the rows of a job's GPUs."""

    memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))
    siblings: _Siblings = field(default_factory=lambda: _Siblings(()))
    lost_share: float = 0.0
    """How many rows are missing among their siblings, in this job."""

    def look(self, window: Window, generation: int) -> Iterator[Finding]:
        """The cards that the newest slot decides about."""
        if not window.rows:
            return
        self.memory.arrange(window.rows, _ONE)
        if window.rows is not self.siblings.rows:
            self.siblings = _Siblings(window.rows)
        here: NDArray[np.bool_] = window.observed.T[-1].any(axis=0)
        judged = self.siblings.are_there(here) & (self.memory.line(_Field.HEARD) > 0)
        self._note(here, judged, window)
        level = _level_slots(window.slot_seconds)
        evidence = self.memory.line(_Field.EVIDENCE)
        np.minimum(evidence, 2 * level, out=evidence)
        for at in np.flatnonzero((evidence >= level) & judged & ~here).tolist():
            since = int(self.memory.line(_Field.SINCE)[at])
            yield _finding(window.rows[at], since, window.last_second, generation)

    def missing_of(self, node: NodeName, slot_seconds: int) -> Iterator[Missing]:
        """The node's cards that are missing among their siblings, and for how long that counts."""
        for at, row in enumerate(self.siblings.rows):
            evidence = float(self.memory.line(_Field.EVIDENCE)[at])
            if row.node == node and evidence > 0:
                since = int(self.memory.line(_Field.SINCE)[at])
                level = _level_slots(slot_seconds) * slot_seconds
                yield Missing(row, evidence * slot_seconds, level, since)

    def is_back(self, row: EntityKey, slot_seconds: int) -> bool:
        """Whether the card has long been reported again."""
        if row not in self.memory.rows:
            return False
        present = self.memory.line(_Field.PRESENT)[self.memory.rows.index(row)]
        return bool(present * slot_seconds >= BACK_SECONDS)

    def _note(self, here: NDArray[np.bool_], judged: NDArray[np.bool_], window: Window) -> None:
        memory, second = self.memory, window.last_second
        evidence, since = memory.line(_Field.EVIDENCE), memory.line(_Field.SINCE)
        missing = judged & ~here & (memory.line(_Field.PRESENT) == 0)
        since[missing & (evidence <= 0)] = second
        allowance = min(_ALLOWANCE + _LOST_ROWS_FOLD * self.lost_share, 0.9)
        gain = np.where(missing, 1.0 - allowance, -allowance)
        np.maximum(evidence + np.where(judged, gain, 0.0), 0.0, out=evidence)
        usual = judged & (evidence < _FEWEST_SLOTS)
        if usual.any():
            share = np.count_nonzero(missing & usual) / np.count_nonzero(usual)
            self.lost_share += (share - self.lost_share) / _MEMORY_SLOTS
        memory.line(_Field.HEARD)[here] = second
        present = memory.line(_Field.PRESENT)
        present[here] += 1
        present[~here] = 0


def _finding(row: EntityKey, since: int, second: int, generation: int) -> Finding:
    begun = moment(since)
    return Finding(
        node=row.node,
        rank=None,
        generation=generation,
        fault=Fault.GPU_CARD_DROP,
        phase=Phase.FAILED,
        tier=Tier.KNOWN_ERROR,
        confidence=_CONFIDENCE,
        onset=begun,
        detected_at=moment(second),
        summary=f"GPU {row.index} of {row.node} is no longer reported, while the other GPUs of the"
        f" node are, for {second - since + 1} s",
        candidates=(Candidate(row.node, 1.0),),
        evidence=(Evidence("gpu_lost", 1.0, 0.0, 0.0, begun),),
        gpu=row.index,
    )
