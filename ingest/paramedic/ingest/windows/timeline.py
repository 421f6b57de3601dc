"""Clocks and watermark together: where the rows of each node belong in time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.windows.clocks import ClocksSnapshot, NodeClocks
from paramedic.ingest.windows.counters import Fate
from paramedic.ingest.windows.shards import ShardProgress, ShardsSnapshot
from paramedic.ingest.windows.watermark import Watermark, WatermarkSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from paramedic.ingest.windows.clocks import Hearing
    from paramedic.ingest.windows.configuration import WindowConfig
    from paramedic.ingest.windows.crowd import Crowd


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of some nodes of a batch belong."""

    second: int
    """After re-basing."""
    fate: Fate
    is_rebased: bool = False
    members: NDArray[np.bool_] | None = None
    """Which nodes of the crowd are meant; None: all of them."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The places of the nodes of a batch; every node is in one of them."""

    places: tuple[Place, ...]
    begins_anew: bool
    """The second is so much older than all before that what was kept is of no use."""


@dataclass(frozen=True, slots=True)
class TimelineSnapshot:
    """The state of Timeline."""

    watermark: WatermarkSnapshot
    clocks: ClocksSnapshot
    shards: ShardsSnapshot = field(default_factory=ShardsSnapshot)


class Timeline:
    """Event time of one job."""

    def __init__(self, config: WindowConfig, snapshot: TimelineSnapshot | None = None) -> None:
        self._config = config
        self.watermark = Watermark(config, snapshot.watermark if snapshot else None)
        self.clocks = NodeClocks(config, snapshot.clocks if snapshot else None)
        self._shards = ShardProgress(
            config.shard_patience_seconds, snapshot.shards if snapshot else None
        )

    def snapshot(self) -> TimelineSnapshot:
        """A copy of the state."""
        return TimelineSnapshot(
            self.watermark.snapshot(), self.clocks.snapshot(), self._shards.snapshot()
        )

    def place(
        self,
        crowd: Crowd,
        second: int,
        arrived_seconds: float,
        shard: int = 0,
        shards: int = 1,
    ) -> Placement:
        """Hear that these live nodes state a second, move the watermark, and place their rows.

        The nodes are of this shard of so many.
        What is placed is the slot that the second lies in, by its first second.
        """
        if not crowd.nodes:
            return Placement((), begins_anew=False)
        second = self._config.on_grid(second)
        hearing = self.clocks.hear(crowd, second, arrived_seconds)
        oldest = _oldest_believed(hearing, len(crowd.nodes), second)
        begins_anew = oldest is not None and self.watermark.begin_at(oldest)
        is_news = oldest is not None and self._shards.hear(shard, shards, oldest)
        self.watermark.follow(self._head(), arrived_seconds, is_news)
        places = self._places(hearing, len(crowd.nodes), second)
        return Placement(tuple(places), begins_anew)

    def advance(self, now_seconds: float, newest: int | None = None) -> tuple[list[int], int]:
        """Newly closed seconds, and how many are left out (see Watermark.take_closed).

        Silence closes no second after the `newest`, where one is given.
        """
        self.watermark.follow(self._head(), now_seconds)
        self.watermark.pass_time(now_seconds, newest)
        return self.watermark.take_closed()

    def _head(self) -> int | None:
        head = self.clocks.head()
        return None if head is None else self._shards.bounded(head)

    def _places(self, hearing: Hearing, nodes: int, second: int) -> Iterator[Place]:
        if hearing.is_plain:
            yield Place(second, self._fate(second))
            return
        shifts, ahead = _known(hearing, nodes)
        for shift in np.unique(shifts).tolist():
            for is_ahead in (False, True):
                members = (shifts == shift) & (ahead == is_ahead)
                if members.any():
                    fate = Fate.AHEAD if is_ahead else self._fate(second + shift)
                    yield Place(second + shift, fate, shift != 0, members)

    def _fate(self, second: int) -> Fate:
        if self.watermark.is_late(second):
            return Fate.LATE
        return Fate.AHEAD if self.watermark.is_ahead(second) else Fate.ACCEPTED


def _known(hearing: Hearing, nodes: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Shift of each node and whether its clock is ahead, with nothing in place of None."""
    shifts, ahead = hearing.shifts, hearing.ahead
    return (
        np.zeros(nodes, np.int64) if shifts is None else shifts,
        np.zeros(nodes, np.bool_) if ahead is None else ahead,
    )


def _oldest_believed(hearing: Hearing, nodes: int, second: int) -> int | None:
    """The oldest second, after re-basing, that a node states whose clock is not doubted."""
    if hearing.is_plain:
        return second
    shifts, ahead = _known(hearing, nodes)
    believed = shifts[~ahead if hearing.behind is None else ~(ahead | hearing.behind)]
    return second + int(believed.min()) if believed.size else None
