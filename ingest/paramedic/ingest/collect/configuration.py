"""Settings of collect; what must hold between them fails when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paramedic.ingest.collect.errors import CollectSettingError

ROLES = ("pipeline_stage", "data_rank", "tensor_rank", "expert_group", "switch", "rack")
"""The roles a machine or GPU can play (formats, section 2)."""
USUAL_JOB_LABELS = (
    "hpc_job",
    "training_kubeflow_org_job_name",
    "jobset_sigs_k8s_io_jobset_name",
)
EVERYBODY = "cluster"
"""The job of all busy hosts, where no label names any."""


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """Which labels name the job and the roles, the first that is there and not empty.

    Of each name the forms that Prometheus and dcgm-exporter make of it are looked for too:
    `exported_NAME`, `label_NAME` and `exported_label_NAME`.
    """

    job_labels: tuple[str, ...] = USUAL_JOB_LABELS
    role_labels: Mapping[str, str] = field(default_factory=dict)
    """Role to label, such as `pipeline_stage` to `pp_rank`."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.role_labels) - set(ROLES))
        if unknown:
            raise CollectSettingError(
                f"role {unknown[0]!r} is not known: choose among {', '.join(ROLES)}"
            )
        if not all((*self.job_labels, *self.role_labels.values())):
            raise CollectSettingError("a label's name is empty: leave it out or name the label")


@dataclass(frozen=True, slots=True)
class TenancySettings:
    """When a GPU belongs to a job; seconds of event time."""

    busy_seconds: float = 5.0
    """How long a GPU is in use before it counts, where no label names its job."""
    idle_seconds: float = 120.0
    """How long none of a host's GPUs is in use before the host has left the job of all busy hosts;
    longer than a checkpoint or an evaluation takes."""
    unlabelled_seconds: float = 30.0
    """How long a label may be missing (kubelets forget them for moments) before the job is left."""
    absent_seconds: float = 900.0
    """How long nothing is heard of a node, while others are heard, before it has left: silence is
    a symptom first."""
    used_ratio: float = 0.05
    """A GPU whose utilisation is above this is in use."""
    used_memory_bytes: float = 2e9
    """A GPU with more memory taken than this is in use, whatever its utilisation."""

    def __post_init__(self) -> None:
        for name in ("busy_seconds", "used_memory_bytes", "used_ratio"):
            if getattr(self, name) < 0:
                raise CollectSettingError(f"{name} is {getattr(self, name)}: choose 0 or more")
        if not 0 < self.unlabelled_seconds <= self.absent_seconds:
            raise CollectSettingError(
                f"unlabelled_seconds is {self.unlabelled_seconds}: choose more than 0 and at most"
                f" absent_seconds ({self.absent_seconds})"
            )
        if not 0 < self.idle_seconds <= self.absent_seconds:
            raise CollectSettingError(
                f"idle_seconds is {self.idle_seconds}: choose more than 0 and at most"
                f" absent_seconds ({self.absent_seconds})"
            )


@dataclass(frozen=True, slots=True)
class CollectConfig:
    """Everything that can be set about collect."""

    labels: LabelSettings = field(default_factory=LabelSettings)
    tenancy: TenancySettings = field(default_factory=TenancySettings)
    settle_seconds: float = 1.0
    """How long a batch waits for the pages of its second, by arrival; later ones go in a further
    batch of the same second."""
    repeat_limit_seconds: float = 90.0
    """A GPU page that repeats itself for longer than this is believed: no exporter's interval is
    longer."""
    buffer_seconds: float = 60.0
    """How much telemetry is kept while the bus is away; the oldest is dropped and counted."""
    retell_seconds: float = 6 * 3600.0
    """How often what holds of the jobs is told again: a bus forgets events after some days."""
    queue_values: int = 4_000_000
    """Values that may wait to be cleaned; sources wait when there is no room, then lose a page."""
    queue_wait_seconds: float = 0.5
    """How long a source waits for room."""
    progress_seconds: float = 30.0
    """How often a line says what is going on."""
    quiet_start_seconds: float = 15.0
    """How long after the first page a lack of GPU metrics, or of any job, is told."""

    def __post_init__(self) -> None:
        if not 0 <= self.settle_seconds <= 1:
            raise CollectSettingError(
                f"settle_seconds is {self.settle_seconds}: choose from 0 to 1"
            )
        for name in ("buffer_seconds", "queue_values", "progress_seconds", "retell_seconds"):
            if getattr(self, name) <= 0:
                raise CollectSettingError(f"{name} is {getattr(self, name)}: choose more than 0")
