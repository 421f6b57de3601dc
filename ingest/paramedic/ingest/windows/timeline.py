"""Clocks and watermark together: where the rows of each node belong in time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.ingest.windows.clocks import ClocksSnapshot, NodeClocks
from paramedic.ingest.windows.counters import Fate
from paramedic.ingest.windows.watermark import Watermark, WatermarkSnapshot

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName
    from paramedic.ingest.windows.configuration import WindowConfig


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of one node in one batch belong."""

    second: int
    """After re-basing."""
    fate: Fate
    is_rebased: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of every node of a batch."""

    places: dict[NodeName, Place]
    begins_anew: bool
    """The second is so much older than all before that what was kept is of no use."""


@dataclass(frozen=True, slots=True)
class TimelineSnapshot:
    """The state of Timeline."""

    watermark: WatermarkSnapshot
    clocks: ClocksSnapshot


class Timeline:
    """Event time of one job."""

    def __init__(self, config: WindowConfig, snapshot: TimelineSnapshot | None = None) -> None:
        self.watermark = Watermark(config, snapshot.watermark if snapshot else None)
        self.clocks = NodeClocks(config, snapshot.clocks if snapshot else None)

    def snapshot(self) -> TimelineSnapshot:
        """A copy of the state."""
        return TimelineSnapshot(self.watermark.snapshot(), self.clocks.snapshot())

    def place(self, nodes: Collection[NodeName], second: int, arrived_seconds: float) -> Placement:
        """Hear that these live nodes state a second, move the watermark, and place their rows."""
        if not nodes:
            return Placement({}, begins_anew=False)
        doubted = self.clocks.hear(nodes, second, arrived_seconds)
        shifts = self.clocks.shifts()
        seconds = {node: second + shifts.get(node, 0) for node in nodes}
        believed = [at for node, at in seconds.items() if node not in doubted]
        begins_anew = bool(believed) and self.watermark.begin_at(min(believed))
        self.watermark.follow(self.clocks.head(), arrived_seconds)
        fates = {at: self._fate(at) for at in set(seconds.values())}
        places = {
            node: Place(at, Fate.AHEAD if node in doubted.ahead else fates[at], node in shifts)
            for node, at in seconds.items()
        }
        return Placement(places, begins_anew)

    def advance(self, now_seconds: float) -> tuple[list[int], int]:
        """Newly closed seconds, and how many are left out (see Watermark.take_closed)."""
        self.watermark.follow(self.clocks.head(), now_seconds)
        self.watermark.pass_time(now_seconds)
        return self.watermark.take_closed()

    def _fate(self, second: int) -> Fate:
        if self.watermark.is_late(second):
            return Fate.LATE
        return Fate.AHEAD if self.watermark.is_ahead(second) else Fate.ACCEPTED
