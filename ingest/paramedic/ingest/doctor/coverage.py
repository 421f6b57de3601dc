"""Which metrics are there, of which GPUs and hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity, NodeName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.ingest.catalogue.catalogue import Catalogue
    from paramedic.ingest.cleaning.port import CleanPage
    from paramedic.ingest.contract import Table
    from paramedic.ingest.sources.port import RawPage, Series

Row = tuple[NodeName, int | None]
_FIRST_PAGES = 3
_EVERY_PAGES = 20


class Coverage:
    """What pages have shown; every origin is looked at when its series change, and now and then."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._pages: dict[str, int] = {}
        self._series: dict[str, Sequence[Series]] = {}
        self._rows: dict[str, set[Row]] = defaultdict(set)
        self.gpus: set[Row] = set()
        self.hosts: set[NodeName] = set()
        """Hosts with metrics of their own, not only of their GPUs."""

    def page(self, raw: RawPage, clean: CleanPage) -> None:
        """Take a page in."""
        number = self._pages[raw.origin] = self._pages.get(raw.origin, 0) + 1
        if number > _FIRST_PAGES and number % _EVERY_PAGES and not self._is_new(raw):
            return
        self._series[raw.origin] = raw.series
        offered = self._offered(raw.series)
        for table in clean.tables:
            self._take(table, offered)

    def rows_of(self, metrics: Sequence[str], entity: Entity) -> set[Row]:
        """The GPUs or hosts of which any of the metrics is there."""
        everything = self.gpus if entity is Entity.GPU else {(node, None) for node in self.hosts}
        found = set().union(*(self._rows.get(metric, set()) for metric in metrics))
        return found & everything

    def metrics(self, entity: Entity) -> set[str]:
        """The metrics of GPUs, or of hosts, of which anything is there."""
        return {metric for metric in self._rows if self.rows_of((metric,), entity)}

    def gpus_of(self) -> Mapping[NodeName, int]:
        """How many GPUs every node has."""
        found: dict[NodeName, int] = defaultdict(int)
        for node, _ in self.gpus:
            found[node] += 1
        return dict(found)

    def columns_of_gpus(self) -> set[str]:
        """Every column that any GPU has, catalogued or not."""
        return {metric for metric, rows in self._rows.items() if rows & self.gpus}

    def _is_new(self, raw: RawPage) -> bool:
        known = self._series.get(raw.origin)
        return known is not raw.series and known != raw.series

    def _take(self, table: Table, offered: set[str]) -> None:
        rows = list(_rows_of(table))
        if table.entity is Entity.GPU:
            self.gpus.update(rows)
        elif table.entity is Entity.NODE:
            self.hosts.update(table.nodes)
        else:
            return
        for metric, column in table.columns.items():
            there = np.flatnonzero(~np.isnan(np.asarray(column, np.float64)))
            if len(there):
                self._rows[metric].update(rows[at] for at in there)
        for metric in offered:
            if self._catalogue.metrics[metric].entity is table.entity:
                self._rows[metric].update(rows)

    def _offered(self, series: Sequence[Series]) -> set[str]:
        """What is there though a page need not show a value of it: rates, which take two pages;
        quotients of rates; and what is only read for events."""
        names = {one.name for one in series}
        known = [one for one in map(self._catalogue.find, names) if one is not None]
        told = {one.metric.id for one in known}
        offered = {one.metric.id for one in known if one.is_rate or one.metric.is_input}
        for metric in self._catalogue.metrics.values():
            if metric.ratio is not None and {metric.ratio.of, metric.ratio.by} <= told:
                offered.add(metric.id)
        return offered


def _rows_of(table: Table) -> Iterator[Row]:
    yield from zip(table.nodes, table.indices or (None,) * len(table.nodes), strict=True)
