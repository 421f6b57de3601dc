"""Episodes lived: telemetry as the windows hold it, events, and the truth beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.contract import Entity, EntityKey, Event, Window
from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.episodes.filling import KINDS, Filling
from paramedic.ingest.synthetic.episodes.gaps import with_gaps, with_wrong_clocks
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, FaultLabel, label_of
from paramedic.ingest.synthetic.layout import Layout


@dataclass(frozen=True, slots=True)
class LivedEpisode:
    """What was observed of a job, and apart from it what was broken."""

    plan: EpisodePlan
    description: JobDescription
    windows: Mapping[Entity, Window]
    """One window as long as the episode for each kind of row."""
    events: tuple[Event, ...]
    """In the order of their times."""
    labels: tuple[FaultLabel, ...]


def live(plan: EpisodePlan) -> LivedEpisode:
    """Live the episode; the same plan gives the same episode."""
    cluster = SyntheticCluster(plan.cluster)
    first = cluster.second(plan.first)
    fillings = [Filling(kind, first, plan.seconds) for kind in KINDS]
    events: list[Event] = []
    for second in cluster.seconds(plan.first, plan.seconds):
        for filling in fillings:
            filling.take(second)
        events.extend(second.events)
    windows = {one.kind.entity: _window(plan, cluster.layout, one) for one in fillings}
    offsets = first.sight.clock_offset_seconds
    return LivedEpisode(
        plan=plan,
        description=cluster.job,
        windows=with_gaps(plan, with_wrong_clocks(windows, offsets)),
        events=tuple(sorted(events, key=lambda event: event.timestamp)),
        labels=tuple(label_of(one, plan.cluster, cluster.layout) for one in plan.cluster.faults),
    )


def _window(plan: EpisodePlan, layout: Layout, filling: Filling) -> Window:
    values = filling.finish()
    entity = filling.kind.entity
    return Window(
        job=plan.cluster.job,
        generation=0,
        entity=entity,
        first_second=plan.cluster.first_second + plan.first,
        rows=tuple(_rows(layout, entity)),
        metrics=filling.metrics,
        values=values,
        observed=~np.isnan(values),
    )


def _rows(layout: Layout, entity: Entity) -> Iterator[EntityKey]:
    for node, ranks in zip(layout.nodes, layout.rank.tolist(), strict=True):
        if entity is Entity.NODE:
            yield EntityKey(entity, node)
        else:
            indices = ranks if entity is Entity.RANK else range(len(ranks))
            yield from (EntityKey(entity, node, index) for index in indices)
