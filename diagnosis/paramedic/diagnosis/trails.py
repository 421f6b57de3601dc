"""The evidence against every rank by every symptom, as arrays over the ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.diagnosis.symptoms import SYMPTOMS
from paramedic.ingest.windows.row_places import stretch
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from paramedic.diagnosis.symptoms import Symptom

    Lines = NDArray[np.float64]

_SLOW_SLOT_UNDOES = 2
"""Noise makes one slot in six of a healthy rank look slow; a run without any would hardly come."""
LANES = tuple(symptom.metric for symptom in SYMPTOMS)
"""One trail a rank for each."""


class _Field(IntEnum):
    KNOWN = 0
    """1 as soon as the rank was observed."""
    SCORE = 1
    LEVEL = 2
    ONSET = 3
    HEALTHY = 4


class Seen(IntEnum):
    """What is seen of a rank in a slot, and of which a trail has the means."""

    VALUE = 0
    PEERS = 1
    DEVIATION = 2
    WAITING = 3
    WAITED = 4
    PEERS_WAITED = 5
    PEERS_STEP = 6


@dataclass(frozen=True, slots=True)
class Trail:
    """The evidence against one rank by one symptom, since it last stood at zero.

    Means are over the slots in which there was something; NaN where there was none.
    """

    symptom: Symptom
    score: float
    level: float
    """What would have decided in the newest slot."""
    onset_second: int
    healthy_slots: int
    """Slots without slowness; a slow one takes two of them back."""
    value: float
    peers: float
    deviation: float
    waiting: float
    """Deviation of the time in collectives over the same slots."""
    waited: float
    peers_waited: float
    peers_step_seconds: float
    """How long the whole step takes the peers, as far as they tell."""


@dataclass(slots=True)
class Trails:
    """All trails; a lane is one symptom's, by its place among all."""

    healthy_slots_kept: int
    cells: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))
    totals: CellMemory = field(default_factory=lambda: CellMemory(len(Seen)))
    counts: CellMemory = field(default_factory=lambda: CellMemory(len(Seen)))

    def arrange(self, rows: tuple[Hashable, ...]) -> None:
        """Bring the trails into this order of ranks."""
        for memory in (self.cells, self.totals, self.counts):
            memory.arrange(rows, LANES)

    def clear(self) -> None:
        """Nobody has a trail any more."""
        for memory in (self.cells, self.totals, self.counts):
            memory.cells[:] = 0.0

    @property
    def known(self) -> NDArray[np.bool_]:
        """Who has a trail, (lane, rank)."""
        return self.cells[_Field.KNOWN] > 0

    @property
    def scores(self) -> Lines:
        """(lane, rank)."""
        return self.cells[_Field.SCORE]

    @property
    def decides(self) -> NDArray[np.bool_]:
        """Whose evidence is at the level, (lane, rank)."""
        return self.known & (self.scores >= self.cells[_Field.LEVEL])

    @property
    def strengths(self) -> Lines:
        """The evidence as a share of what decides, (lane, rank)."""
        levels = self.cells[_Field.LEVEL]
        strengths: Lines = np.where(levels > 0, self.scores / np.maximum(levels, 1.0), 0.0)
        return strengths

    @property
    def healthy_slots(self) -> Lines:
        """(lane, rank)."""
        return self.cells[_Field.HEALTHY]

    def add(
        self,
        lane: int,
        ranks: NDArray[np.intp],
        increments: Lines,
        levels: Lines,
        seen: Lines,
        second: int,
    ) -> Lines:
        """Add a slot to the trails of these ranks, of which `seen` is (what, rank).

        Returns their scores.
        """
        lines = self.cells.cells[:, lane]
        before = lines[_Field.SCORE, ranks]
        change = np.where(increments <= 0, 1.0, -_SLOW_SLOT_UNDOES)
        healthy = lines[_Field.HEALTHY, ranks] + change
        begun = (before == 0.0) & (increments > 0)
        # Twice the level is kept at most, so that a rank that recovers is clear in finite time.
        score: Lines = np.minimum(2 * levels, np.maximum(before + increments, 0.0))
        lines[_Field.KNOWN, ranks] = 1.0
        lines[_Field.SCORE, ranks] = score
        lines[_Field.LEVEL, ranks] = levels
        lines[_Field.ONSET, ranks[begun]] = second
        lines[_Field.HEALTHY, ranks] = np.clip(healthy, 0.0, self.healthy_slots_kept)
        self._take(lane, ranks, begun, seen)
        return score

    def trail(self, lane: int, rank: int) -> Trail:
        """The trail of one rank as it stands."""
        one = self.cells.cells[:, lane, rank]
        totals, counts = self.totals.cells[:, lane, rank], self.counts.cells[:, lane, rank]
        means: list[Any] = np.where(counts > 0, totals / np.maximum(counts, 1.0), np.nan).tolist()
        return Trail(
            SYMPTOMS[lane],
            float(one[_Field.SCORE]),
            float(one[_Field.LEVEL]),
            int(one[_Field.ONSET]),
            int(one[_Field.HEALTHY]),
            *means,
        )

    def _take(
        self, lane: int, ranks: NDArray[np.intp], begun: NDArray[np.bool_], seen: Lines
    ) -> None:
        totals, counts = self.totals.cells[:, lane], self.counts.cells[:, lane]
        totals[:, ranks[begun]] = counts[:, ranks[begun]] = 0.0
        is_there, here = ~np.isnan(seen), stretch(ranks)
        totals[:, here] += np.where(is_there, seen, 0.0)
        counts[:, here] += is_there
