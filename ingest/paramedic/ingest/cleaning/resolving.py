"""What one series stands for, worked out once when it is first seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from paramedic.ingest.catalogue.catalogue import Catalogue
from paramedic.ingest.catalogue.metric import Exported
from paramedic.ingest.cleaning.gpus import GpuLabels, gpu_of
from paramedic.ingest.cleaning.labels import exporters_labels, node_of, present_labels
from paramedic.ingest.cleaning.settings import CleaningSettings
from paramedic.ingest.contract import Entity, NodeName
from paramedic.ingest.sources.port import Series

# Labels of a part of a GPU: a MIG slice, one link. A series without them speaks of the whole.
_PARTS = frozenset(("GPU_I_ID", "GPU_I_PROFILE", "nvlink", "peer_gpu", "pid"))


class Fate(StrEnum):
    """What becomes of a series."""

    KEPT = "kept"
    LISTED = "listed"
    """Unknown and of no GPU: its name is told and nothing more."""
    PASSED_OVER = "passed_over"
    """Known and no telemetry, or a part that its metric leaves out."""
    NO_NODE = "no_node"
    """Nothing says which node it speaks of."""
    NO_GPU = "no_gpu"
    """A GPU's metric, and nothing says of which GPU."""


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """What one series stands for."""

    name: str
    """The exporter's name."""
    metric: str
    """Canonical id; the lower-cased name where the catalogue knows none."""
    exported: Exported | None
    """None when the catalogue does not know the name."""
    fate: Fate
    node: NodeName | None
    gpu: GpuLabels | None
    """None for what speaks of the node."""
    detail: tuple[str, ...]
    """Values of the labels that tell it apart from others of its row."""
    parts: int
    """How many labels say that it is only a part of a GPU: the fewer, the better."""
    labels: Mapping[str, str]
    """As the exporter gave them."""


class SeriesResolver:
    """Works out what series stand for, by catalogue and settings."""

    def __init__(self, catalogue: Catalogue, settings: CleaningSettings) -> None:
        self._catalogue = catalogue
        self._node_labels = settings.node_labels

    def resolve(self, series: Series, default_node: NodeName | None) -> Resolved:
        """What the series stands for on a page with this default node."""
        present = present_labels(series.labels)
        exported = self._catalogue.find(series.name)
        node = node_of(present, self._node_labels, default_node)
        gpu = gpu_of(series.name, present)
        if exported is not None and exported.metric.entity is Entity.NODE:
            gpu = None
        labels = exporters_labels(series.labels)
        return Resolved(
            name=series.name,
            metric=series.name.lower() if exported is None else exported.metric.id,
            exported=exported,
            fate=self._fate(series, exported, node, gpu, present),
            node=node,
            gpu=gpu,
            detail=_detail(exported, present),
            parts=len(_PARTS.intersection(present)),
            labels=labels,
        )

    def _fate(
        self,
        series: Series,
        exported: Exported | None,
        node: NodeName | None,
        gpu: GpuLabels | None,
        present: Mapping[str, str],
    ) -> Fate:
        if exported is None:
            if self._catalogue.is_ignored(series.name):
                return Fate.PASSED_OVER
            if gpu is None:
                return Fate.LISTED
        elif not exported.takes(present):
            return Fate.PASSED_OVER
        elif exported.metric.entity is Entity.GPU and gpu is None:
            return Fate.NO_GPU
        return Fate.NO_NODE if node is None else Fate.KEPT


def _detail(exported: Exported | None, labels: Mapping[str, str]) -> tuple[str, ...]:
    if exported is None:
        return ()
    return tuple(labels.get(label, "") for label in exported.per)
