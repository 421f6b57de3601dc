"""The heart-beats and the progress of every rank of a job, as arrays over the ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.ended_silences import EndedSilences
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from paramedic.diagnosis.seats import Seats
    from paramedic.ingest.contract import NodeName, Table

    Lines = NDArray[np.float64]
    Places = NDArray[np.intp]

_ONE_LOST = 2
"""Two beats this many seconds apart follow each other: one between them may be lost."""
_ONE = ("pulse",)


class _Field(IntEnum):
    BEATS = 0
    IN_A_ROW = 1
    LAST = 2
    INTERVAL = 3
    GAP = 4
    HEARD_AT = 5
    TOLD = 6
    """The largest value of `heartbeat`."""
    STEP = 7
    PROGRESSED = 8


_NEWCOMER = {_Field.INTERVAL: 1.0, _Field.GAP: 1.0, _Field.STEP: -math.inf}
_NEVER = 0.0
"""Nobody has made a step in this second."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """The heart-beats and the progress of one rank."""

    node: NodeName
    rank: int
    generation: int
    beats: int
    in_a_row: int
    """Beats since the last hole of more than two seconds."""
    last_second: int
    interval_seconds: int
    """Between beats: the shorter of the two newest gaps, so that one hole changes nothing."""
    heard_at: int
    """What the job's time was when the last beat came, which may be older than that: what comes
    over a slow link comes late, and is a sign of life all the same."""
    step: float
    progressed_second: int | None
    """When the step last grew."""


@dataclass(slots=True)
class Pulses:
    """Everybody's, in the order in which the ranks came."""

    seats: Seats
    cells: CellMemory = field(default_factory=lambda: CellMemory(len(_Field), metrics=_ONE))
    ended: EndedSilences = field(default_factory=EndedSilences)
    """By ranks that beat again."""
    _reached: float = -math.inf
    """The highest step of this generation."""
    _generation: int = -1
    _begun: int = 0
    """When the generation began: a silence of before has another reason."""

    def __len__(self) -> int:
        return len(self.seats)

    def __iter__(self) -> Iterator[Pulse]:
        return map(self._pulse, range(len(self)))

    def take(
        self,
        table: Table,
        generation: int,
        second: int,
        job_second: int,
        departed: Collection[NodeName],
    ) -> bool:
        """Take the rank rows of a second in; `job_second` is what the job's time is.

        Returns whether any rank has made a step that none had made before: who tells of a step
        late, as its samples were lost, makes no other one.
        """
        plan = self.seats.plan(table, generation, departed)
        self._meet()
        if generation > self._generation:
            self._generation, self._begun, self._reached = generation, job_second, -math.inf
        beats, steps = _column(table, "heartbeat"), _column(table, "step")
        has_stepped = False
        for rows, places in plan.turns:
            self._beat(places, beats[rows], second, job_second)
            has_stepped |= self._reach(places, steps[rows], second)
        return has_stepped

    def forget(self, node: NodeName) -> None:
        """The node has left."""
        self.seats.forget(node)
        self._meet()

    @property
    def beaten_seconds(self) -> Lines:
        """The last beat of each rank that has beaten."""
        return self._line(_Field.LAST)[self._line(_Field.BEATS) > 0]

    def steady(self, beats: int) -> int:
        """How many have beaten so often."""
        return int(np.count_nonzero(self._line(_Field.BEATS) >= beats))

    def newest_progress(self) -> int | None:
        """The last second in which any rank made a step."""
        newest = self._line(_Field.PROGRESSED).max(initial=_NEVER)
        return None if newest == _NEVER else int(newest)

    def highest_step(self) -> float:
        """Of all ranks, of which there is at least one."""
        return float(self._line(_Field.STEP).max())

    def silent(self, now: int, seconds: float, beats: int) -> list[Pulse]:
        """Who has beaten so often, and was not heard for so long."""
        is_silent = now - self._line(_Field.HEARD_AT) >= seconds
        enough = self._line(_Field.BEATS) >= beats
        return [self._pulse(at) for at in np.flatnonzero(is_silent & enough).tolist()]

    def count_silent(self, now: int, seconds: float, intervals: float) -> tuple[int, int]:
        """How many were not heard for so long, and for so many of their intervals; and of whom."""
        has_beaten = self._line(_Field.BEATS) > 0
        timeout = np.maximum(seconds, intervals * self._line(_Field.INTERVAL))
        is_silent = has_beaten & (now - self._line(_Field.HEARD_AT) >= timeout)
        return int(np.count_nonzero(is_silent)), int(np.count_nonzero(has_beaten))

    def longest_silent(self, most: int) -> list[Pulse]:
        """Who beat the longest ago, the longest first."""
        order = np.lexsort((np.array(self.seats.ranks), self._line(_Field.LAST)))
        return [self._pulse(at) for at in order[:most].tolist()]

    def of_rank(self, rank: int | None) -> Pulse | None:
        """The pulse of a rank, if it has one."""
        at = None if rank is None else self.seats.places.get(rank)
        return None if at is None else self._pulse(at)

    def _line(self, which: _Field) -> Lines:
        return self.cells.line(which)

    def _pulse(self, at: int) -> Pulse:
        rank, seat = self.seats.at(at)
        whole = {one: int(self.cells.cells[one, 0, at]) for one in _WHOLE}
        progressed = whole[_Field.PROGRESSED]
        return Pulse(
            node=seat.node,
            rank=rank,
            generation=seat.generation,
            beats=whole[_Field.BEATS],
            in_a_row=whole[_Field.IN_A_ROW],
            last_second=whole[_Field.LAST],
            interval_seconds=whole[_Field.INTERVAL],
            heard_at=whole[_Field.HEARD_AT],
            step=float(self.cells.cells[_Field.STEP, 0, at]),
            progressed_second=None if progressed == _NEVER else progressed,
        )

    def _meet(self) -> None:
        """Follow who sits where."""
        self.cells.arrange(self.seats.ranks, _ONE)
        for rank in self.seats.take_newcomers():
            at = self.seats.places[rank]
            self.cells.cells[:, 0, at] = [_NEWCOMER.get(one, 0.0) for one in _Field]
        for rank in self.seats.take_renewed():
            self.cells.cells[_Field.STEP, 0, self.seats.places[rank]] = -math.inf

    def _beat(self, places: Places, told: Lines, second: int, job_second: int) -> None:
        """Only what is new counts: a count or a time has to grow, and so has the second."""
        lines = self.cells.cells[:, 0]
        before, beats, last = (
            lines[one, places] for one in (_Field.TOLD, _Field.BEATS, _Field.LAST)
        )
        lines[_Field.TOLD, places] = np.fmax(before, told)
        is_beat = (told > 0) & ((told <= 1) | (told > before))
        is_new = is_beat & ((beats == 0) | (second > last))
        who, is_first, gap = places[is_new], beats[is_new] == 0, second - last[is_new]
        self._end_silence(lines[_Field.HEARD_AT, who[~is_first]], job_second)
        gap_before = lines[_Field.GAP, who]
        shorter = np.where(is_first, lines[_Field.INTERVAL, who], np.minimum(gap, gap_before))
        follows = ~is_first & (gap <= _ONE_LOST)
        lines[_Field.INTERVAL, who] = shorter
        lines[_Field.GAP, who] = np.where(is_first, gap_before, gap)
        lines[_Field.IN_A_ROW, who] = np.where(follows, lines[_Field.IN_A_ROW, who] + 1, 1.0)
        lines[_Field.BEATS, who] += 1
        lines[_Field.LAST, who], lines[_Field.HEARD_AT, who] = second, max(second, job_second)

    def _end_silence(self, heard_at: Lines, job_second: int) -> None:
        """Who beats now was not heard since then, and its peers went on: it was silent and lived.

        What was silent when the generation began has another reason.
        """
        longest = int(job_second - max(heard_at.min(initial=job_second), self._begun))
        if longest > _ONE_LOST:
            self.ended.note(longest, job_second)

    def _reach(self, places: Places, steps: Lines, second: int) -> bool:
        lines = self.cells.cells[:, 0]
        grew = steps > lines[_Field.STEP, places]
        who = places[grew]
        lines[_Field.STEP, who], lines[_Field.PROGRESSED, who] = steps[grew], second
        before, self._reached = self._reached, float(steps[grew].max(initial=self._reached))
        return self._reached > before


_WHOLE = tuple(one for one in _Field if one not in (_Field.STEP, _Field.TOLD))


def _column(table: Table, metric: str) -> Lines:
    """NaN where a metric is not there."""
    column = table.columns.get(metric)
    if column is None:
        return np.full(len(table.nodes), np.nan)
    return np.asarray(column, np.float64)
