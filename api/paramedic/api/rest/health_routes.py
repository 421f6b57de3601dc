"""`/healthz` and `/metrics`: is it alive, and what does it count."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from paramedic.api.rest import problem
from paramedic.api.rest.documents import HealthDocument
from paramedic.api.rest.metrics import metrics_page
from paramedic.api.rest.state import ApiState, State
from paramedic.remediation.contract import StoreUnavailableError

router = APIRouter(tags=["health"])


@router.get(
    "/healthz",
    operation_id="get_health",
    response_model=HealthDocument,
    responses=problem.responses(HTTPStatus.SERVICE_UNAVAILABLE),
)
def get_health(request: Request, state: State) -> HealthDocument | Response:
    """What is alive; 503 when something is not, such as the database or the loop that acts."""
    neighbours = {name: signs.is_alive() for name, signs in state.signs.items()}
    trouble = _trouble_with_the_database(state)
    alive = {"database": trouble is None, **neighbours}
    if all(alive.values()):
        return HealthDocument(status="ok", alive=alive)
    dead = ", ".join(
        f"{name} (last sign of life {state.signs[name].silent_seconds():.0f} s ago)"
        for name, is_alive in neighbours.items()
        if not is_alive
    )
    detail = trouble or f"not alive: {dead}; the logs of the run say more"
    return problem.problem_response(request, HTTPStatus.SERVICE_UNAVAILABLE, detail, alive=alive)


@router.get(
    "/metrics",
    operation_id="get_metrics",
    response_class=PlainTextResponse,
    responses=problem.responses(HTTPStatus.SERVICE_UNAVAILABLE),
)
def get_metrics(state: State) -> Response:
    """Counts for Prometheus, in its text format."""
    page = metrics_page(state.records, state.version, state.signs)
    return Response(page, headers={"content-type": CONTENT_TYPE_LATEST})


def _trouble_with_the_database(state: ApiState) -> str | None:
    try:
        with state.records.reading() as view:
            view.jobs.all()
    except StoreUnavailableError as error:
        return str(error)
    return None
