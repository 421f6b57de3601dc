"""How the jobs of GPUs would be found: the labels that name them, and those that could."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.ingest.collect.labels import job_of
from paramedic.ingest.collect.usage import gpus_in_use
from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from paramedic.ingest.cleaning.port import CleanPage
    from paramedic.ingest.collect.configuration import LabelSettings, TenancySettings
    from paramedic.ingest.doctor.coverage import Row

CANDIDATES = (
    "hpc_job",
    "slurm_job_id",
    "job_name",
    "training_kubeflow_org_job_name",
    "jobset_sigs_k8s_io_jobset_name",
    "batch_kubernetes_io_job_name",
)
"""Labels that often tell which GPUs work together, the most telling first."""
_WORDS = ("job", "workload", "experiment")


@dataclass(frozen=True, slots=True)
class Attribution:
    """What would become of the GPUs."""

    jobs: Mapping[str, int]
    """How many GPUs each job that a label names would have."""
    unnamed: int
    """GPUs whose labels name no job."""
    busy: int
    """How many of these are in use."""
    could: Mapping[str, str]
    """Labels that could name it, each with a value that was seen."""
    has_pods: bool
    """Whether Kubernetes' pods are known, each of which is only a part of a job."""


class JobLabels:
    """The newest labels of every GPU, and which are in use."""

    def __init__(self, settings: LabelSettings, tenancy: TenancySettings) -> None:
        self._settings = settings
        self._tenancy = tenancy
        self._labels: dict[Row, Mapping[str, str]] = {}
        self._busy: set[Row] = set()

    def page(self, clean: CleanPage) -> None:
        """Take a page in."""
        for table in clean.tables:
            if table.entity is not Entity.GPU:
                continue
            used = gpus_in_use(table, self._tenancy)
            for node, gpu, is_used in zip(table.nodes, table.indices or (), used, strict=True):
                self._labels[node, gpu] = clean.labels.get((node, gpu), {})
                if is_used:
                    self._busy.add((node, gpu))
                else:
                    self._busy.discard((node, gpu))

    def attribution(self) -> Attribution:
        """What would become of the GPUs as they are labelled now."""
        jobs: Counter[str] = Counter()
        without: set[Row] = set()
        for row, labels in self._labels.items():
            job = job_of(labels, self._settings)
            if job is None:
                without.add(row)
            else:
                jobs[job] += 1
        has_pods = any("pod" in labels for labels in self._labels.values())
        busy = len(without & self._busy)
        return Attribution(dict(jobs), len(without), busy, self._could(), has_pods)

    def _could(self) -> Mapping[str, str]:
        seen: dict[str, str] = {}
        for labels in self._labels.values():
            for label, value in labels.items():
                seen.setdefault(label, value)
        others = [name for name in sorted(seen) if any(word in name for word in _WORDS)]
        names = [name for name in dict.fromkeys((*CANDIDATES, *others)) if name in seen]
        return {name: seen[name] for name in names if name != "job"}
