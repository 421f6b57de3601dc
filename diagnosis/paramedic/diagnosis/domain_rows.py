"""Domains as rows: what nodes behind one switch, in one rack or of one stage show in the middle.

Only what can come of what they share is looked at: congestion, losses, round trips, temperatures.
How much they work is left out, because whoever waits for one slow machine does so in blocks, and a
block is often what stands behind one switch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window
from paramedic.models.departure.character import About, character_of
from paramedic.models.leave_one_out import median_over_time

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

_KINDS = (Entity.GPU, Entity.NODE)
_SHARED = frozenset({About.CONGESTION, About.LOSSES, About.ROUND_TRIP, About.TEMPERATURE})


def domain_window(
    windows: Mapping[Entity, Window], domains: Mapping[str, Collection[NodeName]], slots: int
) -> Window:
    """The newest slots of what can be shared, by domain: the median of the rows of its nodes."""
    places = {node: at for at, nodes in enumerate(domains.values()) for node in nodes}
    parts = [_part(windows[kind], places, len(domains), slots) for kind in _KINDS]
    base = windows[Entity.GPU]
    values = np.concatenate([values for _, values in parts], axis=1)
    return Window(
        job=base.job,
        generation=base.generation,
        entity=Entity.NODE,
        first_second=base.last_second - (values.shape[2] - 1) * base.slot_seconds,
        rows=tuple(EntityKey(Entity.NODE, NodeName(name)) for name in domains),
        metrics=tuple(metric for metrics, _ in parts for metric in metrics),
        values=values.astype(np.float32),
        observed=~np.isnan(values),
        slot_seconds=base.slot_seconds,
    )


def is_shared(metric: str) -> bool:
    """Whether the metric can tell of what nodes share."""
    character = character_of(metric)
    return character is not None and character.about in _SHARED


def _part(
    window: Window, places: Mapping[NodeName, int], domains: int, slots: int
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """What windows of one kind show: metrics, and (domain, metric, slot) medians."""
    kept = [at for at, metric in enumerate(window.metrics) if is_shared(metric)]
    medians = np.full((domains, len(kept), min(slots, window.values.shape[2])), np.nan)
    values = window.values[:, kept, -slots:].astype(np.float64)
    values[~window.observed[:, kept, -slots:]] = np.nan
    members: dict[int, list[int]] = {}
    for at, row in enumerate(window.rows):
        if row.node in places:
            members.setdefault(places[row.node], []).append(at)
    for domain, rows in members.items():
        medians[domain] = median_over_time(np.moveaxis(values[rows], 0, -1))
    return tuple(window.metrics[at] for at in kept), medians
