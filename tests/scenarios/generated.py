"""What a synthetic cluster generated, as the windows at the far end have to show it.

Which slot a scrape belongs to, and which of the cluster's seconds it has in it:

- A slot holds the scrape that Prometheus began in it. Where a target's moment lies near the full
  second, its scrapes are counted from the first one instead, so that a little jitter moves none.
- A page carries the second in which the exporter answered: that of the scrape's beginning, or the
  next one where the answer came after the full second. The pages tell which, by `node_time_seconds`
  and by the energy counter, which never stands still.
- A gauge is the page's. A counter is what it grew by between this page and the target's page
  before, over the slots between the two: the canonical rate of the second, where no page was lost.
- A GPU page that repeats the one before is no new sample, so the slot has no GPU rows.
- Two scrapes in one slot, which a Prometheus that was held up makes: that slot and the next scrape
  are not compared.
"""

from __future__ import annotations

import json
import math
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from paramedic.ingest.contract import Entity
from paramedic.ingest.synthetic.arrays import Booleans, Floats, Integers
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.reading import AGENT_ONLY, Second

_OFF_BEAT_SECONDS = 0.25
_MEMORY_CLOCK_HERTZ = 2.619e9
_LATENCIES = {
    "disk_read_latency_seconds": ("disk_read_seconds_total", "disk_reads_total"),
    "disk_write_latency_seconds": ("disk_write_seconds_total", "disk_writes_total"),
}
_BUSY = "cpu_utilization_ratio"
_ENERGY = "gpu_energy_joules_per_second"
_MARKS = {
    Entity.GPU: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0"}',
    Entity.NODE: "node_time_seconds",
}
_NOTHING = -1
"""In the place of a page, where there is none."""

Stored = Mapping[str, Sequence[tuple[float, float]]]
"""Moment and value, by node."""


@dataclass(frozen=True)
class Scrape:
    """One page of one node, as Prometheus stored it."""

    began: float
    """Unix seconds."""
    offset: int
    """The cluster's second that is on it."""


@dataclass(frozen=True)
class Shown:
    """Which page every slot of every node has, and the one before; (slots, nodes)."""

    page: Integers
    before: Integers
    span_seconds: Integers
    """Slots between the two."""
    is_doubtful: Booleans
    """Where nothing is compared."""


class Generated:
    """Every second that the cluster has lived through, (seconds, nodes) or (seconds, nodes, gpus);
    the first is the job's."""

    def __init__(self, cluster: SyntheticCluster, seconds: int) -> None:
        self.config = cluster.config
        self.nodes = cluster.layout.nodes
        lived = list(cluster.seconds(0, seconds))
        self._gauges: dict[Entity, dict[str, Floats]] = {Entity.GPU: {}, Entity.NODE: {}}
        self._totals: dict[Entity, dict[str, Floats]] = {Entity.GPU: {}, Entity.NODE: {}}
        self._sort(Entity.GPU, _columns([one.gpu for one in lived]))
        self._sort(Entity.NODE, _columns([one.node for one in lived]))
        self._counted = _columns([one.counters.node for one in lived])
        self._add_what_only_pages_tell(lived)

    @property
    def energy_millijoules(self) -> Floats:
        """As the pages print it, of each node's first GPU; (seconds, nodes)."""
        energy: Floats = np.rint(1000.0 * self._totals[Entity.GPU][_ENERGY][:, :, 0])
        return energy

    def metrics(self, entity: Entity) -> tuple[str, ...]:
        """What the pages carry of an entity."""
        more = tuple(_LATENCIES) if entity is Entity.NODE else ()
        return tuple(sorted((*self._gauges[entity], *self._totals[entity], *more)))

    def expected(self, entity: Entity, metric: str, shown: Shown) -> Floats:
        """The value in every slot, NaN where there is none; (slots, nodes[, gpus])."""
        if entity is Entity.GPU:
            is_repeat = shown.page == shown.before
            shown = replace(shown, page=np.where(is_repeat, _NOTHING, shown.page))
        gauge = self._gauges[entity].get(metric)
        if gauge is not None:
            return _of(gauge, shown.page)
        if metric in _LATENCIES:
            took, number = (self._grown(self._counted[name], shown) for name in _LATENCIES[metric])
            return np.divide(took, number, out=np.full_like(took, np.nan), where=number > 0)
        grown = self._grown(self._totals[entity][metric], shown)
        span = shown.span_seconds.reshape(*shown.span_seconds.shape, *(1,) * (grown.ndim - 2))
        rate = grown / span
        return np.clip(1.0 - rate, 0.0, 1.0) if metric == _BUSY else rate

    def _sort(self, entity: Entity, columns: Mapping[str, Floats]) -> None:
        """Rates are counters on the pages, but for what DCGM measures itself."""
        for metric, column in columns.items():
            is_measured = entity is Entity.GPU and "_bytes_" in metric
            if metric in AGENT_ONLY or metric in _LATENCIES:
                continue
            if metric == _BUSY:
                self._totals[entity][metric] = np.cumsum(1.0 - column, axis=0)
            elif metric.endswith("_per_second") and not is_measured:
                self._totals[entity][metric] = np.cumsum(column, axis=0)
            else:
                self._gauges[entity][metric] = column

    def _add_what_only_pages_tell(self, lived: Sequence[Second]) -> None:
        gauges = self._gauges[Entity.GPU]
        free = self.config.hardware.memory_bytes - gauges["gpu_memory_used_bytes"]
        gauges["gpu_memory_free_bytes"] = free
        gauges["gpu_memory_clock_hertz"] = np.full_like(free, _MEMORY_CLOCK_HERTZ)
        energy = [one.counters.gpu["gpu_energy_joules_total"] for one in lived]
        self._totals[Entity.GPU][_ENERGY] = np.stack(energy)

    @staticmethod
    def _grown(totals: Floats, shown: Shown) -> Floats:
        return _of(totals, shown.page) - _of(totals, shown.before)


def stored_of(prometheus: str, entity: Entity) -> Stored:
    """What tells the second of every page that Prometheus has stored, oldest first, by node."""
    query = urllib.parse.urlencode({"query": f"{_MARKS[entity]}[15m]"})
    with urllib.request.urlopen(f"{prometheus}/api/v1/query?{query}", timeout=30) as answer:
        found = json.load(answer)["data"]["result"]
    return {
        one["metric"]["node"]: [(at, float(text)) for at, text in one["values"]] for one in found
    }


def scrapes_of(stored: Stored, generated: Generated, entity: Entity) -> list[list[Scrape]]:
    """The scrapes of every node, oldest first. Clocks are off by less than half a second."""
    first = generated.config.first_second
    offsets = [
        {value: offset for offset, value in enumerate(column)}
        for column in generated.energy_millijoules.T.tolist()
    ]
    return [
        [
            Scrape(at, known[value] if entity is Entity.GPU else round(value) - first)
            for at, value in stored[node]
        ]
        for known, node in zip(offsets, generated.nodes, strict=True)
    ]


def shown_in(scrapes: Sequence[Sequence[Scrape]], slots: range) -> Shown:
    """What the slots have to show, if every scrape has come through."""
    page, before = (np.full((len(slots), len(scrapes)), _NOTHING) for _ in range(2))
    span = np.ones_like(page)
    is_doubtful = np.zeros_like(page, np.bool_)
    for node, of_node in enumerate(scrapes):
        placed = list(zip(slots_of([one.began for one in of_node]), of_node, strict=True))
        was_doubled = False
        for (last, earlier), (slot, scrape) in pairwise(placed):
            if slot in slots:
                at = slot - slots.start, node
                page[at], before[at], span[at] = scrape.offset, earlier.offset, slot - last
                is_doubtful[at] = was_doubled or slot == last
            was_doubled = slot == last
    return Shown(page, before, np.maximum(span, 1), is_doubtful)


def slots_of(began: Iterable[float]) -> list[int]:
    """The slots of one target's scrapes, by the rule at the top.

    >>> slots_of([10.4, 11.4, 13.4]), slots_of([10.999, 12.0, 12.999])
    ([10, 11, 13], [10, 11, 12])
    """
    slots: list[int] = []
    anchor = -math.inf
    for moment in began:
        steps = round(moment - anchor) if slots else 0
        if not slots or abs(moment - anchor - steps) > _OFF_BEAT_SECONDS:
            anchor, steps = moment, 0
        slots.append(math.floor(anchor) + steps)
    return slots


def _columns(seconds: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    return {metric: np.stack([one[metric] for one in seconds]) for metric in seconds[0]}


def _of(column: Floats, pages: Integers) -> Floats:
    """The column's value on every page; NaN where there is none."""
    has_page: Booleans = pages != _NOTHING
    values: Floats = column[np.where(has_page, pages, 0), np.arange(pages.shape[1])]
    values[~has_page] = np.nan
    return values
