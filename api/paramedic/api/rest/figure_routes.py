"""`/v1/verdicts/{id}/figure.svg` and `.png`: the machine against the band of its peers."""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus

from fastapi import APIRouter, Response

from paramedic.api.rest import problem
from paramedic.api.rest.state import NoFigureError, State

router = APIRouter(prefix="/v1/verdicts", tags=["verdicts"])


class Form(StrEnum):
    """What a figure is drawn as."""

    SVG = "svg"
    PNG = "png"


_MEDIA_TYPES = {Form.SVG: "image/svg+xml", Form.PNG: "image/png"}
_DRAWN = {
    kind: {"schema": {"type": "string", "format": "binary"}} for kind in _MEDIA_TYPES.values()
}


@router.get(
    "/{verdict_id}/figure.{form}",
    operation_id="get_verdict_figure",
    response_class=Response,
    responses={
        200: {"content": _DRAWN, "description": "The figure."},
        **problem.responses(
            HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE
        ),
    },
)
def get_verdict_figure(verdict_id: str, form: Form, state: State) -> Response:
    """The figure of a verdict, drawn from the run's ring as long as its telemetry is in it."""
    with state.records.reading() as view:
        document = view.verdicts.document(verdict_id)
    if document is None:
        raise problem.not_found(f"no verdict {verdict_id!r}: /v1/verdicts lists the newest")
    if state.figures is None:
        raise problem.not_found("no telemetry is kept here: there is nothing to draw from")
    try:
        drawn = state.figures.draw(document, verdict_id, form.value)
    except NoFigureError as error:
        raise problem.not_found(str(error)) from error
    return Response(drawn, media_type=_MEDIA_TYPES[form])
