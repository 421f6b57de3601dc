"""`/v1/maintenance`: what people are about to do to machines, so that nobody is accused of it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query

from paramedic.api.rest import problem
from paramedic.api.rest.documents import (
    MaintenanceDocument,
    MaintenanceListDocument,
    MaintenancePhase,
    MaintenanceRequestDocument,
)
from paramedic.api.rest.state import State
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import Maintenance, MaintenanceBook

router = APIRouter(prefix="/v1/maintenance", tags=["maintenance"])

_ID_DIGITS = 16
_UNAVAILABLE = HTTPStatus.SERVICE_UNAVAILABLE


def present() -> datetime:
    """Now; an application of tests has another."""
    return datetime.now(UTC)


def _book(state: State) -> MaintenanceBook:
    if state.book is None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "this API only reads: ask that of `remediate --serve`, `run` or `up`",
        )
    return state.book


Now = Annotated[datetime, Depends(present)]
Book = Annotated[MaintenanceBook, Depends(_book)]


@router.post(
    "",
    operation_id="declare_maintenance",
    status_code=HTTPStatus.CREATED,
    responses=problem.responses(
        HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY, _UNAVAILABLE
    ),
)
def declare_maintenance(
    asked: MaintenanceRequestDocument, book: Book, now: Now
) -> MaintenanceDocument:
    """Declare maintenance of nodes, of a job, or of nodes within one job.

    From its begin to its end, and a little beyond, nothing is said of them. The jobs are told
    within seconds, and those that get such a node later are told then.
    """
    begins = asked.begins or now
    if asked.ends <= max(begins, now):
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"ends is {asked.ends.isoformat()}: it must come after the begin and after now",
        )
    declared = Maintenance(
        id=_identity(asked, now),
        nodes=tuple(NodeName(node) for node in dict.fromkeys(asked.nodes)),
        job=None if asked.job is None else JobName(asked.job),
        begins=begins.astimezone(UTC),
        ends=asked.ends.astimezone(UTC),
        reason=asked.reason,
        declared_at=now,
    )
    book.declare(declared)
    return document_of(declared, now)


@router.get(
    "",
    operation_id="list_maintenance",
    responses=problem.responses(HTTPStatus.UNPROCESSABLE_ENTITY, _UNAVAILABLE),
)
def list_maintenance(
    state: State,
    now: Now,
    over: Annotated[bool, Query(description="Also what is over.")] = False,
) -> MaintenanceListDocument:
    """What is planned and what lasts, the one that begins last first."""
    with state.records.reading() as view:
        found = [document_of(one, now) for one in view.maintenance.all()]
    wanted = [one for one in found if over or one.phase is not MaintenancePhase.OVER]
    return MaintenanceListDocument(maintenance=wanted)


@router.get(
    "/{maintenance_id}",
    operation_id="get_maintenance",
    responses=problem.responses(HTTPStatus.NOT_FOUND, _UNAVAILABLE),
)
def get_maintenance(maintenance_id: str, state: State, now: Now) -> MaintenanceDocument:
    """One maintenance, and the jobs that were told of it."""
    with state.records.reading() as view:
        found = view.maintenance.get(maintenance_id)
    return document_of(_there(found, maintenance_id), now)


@router.delete(
    "/{maintenance_id}",
    operation_id="end_maintenance",
    responses=problem.responses(HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN, _UNAVAILABLE),
)
def end_maintenance(maintenance_id: str, book: Book, now: Now) -> MaintenanceDocument:
    """End it now, or withdraw it before it begins; what is over stays as it is."""
    return document_of(_there(book.end(maintenance_id, now), maintenance_id), now)


def document_of(one: Maintenance, now: datetime) -> MaintenanceDocument:
    """The maintenance as it is answered."""
    phase = MaintenancePhase.LASTING if one.begins <= now else MaintenancePhase.PLANNED
    return MaintenanceDocument(
        id=one.id,
        nodes=list(one.nodes),
        job=one.job,
        begins=one.begins,
        ends=one.ends,
        reason=one.reason,
        declared_at=one.declared_at,
        ended_at=one.ended_at,
        phase=MaintenancePhase.OVER if one.over_at <= now else phase,
        told_jobs=list(one.told_jobs),
    )


def _there(found: Maintenance | None, maintenance_id: str) -> Maintenance:
    if found is None:
        raise problem.not_found(
            f"no maintenance {maintenance_id!r}: /v1/maintenance?over=true lists all"
        )
    return found


def _identity(asked: MaintenanceRequestDocument, now: datetime) -> str:
    said = json.dumps([asked.model_dump(mode="json"), now.isoformat()])
    return f"mnt-{hashlib.sha256(said.encode()).hexdigest()[:_ID_DIGITS]}"
