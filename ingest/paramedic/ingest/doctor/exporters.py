"""Which exporters speak, in which dialect, and which release that gives away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.ingest.catalogue.catalogue import Catalogue
    from paramedic.ingest.sources.port import Series

BUILD_INFO = "node_exporter_build_info"
"""Its label `version` is node_exporter's; read besides the catalogue's names."""


class Maker(StrEnum):
    """Programs whose names the catalogue knows."""

    DCGM = "dcgm-exporter"
    AMD = "device-metrics-exporter"
    NVIDIA_SMI = "nvidia_gpu_exporter"
    NODE = "node_exporter"
    NCCL = "NCCL Inspector"
    OTHER = "something with canonical names"


_MAKERS = {
    "dcgm_1": Maker.DCGM,
    "dcgm": Maker.DCGM,
    "dcgm_4_9": Maker.DCGM,
    "amd": Maker.AMD,
    "nvidia_smi": Maker.NVIDIA_SMI,
    "node_exporter": Maker.NODE,
    "nccl_inspector": Maker.NCCL,
}


@dataclass(frozen=True, slots=True, order=True)
class Speaker:
    """One kind of exporter at one place."""

    maker: Maker
    dialect: str
    """As the catalogue calls it."""
    release: str
    """What is known of its release, for people; empty when nothing is."""
    scrape_job: str
    """The label `job` that Prometheus gives it; empty where it was asked directly."""
    is_mixed: bool = False
    """Whether it speaks two dialects at once."""

    def __str__(self) -> str:
        return f"{self.maker} ({self.release})" if self.release else str(self.maker)


def speakers_of(series: Sequence[Series], catalogue: Catalogue) -> tuple[Speaker, ...]:
    """The exporters whose series these are."""
    groups: dict[tuple[str, Maker], list[tuple[str, Series]]] = defaultdict(list)
    for one in series:
        dialect = _dialect(one, catalogue)
        if dialect is not None:
            maker = _MAKERS.get(dialect, Maker.OTHER)
            groups[one.labels.get("job", ""), maker].append((dialect, one))
    return tuple(
        sorted(_speaker(job, maker, said, catalogue) for (job, maker), said in groups.items())
    )


def _dialect(series: Series, catalogue: Catalogue) -> str | None:
    if series.name == BUILD_INFO:
        return "node_exporter"
    found = catalogue.find(series.name)
    return None if found is None else found.dialect


def _speaker(
    job: str, maker: Maker, said: Sequence[tuple[str, Series]], catalogue: Catalogue
) -> Speaker:
    dialects = {dialect for dialect, _ in said}
    series = [one for _, one in said]
    if maker is not Maker.DCGM:
        return Speaker(maker, dialects.pop(), _build(series), job)
    newest = next(one for one in ("dcgm_4_9", "dcgm_1", "dcgm") if one in dialects)
    names = {one.name for dialect, one in said if dialect == "dcgm"}
    renamed = newest == "dcgm_4_9" and any(_has_new_name(name, catalogue) for name in names)
    is_mixed = renamed or {"dcgm_4_9", "dcgm_1"} <= dialects
    return Speaker(maker, newest, _release(newest, series), job, is_mixed)


def _has_new_name(name: str, catalogue: Catalogue) -> bool:
    return bool(catalogue.names(catalogue.exported[name].metric.id, "dcgm_4_9"))


def _build(series: Iterable[Series]) -> str:
    return next((one.labels.get("version", "") for one in series if one.name == BUILD_INFO), "")


def _release(dialect: str, series: Sequence[Series]) -> str:
    """By names and labels; the exporter does not tell its release."""
    if dialect == "dcgm_1":
        return "1.x or --use-old-namespace"
    if dialect == "dcgm_4_9":
        return "4.9 or newer"
    labels = {label for one in series for label in one.labels}
    if "hostname" in labels:
        return "4.8.3 or 4.8.4"
    if "Hostname" not in labels:
        return "classic names"
    return "3.5 to 4.8.2" if "pci_bus_id" in labels else "2.x to 3.4"
