"""What is known of a job: ranks, steps and goodput only where the job itself tells of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.api.rest.documents import JobDocument

if TYPE_CHECKING:
    from paramedic.remediation.contract import Job


def is_measured(job: Job) -> bool:
    """Whether ranks or steps were ever told; of a job that is only watched nobody tells them."""
    return job.world_size > 0 or job.step is not None


def goodput_of(job: Job) -> float | None:
    """The job's goodput, 0..1; None where nobody measures it."""
    return job.goodput if is_measured(job) else None


def document_of(job: Job) -> JobDocument:
    """The job, with null for whatever nobody measures."""
    document = JobDocument.model_validate(job)
    unknown = {} if is_measured(job) else {"world_size": None, "goodput": None}
    return document.model_copy(update=unknown)
