"""Signs of life of a job's ranks and nodes, as they arrive and without waiting for late ones.

Its frontiers are not `JobWindows.frontier()`: that one moves with everything a live node sends,
spares and operating systems included. Silence is measured against heart-beats alone, and against
those of the others alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.ended_silences import EndedSilences
from paramedic.diagnosis.pulses import Pulses
from paramedic.diagnosis.seats import Seats
from paramedic.ingest.contract import Entity, NodeName

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Table, TelemetryBatch

_SAMPLES_KEPT = 64
_GAPS_KEPT = 15
_FEWEST_GAPS = 3
"""So many steps have to be seen before it is known how long one takes."""
_NAN = float("nan")


class ProcessSample(NamedTuple):
    """What the operating system said of a node's process in one second; NaN where it did not."""

    second: int
    stopped: float
    cpu_ratio: float


@dataclass(frozen=True, slots=True)
class Hearing:
    """When anything newer than before last came of a node."""

    second: int
    """The job's time then."""
    round: int
    """How often its peers had spoken by then."""


@dataclass(slots=True)
class Liveness:
    """Every rank's pulse and every node's newest samples."""

    clock_tolerance_seconds: int
    pulses: Pulses = field(default_factory=lambda: Pulses(Seats()))
    samples: dict[NodeName, deque[ProcessSample]] = field(default_factory=dict)
    heard: dict[NodeName, Hearing] = field(default_factory=dict)
    """Of each node with samples."""
    ended: EndedSilences = field(default_factory=EndedSilences)
    """Silences of nodes that they have come back from."""
    round: int = 0
    """Goes up when half of the others have spoken again: what piles up of one node is one turn."""
    step_gaps: deque[int] = field(default_factory=lambda: deque(maxlen=_GAPS_KEPT))
    """Seconds between the newest steps of the job."""
    stepped_at: int = 0
    """When the newest was made."""
    _cards_heard: dict[NodeName, int] = field(default_factory=dict)
    """The newest second in which cards of a node were heard."""
    _spoken: set[NodeName] = field(default_factory=set)
    """Who has spoken in this round."""
    _frontiers: dict[Entity, int | None] = field(default_factory=dict)
    """As far as they are known of what has been heard."""

    def observe(self, batch: TelemetryBatch, departed: Collection[NodeName]) -> None:
        """Take the signs of life out of a batch; what comes late of departed nodes is none."""
        for table in batch.tables:
            if table.entity is Entity.RANK and table.indices is not None:
                self._take_ranks(table, batch, departed)
                self._frontiers.clear()
            elif table.entity is Entity.NODE:
                self._take_nodes(table, batch.second, departed)
                self._frontiers.clear()
            elif table.entity is Entity.GPU:
                self._take_cards(table, batch.second)

    @property
    def knows_steps(self) -> bool:
        """Whether enough steps were seen to say how long one takes."""
        return len(self.step_gaps) >= _FEWEST_GAPS

    @property
    def usual_step_seconds(self) -> float:
        """How long a step takes that is none of the quick ones; 0 before there were any."""
        gaps = sorted(self.step_gaps)
        return float(gaps[3 * len(gaps) // 4]) if gaps else 0.0

    def forget(self, node: NodeName) -> None:
        """The node has left."""
        self.samples.pop(node, None)
        self.heard.pop(node, None)
        self._cards_heard.pop(node, None)
        self.pulses.forget(node)
        self._frontiers.clear()

    def beat_frontier(self) -> int | None:
        """The newest second that half of a silent rank's peers have beaten in."""
        if Entity.RANK not in self._frontiers:
            self._frontiers[Entity.RANK] = _reached_by_half(self.pulses.beaten_seconds)
        return self._frontiers[Entity.RANK]

    def node_frontier(self) -> int | None:
        """The newest second that half of a silent node's peers have a sample of."""
        if Entity.NODE not in self._frontiers:
            members = self.pulses.seats.nodes
            newest = [
                kept[-1].second for node, kept in self.samples.items() if node in members and kept
            ]
            self._frontiers[Entity.NODE] = _reached_by_half(np.array(newest, np.float64))
        return self._frontiers[Entity.NODE]

    def ranks_reached(self) -> int | None:
        """`beat_frontier`, or what the only rank has reached."""
        beaten = self.pulses.beaten_seconds
        return int(beaten[0]) if beaten.size == 1 else self.beat_frontier()

    def nodes_reached(self) -> int | None:
        """`node_frontier`, or what the only rank's node has reached."""
        if len(self.pulses) != 1:
            return self.node_frontier()
        (node,) = self.pulses.seats.nodes
        kept = self.samples.get(node)
        return kept[-1].second if kept else None

    def newest_progress(self) -> int | None:
        """The last second in which any rank made a step."""
        return self.pulses.newest_progress()

    def _take_ranks(
        self, table: Table, batch: TelemetryBatch, departed: Collection[NodeName]
    ) -> None:
        frontier = self.beat_frontier()
        second = self._heard_at(batch.second, frontier)
        now = frontier or second
        if self.pulses.take(table, batch.generation, second, now, departed):
            self._count_step(second)

    def _count_step(self, second: int) -> None:
        if second > self.stepped_at:
            if self.stepped_at:
                self.step_gaps.append(second - self.stepped_at)
            self.stepped_at = second

    def _take_nodes(self, table: Table, batch_second: int, departed: Collection[NodeName]) -> None:
        second, hearing = self._hearing(batch_second)
        for node, stopped, cpu in _rows(table, "process_stopped", "cpu_utilization_ratio"):
            if node in departed:
                continue
            kept = self.samples.get(node)
            if kept is None:
                kept = self.samples[node] = deque(maxlen=_SAMPLES_KEPT)
            if not kept or kept[-1].second < second:
                kept.append(ProcessSample(second, stopped, cpu))
                self._hear(node, hearing)
                self._spoken.add(node)
        if 2 * len(self._spoken) >= max(len(self.heard) - 1, 1):
            self.round += 1
            self._spoken.clear()

    def _take_cards(self, table: Table, batch_second: int) -> None:
        """Whose cards are heard is not silent, whoever reads them."""
        second, hearing = self._hearing(batch_second)
        for node in set(table.nodes):
            if node in self.heard and self._cards_heard.get(node, -1) < second:
                self._cards_heard[node] = second
                self._hear(node, hearing)

    def _hearing(self, batch_second: int) -> tuple[int, Hearing]:
        """Of when a batch speaks, and as what it is heard of a node."""
        frontier = self.node_frontier()
        second = self._heard_at(batch_second, frontier)
        return second, Hearing(max(second, frontier or second), self.round)

    def _hear(self, node: NodeName, hearing: Hearing) -> None:
        before = self.heard.get(node)
        if before is not None and hearing.second - before.second > 1:
            self.ended.note(hearing.second - before.second, hearing.second)
        self.heard[node] = hearing

    def _heard_at(self, second: int, frontier: int | None) -> int:
        """The job's time at which a sample was heard, for nodes whose clock is far behind."""
        if frontier is None or second >= frontier - self.clock_tolerance_seconds:
            return second
        return frontier


def _rows(table: Table, first: str, second: str) -> Iterator[tuple[NodeName, float, float]]:
    """Node and two metrics of each row; NaN where a metric is not there."""
    absent = (_NAN,) * len(table.nodes)
    columns = (table.columns.get(first, absent), table.columns.get(second, absent))
    return zip(table.nodes, *columns, strict=True)


def _reached_by_half(seconds: NDArray[np.float64]) -> int | None:
    """The newest second that at least half of all but one have reached.

    The one that is left out is whichever lags: nobody is measured against itself.

    >>> [_reached_by_half(np.array(a)) for a in ([10.0, 9, 9, 3], [10.0, 3, 3, 3], [7.0])]
    [9, 3, None]
    """
    half = seconds.size // 2
    if not half:
        return None
    at = seconds.size - half
    return int(np.partition(seconds, at)[at])
