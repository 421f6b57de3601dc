"""What the pages say comes out of the cleaner as the very values that were generated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from ingest.synthetic.clusters import QUICK, configured
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.cleaning.port import CleanPage
from paramedic.ingest.contract import Entity, NodeName, Table
from paramedic.ingest.exposition.parser import ExpositionParser
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import Observation, Weather
from paramedic.ingest.synthetic.exposition.dialects import Dialect
from paramedic.ingest.synthetic.exposition.gpu_page import Attribution, GpuPages
from paramedic.ingest.synthetic.exposition.node_page import NodePages
from paramedic.ingest.synthetic.reading import AGENT_ONLY, Second

pytestmark = pytest.mark.long


Cell = tuple[NodeName, int | None, str]
LACKING_IN_OLD = ("gpu_row_remap_pending", "gpu_throttle_reasons", "gpu_recovery_action")
STORM = Weather(congestion_per_day=9000.0, replays_per_gpu_day=40_000.0)


def cells(tables: tuple[Table, ...]) -> dict[Cell, float]:
    """Every observed value of nodes and GPUs."""
    return {
        (node, table.indices[row] if table.indices else None, metric): column[row]
        for table in tables
        if table.entity is not Entity.RANK
        for metric, column in table.columns.items()
        for row, node in enumerate(table.nodes)
        if not np.isnan(column[row])
    }


class Reader:
    """Reads and cleans all pages of one second after another."""

    def __init__(self, cluster: SyntheticCluster, dialect: Dialect) -> None:
        config, self._layout = cluster.config, cluster.layout
        self._gpu_pages = GpuPages(config, self._layout, dialect, Attribution.HPC_JOB)
        self._node_pages = NodePages(config, self._layout)
        self._cleaner = TelemetryCleaner()
        self._parsers: dict[str, ExpositionParser] = {}
        self.rejected: Counter[tuple[str, str]] = Counter()

    def read(self, second: Second) -> dict[Cell, float]:
        found: dict[Cell, float] = {}
        for page in self._pages(second):
            self.rejected.update(page.rejected)
            found |= cells(page.tables)
        return found

    def _pages(self, second: Second) -> Iterator[CleanPage]:
        for number, node in enumerate(self._layout.nodes):
            if second.sight.gpu_page[number]:
                yield self._clean(f"{node}/gpu", self._gpu_pages.render(second, number), second)
            if second.sight.node_page[number]:
                yield self._clean(f"{node}/host", self._node_pages.render(second, number), second)

    def _clean(self, origin: str, text: str, second: Second) -> CleanPage:
        node = NodeName(origin.partition("/")[0])
        parser = self._parsers.setdefault(origin, ExpositionParser(origin, node))
        raw = parser.parse(text.encode(), second.second + 0.25)
        assert raw.unreadable == {}
        return self._cleaner.clean(raw)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_every_dialect_gives_back_the_generated_values(dialect: Dialect) -> None:
    config = replace(configured(nodes=2, gpus=2, work=QUICK), weather=STORM)
    cluster = SyntheticCluster(config)
    reader = Reader(cluster, dialect)
    reader.read(cluster.second(4))
    for second in cluster.seconds(5, 5):
        wanted = {
            cell: value
            for cell, value in cells(second.tables()).items()
            if cell[2] not in AGENT_ONLY
            and not (dialect is Dialect.OLD and cell[2] in LACKING_IN_OLD)
        }
        found = reader.read(second)
        assert wanted.keys() <= found.keys()
        values = [found[cell] for cell in wanted]
        assert values == pytest.approx(list(wanted.values()), rel=1e-7, abs=1e-9)
    assert reader.rejected == {}


def test_what_cannot_be_is_left_out_and_the_rest_is_right() -> None:
    odd = replace(Observation.perfect(), glitches_per_gpu_day=10_000.0)
    cluster = SyntheticCluster(replace(configured(nodes=2, gpus=4), observation=odd))
    reader = Reader(cluster, Dialect.CLASSIC)
    spikes = 0
    for second in cluster.seconds(3, 8):
        found = reader.read(second)
        spikes += len(second.spikes)
        for spike in second.spikes:
            node = cluster.layout.nodes[spike.node]
            assert (node, spike.gpu, spike.metric) not in found
            assert (node, spike.gpu, "gpu_sm_active_ratio") in found
    assert spikes > 3
    assert sum(reader.rejected.values()) == spikes


def test_after_a_lost_scrape_levels_are_right_at_once() -> None:
    lossy = replace(Observation.perfect(), lost_scrapes_per_node_day=20_000.0)
    cluster = SyntheticCluster(replace(configured(nodes=2, gpus=2), observation=lossy))
    reader = Reader(cluster, Dialect.SI)
    for second in cluster.seconds(3, 8):
        wanted = cells(second.tables())
        found = reader.read(second)
        power = [cell for cell in wanted if cell[2] in ("gpu_power_watts", "load_average")]
        assert [found[cell] for cell in power] == [wanted[cell] for cell in power]
        assert {node for node, _gpu, _metric in found} == {node for node, _gpu, _m in wanted}
