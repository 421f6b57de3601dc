"""Everything that is known of a page before its values are: made once for a list of series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.catalogue.catalogue import Catalogue
from paramedic.ingest.cleaning.cells import CellPlan, cell_plan
from paramedic.ingest.cleaning.lanes import Lane, lanes_of
from paramedic.ingest.cleaning.ownership import Groups, Ownership
from paramedic.ingest.cleaning.rates import CounterReadings
from paramedic.ingest.cleaning.resolving import Fate, Resolved
from paramedic.ingest.cleaning.rows import PageRows, Row
from paramedic.ingest.cleaning.units import Floats, Indices
from paramedic.ingest.cleaning.values import ValuePlan, value_plan
from paramedic.ingest.cleaning.xids import XidLanes
from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import Series

_REJECTED_FATES = (Fate.NO_NODE, Fate.NO_GPU)
# An exporter gives every series of a row the same labels of job and role, save for odd moments.
_SERIES_ASKED_FOR_LABELS = 4


@dataclass(frozen=True, slots=True)
class LanePlan:
    """The lanes of a page, ready for arithmetic."""

    lanes: tuple[Lane, ...]
    of_series: Indices
    """The lane of each used series, in the value plan's order."""
    owned: int
    """The first so many lanes are of metrics that the catalogue knows."""
    cells: Indices
    """What each of these would own."""
    groups: Groups
    counters: Indices
    """Lanes that have to become rates."""
    rate_low: Floats
    rate_high: Floats


@dataclass(frozen=True, slots=True)
class PagePlan:
    """How pages with one list of series are cleaned."""

    series: Sequence[Series]
    resolved: Mapping[Series, Resolved]
    values: ValuePlan
    lanes: LanePlan
    cells: CellPlan
    readings: CounterReadings
    xids: XidLanes
    labels: Mapping[Row, Mapping[str, str]]
    uuids: Mapping[Row, str]
    gpus: Mapping[NodeName, Mapping[int, str | None]]
    """GPUs of each node that the page shows."""
    unused: Mapping[int, tuple[str, str]]
    """Reason and metric of series that are left out whatever their values, by position."""
    uncatalogued: tuple[str, ...]
    """Exporters' names that the catalogue does not know."""


def page_plan(
    series: Sequence[Series],
    resolved: Sequence[Resolved],
    rows: PageRows,
    catalogue: Catalogue,
    ownership: Ownership,
    gap_seconds: float,
) -> PagePlan:
    """Plan pages with these series."""
    lanes = lanes_of(resolved, rows.of_series)
    used = [resolved[at] for at in lanes.take]
    lane_plan = _lane_plan(lanes.lanes, lanes.lane_of, ownership)
    return PagePlan(
        series=series,
        resolved=dict(zip(series, resolved, strict=True)),
        values=value_plan(
            lanes.take,
            [one.exported for one in used],
            [one.name for one in used],
            [one.node for one in used if one.node is not None],
            [one.metric for one in used],
        ),
        lanes=lane_plan,
        cells=cell_plan(lanes.lanes, catalogue),
        readings=CounterReadings([lanes.lanes[at].key for at in lane_plan.counters], gap_seconds),
        xids=XidLanes(lanes.lanes),
        labels=_labels_of_rows(resolved, rows.of_series),
        uuids=rows.uuids,
        gpus=_gpus_of_nodes(rows),
        unused=_unused(resolved, rows.of_series, lanes.repeated),
        uncatalogued=_uncatalogued(resolved),
    )


def _lane_plan(lanes: Sequence[Lane], lane_of: Sequence[int], ownership: Ownership) -> LanePlan:
    owned = [lane for lane in lanes if lane.exported is not None]
    known = [lane.exported for lane in owned if lane.exported is not None]
    counters = [at for at, exported in enumerate(known) if exported.is_rate]
    return LanePlan(
        lanes=tuple(lanes),
        of_series=np.array(lane_of, np.intp),
        owned=len(owned),
        cells=np.array([ownership.cell(lane.row, lane.metric) for lane in owned], np.intp),
        groups=np.array([exported.group for exported in known], np.int32),
        counters=np.array(counters, np.intp),
        rate_low=np.array([known[at].metric.low for at in counters]),
        rate_high=np.array([known[at].metric.high for at in counters]),
    )


def _labels_of_rows(
    resolved: Sequence[Resolved], rows: Sequence[Row | None]
) -> dict[Row, Mapping[str, str]]:
    """What a row's first series say together; the first speaks where they differ (`hpc_job` of a
    GPU that two jobs share). Labels of a part of the row, such as a device, are left out."""
    labels: dict[Row, dict[str, str]] = {}
    asked: dict[Row, int] = {}
    for one, row in zip(resolved, rows, strict=True):
        if row is None or asked.get(row, 0) >= _SERIES_ASKED_FOR_LABELS:
            continue
        asked[row] = asked.get(row, 0) + 1
        parts = one.exported.parts if one.exported is not None else ()
        said = {label: text for label, text in one.labels.items() if label not in parts}
        labels[row] = said | labels.get(row, {})
    return dict(labels)


def _gpus_of_nodes(rows: PageRows) -> dict[NodeName, dict[int, str | None]]:
    gpus: dict[NodeName, dict[int, str | None]] = {}
    for row in rows.of_series:
        if row is not None:
            of_node = gpus.setdefault(row[0], {})
            if row[1] is not None:
                of_node[row[1]] = rows.uuids.get(row)
    return gpus


def _unused(
    resolved: Sequence[Resolved], rows: Sequence[Row | None], repeated: Sequence[int]
) -> dict[int, tuple[str, str]]:
    unused = {at: ("duplicate", resolved[at].metric) for at in repeated}
    for at, (one, row) in enumerate(zip(resolved, rows, strict=True)):
        if one.fate in _REJECTED_FATES:
            unused[at] = (one.fate.value, one.metric)
        elif one.fate is Fate.KEPT and row is None:
            unused[at] = (Fate.NO_GPU.value, one.metric)
    return unused


def _uncatalogued(resolved: Sequence[Resolved]) -> tuple[str, ...]:
    return tuple(
        sorted(
            {
                one.name
                for one in resolved
                if one.exported is None and one.fate is not Fate.PASSED_OVER
            }
        )
    )
