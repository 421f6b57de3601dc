"""Pages of imagined exporters, and what doctor has seen after them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from paramedic.ingest.catalogue.catalogue import Catalogue, shipped_catalogue
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.collect.configuration import LabelSettings, TenancySettings
from paramedic.ingest.contract import NodeName
from paramedic.ingest.doctor.checks import Check, Report
from paramedic.ingest.doctor.counters_file import CLASSIC, fields_of
from paramedic.ingest.doctor.examination import Examination
from paramedic.ingest.doctor.needs import GPU_NEEDS, HOST_NEEDS
from paramedic.ingest.doctor.report import report_of
from paramedic.ingest.exposition.parser import ExpositionParser
from paramedic.ingest.sources.port import RawPage

START = 1_800_000_000
SCRAPED = ',job="{job}",instance="{node}:9400"'


@cache
def catalogue() -> Catalogue:
    return shipped_catalogue()


def gpu_names(dialect: str = CLASSIC) -> tuple[str, ...]:
    """The first name of everything that detection uses."""
    fields = [fields_of(need, dialect, catalogue())[:1] for need in GPU_NEEDS]
    return tuple(dict.fromkeys(field.name for first in fields for field in first))


def host_names() -> tuple[str, ...]:
    """The names of everything that detection uses of a host."""
    metrics = [catalogue().metrics[one] for need in HOST_NEEDS for one in need.metrics]
    inputs = [name for one in metrics if one.ratio for name in (one.ratio.of, one.ratio.by)]
    ids = {*inputs, *(one.id for one in metrics)}
    return tuple(name for name, one in catalogue().exported.items() if one.metric.id in ids)


class Exporters:
    """A cluster's exporters; the same series are the same objects from page to page."""

    def __init__(self) -> None:
        self._parsers: dict[str, ExpositionParser] = {}

    def gpus(
        self,
        node: str = "n1",
        second: int = START,
        names: Sequence[str] | None = None,
        labels: str = ',Hostname="{node}",pci_bus_id="0",hpc_job="llama"',
        count: int = 2,
        said: int | None = None,
    ) -> RawPage:
        """What dcgm-exporter says; `said` where it says again what it said at that second."""
        at = (second if said is None else said) - START
        filled = labels.format(node=node, job="dcgm")
        lines = [
            f'{name}{{gpu="{gpu}",UUID="{node}-{gpu}"{filled}}} {_value(name, gpu, at)}'
            for name in (gpu_names() if names is None else names)
            for gpu in range(count)
        ]
        return self.page(lines, f"{node}:9400", second, node)

    def host(
        self,
        node: str = "n1",
        second: int = START,
        names: Iterable[str] | None = None,
        ahead_seconds: float = 0.0,
        labels: str = "",
    ) -> RawPage:
        """What node_exporter says."""
        lines = [
            f'{name}{{device="x0",mode="idle"{labels}}} {second - START + 5}'
            for name in (host_names() if names is None else names)
        ]
        lines.append(f"node_time_seconds {second + ahead_seconds}")
        lines.append('node_exporter_build_info{version="1.9.1"} 1')
        return self.page(lines, f"{node}:9100", second, node)

    def page(self, lines: Iterable[str], origin: str, second: float, node: str) -> RawPage:
        """A page of some lines."""
        parser = self._parsers.setdefault(origin, ExpositionParser(origin, NodeName(node)))
        return parser.parse("\n".join(lines) + "\n", second)


def examination() -> Examination:
    return Examination(TelemetryCleaner(), catalogue(), LabelSettings(), TenancySettings())


def seen_after(*pages: RawPage) -> Examination:
    """What is seen after some pages."""
    seen = examination()
    for page in pages:
        seen.take(page)
    return seen


def healthy(nodes: Sequence[str] = ("n1", "n2"), seconds: int = 4) -> list[RawPage]:
    """Some seconds of hosts that give everything."""
    exporters = Exporters()
    return [
        page
        for second in range(START, START + seconds)
        for node in nodes
        for page in (exporters.gpus(node, second), exporters.host(node, second))
    ]


def report(*pages: RawPage) -> Report:
    return report_of(seen_after(*pages), 15.0)


def checks_of(told: Report, subject: str) -> list[Check]:
    return [check for check in told.checks if check.subject == subject]


def pasted(check: Check) -> Mapping[str, tuple[str, ...]]:
    """What is to be pasted, by where."""
    return {remedy.where: remedy.lines for remedy in check.remedies}


def _value(name: str, gpu: int, at: int) -> float:
    """Something that every metric's range holds, and that changes with the second."""
    if "LINK_GEN" in name:
        return 5
    return (40 + gpu + at % 50) / 100 if "PROF" in name or "RATIO" in name else 40 + gpu + at % 50
