"""Puts the batches of one shard together: everything its nodes said of a second, in one slot."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.collect.joining import joined
from paramedic.ingest.contract import Table, TelemetryBatch
from paramedic.ingest.windows.counters import Fate
from paramedic.ingest.windows.crowd import Plans
from paramedic.ingest.windows.roster import Roster
from paramedic.ingest.windows.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from paramedic.ingest.contract import JobName
    from paramedic.ingest.windows.configuration import WindowConfig
    from paramedic.ingest.windows.timeline import Place

_Slot = tuple[int, int]
"""Second, after re-basing, and generation."""
_LEAST_SHARDS = 2


class ShardAligner:
    """Event time of one shard, by the rules of the windows (half of the nodes, lateness).

    What comes after its second was closed is counted and left out. Unlike windows it keeps every
    second until it is given out, however far time jumps.
    """

    def __init__(self, config: WindowConfig, job: JobName, shard: int) -> None:
        self._job = job
        self._shard = shard
        self._shards = _LEAST_SHARDS
        self._timeline = Timeline(config)
        self._plans = Plans()
        self._everybody = Roster()
        self._open: dict[_Slot, list[Table]] = defaultdict(list)
        self.rows_left_out = 0

    def accept(self, batch: TelemetryBatch, arrived_seconds: float) -> None:
        """Take a batch of this shard in."""
        self._shards = max(batch.shards, _LEAST_SHARDS)
        plan = self._plans.plan(batch.tables, self._everybody)
        placement = self._timeline.place(plan.crowd, batch.second, arrived_seconds)
        for table, rows in zip(batch.tables, plan.tables, strict=True):
            for place in placement.places:
                part = _part(table, rows.members, place)
                if place.fate is Fate.ACCEPTED:
                    self._open[place.second, batch.generation].append(part)
                else:
                    self.rows_left_out += len(part.nodes)

    def closed(self, now_seconds: float) -> Iterator[TelemetryBatch]:
        """The slots that have closed since, oldest first; `now_seconds` as for `accept`.

        Silence closes what has begun and nothing beyond: a second that nobody has spoken of yet may
        still come, from nodes that were cut off and send everything later.
        """
        newest = max((second for second, _ in self._open), default=None)
        if newest is None:
            return
        self._timeline.advance(now_seconds, newest)
        watermark = self._timeline.watermark.closed
        if watermark is None:
            return
        for slot in sorted(slot for slot in self._open if slot[0] <= watermark):
            second, generation = slot
            tables = joined(self._open.pop(slot))
            yield TelemetryBatch(
                self._job,
                generation,
                second,
                tables,
                self._shard,
                max(self._shards, self._shard + 1),
            )

    @property
    def is_empty(self) -> bool:
        """Whether everything that came has been given out."""
        return not self._open


def _part(table: Table, members: NDArray[np.intp], place: Place) -> Table:
    """The rows whose nodes the place is about."""
    if place.members is None:
        return table
    rows = np.flatnonzero(place.members[members]).tolist()
    return replace(
        table,
        nodes=tuple(table.nodes[row] for row in rows),
        indices=None if table.indices is None else tuple(table.indices[row] for row in rows),
        columns={
            metric: tuple(column[row] for row in rows) for metric, column in table.columns.items()
        },
    )
