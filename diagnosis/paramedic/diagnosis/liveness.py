"""Signs of life of a job's ranks and nodes, as they arrive and without waiting for late ones.

Its frontiers are not `JobWindows.frontier()`: that one moves with everything a live node sends,
spares and operating systems included. Silence is measured against heart-beats alone, and against
those of the others alone.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Entity, NodeName

if TYPE_CHECKING:
    from paramedic.ingest.contract import Table, TelemetryBatch

_SAMPLES_KEPT = 64
_GAPS_KEPT = 15
_ONE_LOST = 2
"""Two beats this many seconds apart follow each other: one between them may be lost."""
_NAN = float("nan")


@dataclass(slots=True)
class Pulse:
    """The heart-beats and the progress of one rank."""

    node: NodeName
    rank: int
    generation: int
    beats: int = 0
    in_a_row: int = 0
    """Beats since the last hole of more than two seconds."""
    last_second: int = 0
    interval_seconds: int = 1
    """Between beats: the shorter of the two newest gaps, so that one hole changes nothing."""
    gap_seconds: int = 1
    """The newest gap."""
    heard_at: int = 0
    """What the job's time was when the last beat came, which may be older than that: what comes
    over a slow link comes late, and is a sign of life all the same."""
    told: float = 0.0
    """The largest value of `heartbeat`."""
    step: float = -math.inf
    progressed_second: int | None = None
    """When the step last grew."""

    def is_beat(self, told: float) -> bool:
        """Whether this value of `heartbeat` tells of a new one: a count or a time has to grow."""
        is_new = told > 0 and (told <= 1 or told > self.told)
        self.told = max(self.told, told)
        return is_new

    def beat(self, second: int, job_second: int) -> None:
        """A heart-beat of this second came; older and repeated ones change nothing."""
        if self.beats and second <= self.last_second:
            return
        self.heard_at = max(second, job_second)
        if self.beats:
            gap = second - self.last_second
            self.interval_seconds, self.gap_seconds = min(gap, self.gap_seconds), gap
        follows = self.beats and second - self.last_second <= _ONE_LOST
        self.in_a_row = self.in_a_row + 1 if follows else 1
        self.beats += 1
        self.last_second = second

    def enter(self, generation: int) -> None:
        """In a newer generation steps may be done again."""
        if generation > self.generation:
            self.generation = generation
            self.step = -math.inf

    def reach(self, step: float, second: int) -> None:
        """The rank reported this step."""
        if step > self.step:
            self.step = step
            self.progressed_second = second


@dataclass(frozen=True, slots=True)
class ProcessSample:
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
    pulses: dict[int, Pulse] = field(default_factory=dict)
    samples: dict[NodeName, deque[ProcessSample]] = field(default_factory=dict)
    heard: dict[NodeName, Hearing] = field(default_factory=dict)
    """Of each node with samples."""
    round: int = 0
    """Goes up when half of the others have spoken again: what piles up of one node is one turn."""
    step_gaps: deque[int] = field(default_factory=lambda: deque(maxlen=_GAPS_KEPT))
    """Seconds between the newest steps of the job."""
    stepped_at: int = 0
    """When the newest was made."""
    _spoken: set[NodeName] = field(default_factory=set)
    """Who has spoken in this round."""

    def observe(self, batch: TelemetryBatch, departed: Collection[NodeName]) -> None:
        """Take the signs of life out of a batch; what comes late of departed nodes is none."""
        for table in batch.tables:
            if table.entity is Entity.RANK and table.indices is not None:
                self._take_ranks(table, batch, departed)
            elif table.entity is Entity.NODE:
                self._take_nodes(table, batch.second, departed)

    @property
    def usual_step_seconds(self) -> float:
        """How long a step takes that is none of the quick ones; 0 before there were any."""
        gaps = sorted(self.step_gaps)
        return float(gaps[3 * len(gaps) // 4]) if gaps else 0.0

    def forget(self, node: NodeName) -> None:
        """The node has left."""
        self.samples.pop(node, None)
        self.heard.pop(node, None)
        self.pulses = {rank: p for rank, p in self.pulses.items() if p.node != node}

    def beat_frontier(self) -> int | None:
        """The newest second that half of a silent rank's peers have beaten in."""
        return _reached_by_half(p.last_second for p in self.pulses.values() if p.beats)

    def node_frontier(self) -> int | None:
        """The newest second that half of a silent node's peers have a sample of."""
        members = {pulse.node for pulse in self.pulses.values()}
        return _reached_by_half(
            kept[-1].second for node, kept in self.samples.items() if node in members and kept
        )

    def ranks_reached(self) -> int | None:
        """`beat_frontier`, or what the only rank has reached."""
        beaten = [p.last_second for p in self.pulses.values() if p.beats]
        return beaten[0] if len(beaten) == 1 else self.beat_frontier()

    def nodes_reached(self) -> int | None:
        """`node_frontier`, or what the only rank's node has reached."""
        if len(self.pulses) != 1:
            return self.node_frontier()
        kept = [self.samples.get(pulse.node) for pulse in self.pulses.values()]
        return kept[0][-1].second if kept[0] else None

    def newest_progress(self) -> int | None:
        """The last second in which any rank made a step."""
        return max(
            (p.progressed_second for p in self.pulses.values() if p.progressed_second is not None),
            default=None,
        )

    def _take_ranks(
        self, table: Table, batch: TelemetryBatch, departed: Collection[NodeName]
    ) -> None:
        frontier = self.beat_frontier()
        second = self._heard_at(batch.second, frontier)
        for node, rank, beat, step in _rows(table, "heartbeat", "step"):
            pulse = None if node in departed else self._pulse(node, rank, batch.generation)
            if pulse is None:
                continue
            if pulse.is_beat(beat):
                pulse.beat(second, frontier or second)
            pulse.reach(step, second)
            self._count_step(pulse.progressed_second)

    def _count_step(self, progressed: int | None) -> None:
        if progressed is not None and progressed > self.stepped_at:
            if self.stepped_at:
                self.step_gaps.append(progressed - self.stepped_at)
            self.stepped_at = progressed

    def _pulse(self, node: NodeName, rank: int, generation: int) -> Pulse | None:
        """The rank's pulse, a new one when a newer generation has put the rank elsewhere."""
        known = self.pulses.get(rank)
        if known is not None and known.node == node:
            known.enter(generation)
            return known
        if known is not None and known.generation >= generation:
            return None
        # The node carries other ranks than before: nobody beats for those it has given up.
        for given_up in [p.rank for p in self.pulses.values() if p.node == node]:
            if self.pulses[given_up].generation < generation:
                del self.pulses[given_up]
        self.pulses[rank] = Pulse(node, rank, generation)
        return self.pulses[rank]

    def _take_nodes(self, table: Table, batch_second: int, departed: Collection[NodeName]) -> None:
        frontier = self.node_frontier()
        second = self._heard_at(batch_second, frontier)
        for node, _, stopped, cpu in _rows(table, "process_stopped", "cpu_utilization_ratio"):
            if node in departed:
                continue
            kept = self.samples.setdefault(node, deque(maxlen=_SAMPLES_KEPT))
            if not kept or kept[-1].second < second:
                kept.append(ProcessSample(second, stopped, cpu))
                self._hear(node, max(second, frontier or second))
        if 2 * len(self._spoken) >= max(len(self.heard) - 1, 1):
            self.round += 1
            self._spoken.clear()

    def _hear(self, node: NodeName, second: int) -> None:
        self.heard[node] = Hearing(second, self.round)
        self._spoken.add(node)

    def _heard_at(self, second: int, frontier: int | None) -> int:
        """The job's time at which a sample was heard, for nodes whose clock is far behind."""
        if frontier is None or second >= frontier - self.clock_tolerance_seconds:
            return second
        return frontier


def _rows(table: Table, first: str, second: str) -> Iterator[tuple[NodeName, int, float, float]]:
    """Node, index and two metrics of each row; NaN where a metric is not there."""
    absent = (_NAN,) * len(table.nodes)
    indices = table.indices or (0,) * len(table.nodes)
    columns = (table.columns.get(first, absent), table.columns.get(second, absent))
    return zip(table.nodes, indices, *columns, strict=True)


def _reached_by_half(seconds: Iterable[int]) -> int | None:
    """The newest second that at least half of all but one have reached.

    The one that is left out is whichever lags: nobody is measured against itself.

    >>> _reached_by_half([10, 9, 9, 3]), _reached_by_half([10, 3, 3, 3]), _reached_by_half([7])
    (9, 3, None)
    """
    newest_first = sorted(seconds, reverse=True)
    half = len(newest_first) // 2
    return newest_first[half - 1] if half else None
