"""`/v1/verdicts`: verdicts byte for byte as they were on the verdict topic."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Response

from paramedic.api.rest import problem
from paramedic.api.rest.documents import VerdictDocument, VerdictListDocument
from paramedic.api.rest.state import State
from paramedic.diagnosis.contract import Fault, Status
from paramedic.ingest.contract import JobName, NodeName
from paramedic.remediation.contract import VerdictFilter

router = APIRouter(prefix="/v1/verdicts", tags=["verdicts"])

_JSON = "application/json"


@router.get(
    "",
    operation_id="list_verdicts",
    response_model=VerdictListDocument,
    responses=problem.responses(HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE),
)
def list_verdicts(
    state: State,
    job: Annotated[str | None, Query(description="Only of this job.")] = None,
    status: Annotated[Status | None, Query(description="Only with this status now.")] = None,
    node: Annotated[str | None, Query(description="Only about this node.")] = None,
    fault: Annotated[Fault | None, Query(description="Only of this fault family.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 100,
) -> Response:
    """The newest state of each verdict, newest `detected_at` first."""
    wanted = VerdictFilter(
        job=None if job is None else JobName(job),
        status=status,
        node=None if node is None else NodeName(node),
        fault=fault,
        limit=limit,
    )
    with state.records.reading() as view:
        documents = view.verdicts.documents(wanted)
    # Joined as bytes: a verdict that went through a parser might come out another.
    return Response(b'{"verdicts": [' + b", ".join(documents) + b"]}", media_type=_JSON)


@router.get(
    "/{verdict_id}",
    operation_id="get_verdict",
    response_model=VerdictDocument,
    responses=problem.responses(HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
)
def get_verdict(verdict_id: str, state: State) -> Response:
    """One verdict: the same object as on the verdict topic."""
    with state.records.reading() as view:
        document = view.verdicts.document(verdict_id)
    if document is None:
        raise problem.not_found(f"no verdict {verdict_id!r}: /v1/verdicts lists the newest")
    return Response(document, media_type=_JSON)
