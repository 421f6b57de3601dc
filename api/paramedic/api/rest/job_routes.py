"""`/v1/jobs`: what is trained, how far it is, and where its ranks are."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from paramedic.api.rest import problem
from paramedic.api.rest.documents import (
    JobDetailDocument,
    JobListDocument,
    StayDocument,
)
from paramedic.api.rest.measured import document_of
from paramedic.api.rest.state import State
from paramedic.ingest.contract import JobName

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get(
    "",
    operation_id="list_jobs",
    responses=problem.responses(HTTPStatus.SERVICE_UNAVAILABLE),
)
def list_jobs(state: State) -> JobListDocument:
    """Every job, newest start first."""
    with state.records.reading() as view:
        jobs = view.jobs.all()
    return JobListDocument(jobs=[document_of(job) for job in jobs])


@router.get(
    "/{job}",
    operation_id="get_job",
    responses=problem.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
)
def get_job(job: str, state: State) -> JobDetailDocument:
    """One job: state, generation, newest step, goodput, and where its ranks are and were."""
    with state.records.reading() as view:
        found = view.jobs.get(JobName(job))
        stays = view.jobs.stays(JobName(job))
    if found is None:
        raise problem.not_found(f"no job {job!r}: /v1/jobs lists those that are known")
    return JobDetailDocument(
        **document_of(found).model_dump(),
        placements=[StayDocument.model_validate(stay) for stay in stays],
    )
