"""Every quantity of a page as its exporter said it, in canonical terms: what `decode` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.catalogue.catalogue import Catalogue
from paramedic.ingest.cleaning.plan import PagePlan
from paramedic.ingest.cleaning.units import Booleans, Floats, Indices
from paramedic.ingest.contract import NodeName, Table


@dataclass(frozen=True, slots=True)
class CleanSample:
    """One quantity of a page, before rates."""

    metric: str
    """Canonical id; a raw counter under its `_total` name."""
    value: float
    node: NodeName
    gpu: int | None
    uuid: str | None
    source: str
    """The exporter's name; of a computed metric, the two inputs."""
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PageRead:
    """The lanes of one page."""

    raw: Floats
    """Canonical values, counters still raw; NaN where nothing valid was observed."""
    rates: Floats
    """The same with rates in place of raw counters."""
    unready: Booleans
    """Lanes that were read and have no rate yet."""
    winners: Indices
    """The position in the page of the series that each lane's value comes from."""


def read_samples(plan: PagePlan, read: PageRead) -> Iterator[CleanSample]:
    """What was read, one sample a lane."""
    for number in np.flatnonzero(~np.isnan(read.raw)):
        lane = plan.lanes.lanes[number]
        node, gpu = lane.row
        resolved = plan.resolved[plan.series[read.winners[number]]]
        yield CleanSample(
            metric=lane.metric if lane.exported is None else lane.exported.shown_as,
            value=float(read.raw[number]),
            node=node,
            gpu=gpu,
            uuid=plan.uuids.get(lane.row),
            source=resolved.name,
            labels=resolved.labels,
        )


def computed_samples(tables: Sequence[Table], catalogue: Catalogue) -> Iterator[CleanSample]:
    """What was computed from two inputs."""
    for table in tables:
        for name, values in table.columns.items():
            metric = catalogue.metrics.get(name)
            if metric is None or metric.ratio is None:
                continue
            source = f"{metric.ratio.of} / {metric.ratio.by}"
            for row, value in enumerate(values):
                if not np.isnan(value):
                    gpu = None if table.indices is None else table.indices[row]
                    yield CleanSample(name, value, table.nodes[row], gpu, None, source, {})
