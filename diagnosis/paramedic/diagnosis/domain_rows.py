"""Domains as rows: what most nodes behind one switch, in one rack or of one stage show.

Only what can come of what they share is looked at: congestion, losses, round trips, temperatures.
How much they work is left out, because whoever waits for one slow machine does so in blocks, and a
block is often what stands behind one switch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window
from paramedic.models.departure.character import About, is_about
from paramedic.models.leave_one_out import lower_median

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

_KINDS = (Entity.GPU, Entity.NODE)
SHARED = (About.CONGESTION, About.LOSSES, About.ROUND_TRIP, About.TEMPERATURE)
"""What can come of a switch or a rack."""
OF_A_STAGE = (About.LOSSES, About.ROUND_TRIP)
"""Stages do different work: how warm they are and how much they congest follows from that."""


@dataclass(slots=True)
class DomainRows:
    """Domains of one kind as the rows of a window; whose rows are whose is found once."""

    domains: Mapping[str, Collection[NodeName]]
    matters: tuple[About, ...] = SHARED
    _rows: tuple[EntityKey, ...] = field(init=False)
    _seated: dict[Entity, tuple[tuple[EntityKey, ...], NDArray[np.intp]]] = field(
        default_factory=dict
    )
    """By kind of row: the rows, and the positions of each domain's, (domain, seat)."""

    def __post_init__(self) -> None:
        self._rows = tuple(EntityKey(Entity.NODE, NodeName(name)) for name in self.domains)

    def window(self, windows: Mapping[Entity, Window], slots: int) -> Window:
        """The newest slots of what can be shared, as most rows of a domain's nodes show it."""
        base = windows[Entity.GPU]
        kept = {kind: shared_metrics(windows[kind].metrics, self.matters) for kind in _KINDS}
        parts = [self._medians(windows[kind], kept[kind], slots) for kind in _KINDS]
        values = np.concatenate(parts, axis=1).T
        return Window(
            job=base.job,
            generation=base.generation,
            entity=Entity.NODE,
            first_second=base.last_second - (values.shape[2] - 1) * base.slot_seconds,
            rows=self._rows,
            metrics=tuple(windows[kind].metrics[at] for kind in _KINDS for at in kept[kind]),
            values=values.astype(np.float32),
            observed=~np.isnan(values),
            slot_seconds=base.slot_seconds,
        )

    def slot(self, windows: Mapping[Entity, Window], slots: int) -> Window:
        """The means of so many of the newest slots, as one."""
        window = self.window(windows, slots)
        if slots == 1:
            return window
        seen = window.observed.sum(axis=2, keepdims=True)
        total = np.where(window.observed, window.values, 0.0).sum(axis=2, keepdims=True)
        return replace(
            window,
            first_second=window.last_second,
            values=(total / np.maximum(seen, 1)).astype(np.float32),
            observed=seen > 0,
            slot_seconds=slots * window.slot_seconds,
        )

    def _medians(self, window: Window, kept: tuple[int, ...], slots: int) -> NDArray[np.float64]:
        """What windows of one kind show of these metrics, (slot, metric, domain)."""
        newest = np.s_[-slots:], list(kept)
        # The last row is nobody's: who has no rows, and whose seats are free, shows nothing.
        shape = min(slots, window.values.shape[2]), len(kept), len(window.rows) + 1
        values = np.full(shape, np.nan)
        np.copyto(values[..., :-1], window.values.T[newest], where=window.observed.T[newest])
        # What more than half show: half of them, which may be two machines of four, are no group.
        return lower_median(np.take(values, self._seats(window), axis=2))

    def _seats(self, window: Window) -> NDArray[np.intp]:
        rows, seats = self._seated.get(window.entity, (None, None))
        if seats is None or rows is not window.rows:
            seats = _seats(window.rows, self.domains)
            self._seated[window.entity] = window.rows, seats
        return seats


def is_shared(metric: str, matters: tuple[About, ...] = SHARED) -> bool:
    """Whether the metric can tell of what nodes share."""
    return is_about(metric, matters)


@lru_cache(maxsize=32)
def shared_metrics(metrics: tuple[str, ...], matters: tuple[About, ...]) -> tuple[int, ...]:
    """Positions of those that can tell of what nodes share."""
    return tuple(at for at, metric in enumerate(metrics) if is_shared(metric, matters))


def _seats(
    rows: tuple[EntityKey, ...], domains: Mapping[str, Collection[NodeName]]
) -> NDArray[np.intp]:
    """Positions of the rows of each domain's nodes, (domain, seat); a free seat is one beyond."""
    places = {node: at for at, nodes in enumerate(domains.values()) for node in nodes}
    members: list[list[int]] = [[] for _ in domains]
    for at, row in enumerate(rows):
        if row.node in places:
            members[places[row.node]].append(at)
    seats = np.full((len(domains), max(1, *map(len, members))), len(rows), np.intp)
    for seated, own in zip(seats, members, strict=True):
        seated[: len(own)] = own
    return seats
