"""How jobs would be found, and which setting maps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.ingest.collect.configuration import EVERYBODY
from paramedic.ingest.doctor.checks import Check, Level, Remedy, counted, named

if TYPE_CHECKING:
    from paramedic.ingest.doctor.attribution import Attribution
    from paramedic.ingest.doctor.examination import Examination

_SUBJECT = "jobs"
_SHOWN = 4
_SLURM = Remedy(
    "dcgm-exporter's arguments, with Slurm; its prolog writes a job's id into a file for each GPU",
    ("--hpc-job-mapping-dir /run/dcgm-job-map",),
)
_KUBERNETES = Remedy(
    "dcgm-exporter's arguments, with Kubernetes", ("--kubernetes --kubernetes-enable-pod-labels",)
)


def check_jobs(seen: Examination) -> Iterator[Check]:
    """What would become of the GPUs."""
    found = seen.jobs.attribution()
    if found.jobs:
        told = named(f"{job} ({counted(count, 'GPU')})" for job, count in found.jobs.items())
        rest = f"; no label names one for {counted(found.unnamed, 'GPU')}" if found.unnamed else ""
        yield Check(_SUBJECT, Level.OK, f"found by label: {told}{rest}")
    elif found.unnamed:
        yield _unnamed(found)


def _unnamed(found: Attribution) -> Check:
    text = (
        f"no label names a job: all busy hosts would be one job, {EVERYBODY}"
        f" ({found.busy} of {counted(found.unnamed, 'GPU')} are in use)"
    )
    if not found.could:
        remedies = (_KUBERNETES,) if found.has_pods else (_SLURM, _KUBERNETES)
        return Check(_SUBJECT, Level.WARNING, text, remedies)
    shown = list(found.could.items())[:_SHOWN]
    seen = ", ".join(f"{label}={value}" for label, value in shown)
    remedy = Remedy("paramedic.toml", ("[collect]", f'job_labels = "{shown[0][0]}"'))
    return Check(_SUBJECT, Level.WARNING, f"{text}; labels that may tell: {seen}", (remedy,))
