"""`/v1/incidents`: what people handle, and what was done about it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from paramedic.api.rest import problem
from paramedic.api.rest.documents import (
    ActionDocument,
    IncidentDetailDocument,
    IncidentDocument,
    IncidentListDocument,
)
from paramedic.api.rest.state import State
from paramedic.ingest.contract import JobName
from paramedic.remediation.contract import IncidentFilter, IncidentState

router = APIRouter(prefix="/v1/incidents", tags=["incidents"])


@router.get(
    "",
    operation_id="list_incidents",
    responses=problem.responses(HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE),
)
def list_incidents(
    state: State,
    job: Annotated[str | None, Query(description="Only of this job.")] = None,
    incident_state: Annotated[
        IncidentState | None, Query(alias="state", description="Only in this state now.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 100,
) -> IncidentListDocument:
    """Incidents, newest first."""
    wanted = IncidentFilter(None if job is None else JobName(job), incident_state, limit)
    with state.records.reading() as view:
        found = view.incidents.find(wanted)
    return IncidentListDocument(
        incidents=[IncidentDocument.model_validate(incident) for incident in found]
    )


@router.get(
    "/{incident_id}",
    operation_id="get_incident",
    responses=problem.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
)
def get_incident(incident_id: str, state: State) -> IncidentDetailDocument:
    """One incident with its actions, oldest first."""
    with state.records.reading() as view:
        found = view.incidents.get(incident_id)
        actions = view.actions.of_incident(incident_id)
    if found is None:
        raise problem.not_found(f"no incident {incident_id!r}: /v1/incidents lists the newest")
    return IncidentDetailDocument(
        **IncidentDocument.model_validate(found).model_dump(),
        actions=[ActionDocument.model_validate(action) for action in actions],
    )
