"""Imagined hosts whose pages tests hand to collect, already clean."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paramedic.ingest.cleaning.port import CleanPage
from paramedic.ingest.contract import Entity, NodeName, Table
from paramedic.ingest.sources.port import NodeFact, RawPage

START = 1_800_000_000
"""A multiple of 60, so that every grid begins there."""
GAUGES = (
    "gpu_power_watts",
    "gpu_temperature_celsius",
    "gpu_sm_clock_hertz",
    "gpu_dram_active_ratio",
    "gpu_utilization_ratio",
)


@dataclass
class Host:
    """A host with GPUs; what it says changes with the second that it collects."""

    name: str
    gpus: int = 2
    labels: Mapping[str, str] = field(default_factory=dict)
    utilization: float = 0.9

    def page(self, second: int, *, collected_at: int | None = None) -> CleanPage:
        """What its GPU exporter says; values of `collected_at` where it collects more rarely."""
        return page_of([self], second, self.name, collected_at)

    def node_page(self, second: int) -> CleanPage:
        """What its node exporter says."""
        table = Table(Entity.NODE, (NodeName(self.name),), None, {"load_average": (1.0,)})
        return CleanPage(f"{self.name}:9100", second, (table,), {}, (), {})


def page_of(
    hosts: Sequence[Host], second: int, origin: str, collected_at: int | None = None
) -> CleanPage:
    """One page of the GPUs of several hosts, as a Prometheus gives it."""
    at = second if collected_at is None else collected_at
    rows = [(NodeName(host.name), gpu) for host in hosts for gpu in range(host.gpus)]
    columns = {metric: tuple(_value(metric, *row, at) for row in rows) for metric in GAUGES[:-1]}
    columns[GAUGES[-1]] = tuple(host.utilization for host in hosts for _ in range(host.gpus))
    table = Table(
        Entity.GPU, tuple(node for node, _ in rows), tuple(gpu for _, gpu in rows), columns
    )
    labels: dict[tuple[NodeName, int | None], Mapping[str, str]] = {
        (NodeName(host.name), gpu): host.labels for host in hosts for gpu in range(host.gpus)
    }
    return CleanPage(origin, second, (table,), labels, (), {})


class TakesAsItIs:
    """A cleaner for raw pages that carry a clean one in their series' labels; the fake."""

    def __init__(self) -> None:
        self.pages: dict[int, CleanPage] = {}
        self.blind: tuple[NodeFact, ...] = ()
        self.silences: list[tuple[str, float]] = []

    def raw(self, page: CleanPage) -> RawPage:
        """The raw page that will be cleaned into this one."""
        number = len(self.pages)
        self.pages[number] = page
        return RawPage(page.origin, float(page.second), (), (float(number),))

    def clean(self, page: RawPage) -> CleanPage:
        return self.pages[int(page.values[0])]

    def silent(self, origin: str, now_seconds: float) -> tuple[NodeFact, ...]:
        self.silences.append((origin, now_seconds))
        return self.blind


def split(node: str, *jobs: str) -> dict[tuple[NodeName, int | None], Mapping[str, str]]:
    """The labels of a node whose GPUs belong to these jobs, one each."""
    return {(NodeName(node), gpu): {"hpc_job": job} for gpu, job in enumerate(jobs)}


def _value(metric: str, node: NodeName, gpu: int, second: int) -> float:
    """Noise that is the same whenever it is asked for."""
    return 0.1 + zlib.crc32(f"{metric} {node} {gpu} {second}".encode()) / 2**32
