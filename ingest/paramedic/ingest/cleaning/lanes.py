"""Lanes: what on a page is one quantity. Series that repeat each other share one.

A metric that is summed over devices has one lane a device, all leading to one cell of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paramedic.ingest.catalogue.metric import Exported, Over
from paramedic.ingest.cleaning.resolving import Fate, Resolved
from paramedic.ingest.cleaning.rows import Row

LaneKey = tuple[Row, str, str, tuple[str, ...]]
"""Row, metric, the exporter's name and the detail: what a counter is remembered by."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One quantity of a page."""

    key: LaneKey
    exported: Exported | None
    """None for a metric that the catalogue does not know."""

    @property
    def row(self) -> Row:
        """The row that it belongs to."""
        return self.key[0]

    @property
    def metric(self) -> str:
        """Its metric's id."""
        return self.key[1]

    @property
    def over(self) -> Over:
        """How it joins others of its cell."""
        return Over.FIRST if self.exported is None else self.exported.over


@dataclass(frozen=True, slots=True)
class PageLanes:
    """The lanes of a page and how its series lead to them."""

    lanes: tuple[Lane, ...]
    """Those that the catalogue knows first, in the order of preference."""
    take: tuple[int, ...]
    """Positions in the page of the series that are used, the preferred one of a lane first."""
    lane_of: tuple[int, ...]
    """The lane of each of these."""
    repeated: tuple[int, ...]
    """Positions in the page of series that only repeat another."""


def lanes_of(resolved: Sequence[Resolved], rows: Sequence[Row | None]) -> PageLanes:
    """Find the lanes of a page; a series without a row is not used."""
    order = [
        (one.exported is None, 0 if one.exported is None else one.exported.rank, one.parts, at)
        for at, (one, row) in enumerate(zip(resolved, rows, strict=True))
        if row is not None and one.fate is Fate.KEPT
    ]
    order.sort()
    numbers: dict[LaneKey, int] = {}
    lanes: list[Lane] = []
    lane_of: list[int] = []
    repeated: list[int] = []
    for *_, at in order:
        one, row = resolved[at], rows[at]
        assert row is not None
        key = (row, one.metric, one.name, one.detail)
        number = numbers.setdefault(key, len(lanes))
        if number == len(lanes):
            lanes.append(Lane(key, one.exported))
        else:
            repeated.append(at)
        lane_of.append(number)
    return PageLanes(tuple(lanes), tuple(at for *_, at in order), tuple(lane_of), tuple(repeated))
