"""Puts the API together."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from paramedic.api.rest import (
    figure_routes,
    health_routes,
    incident_routes,
    job_routes,
    maintenance_routes,
    problem,
    verdict_routes,
)
from paramedic.api.rest.docs_page import CONTENT_SECURITY_POLICY, docs_page
from paramedic.api.rest.openapi import finish
from paramedic.api.rest.state import ApiState, Figures, Signs

if TYPE_CHECKING:
    from paramedic.remediation.contract import MaintenanceBook, Records

_DESCRIPTION = (
    "What Paramedic sees and does about training jobs. It reads, and takes declared maintenance in."
)


def create_app(
    records: Records,
    *,
    version: str,
    signs: Mapping[str, Signs] = MappingProxyType({}),
    book: MaintenanceBook | None = None,
    figures: Figures | None = None,
) -> FastAPI:
    """The API over what is stored; without a `book` for declared maintenance it only reads.

    `signs` are those of the services beside it, for `/healthz` and `/metrics`; `figures` draws
    verdicts where telemetry is kept.
    """
    app = _Api(
        title="Paramedic",
        version=version,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        # The variables of the user's own tracing must not reach into this server.
        telemetry={"auto_configure": False},
    )
    app.state.paramedic = ApiState(records, version, signs, book, figures)
    for routes in (
        job_routes,
        verdict_routes,
        figure_routes,
        incident_routes,
        maintenance_routes,
        health_routes,
    ):
        app.include_router(routes.router)
    app.add_api_route("/docs", app.docs, include_in_schema=False, response_class=HTMLResponse)
    problem.install(app)
    return app


class _Api(FastAPI):
    """FastAPI with problem details in the OpenAPI document and a page of our own."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            finish(super().openapi())
        return super().openapi()

    def docs(self) -> HTMLResponse:
        """The documentation for people."""
        headers = {"content-security-policy": CONTENT_SECURITY_POLICY}
        return HTMLResponse(docs_page(self.openapi()), headers=headers)
