"""Errors as RFC 9457 problem details, `application/problem+json`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from paramedic.remediation.contract import StoreUnavailableError

MEDIA_TYPE = "application/problem+json"


class InvalidParameter(BaseModel):
    """One parameter that cannot be used."""

    name: str = Field(description="The parameter.")
    reason: str = Field(description="What is wrong with it.")


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "no job 'llama-7b': /v1/jobs lists those that are known",
                    "instance": "/v1/jobs/llama-7b",
                }
            ]
        }
    )

    type: str = Field(description="about:blank: the status says it all.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened here and what to do.")
    instance: str = Field(description="The path that was asked for.")
    errors: list[InvalidParameter] | None = Field(
        default=None, description="With status 422: each parameter that cannot be used."
    )


def responses(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """These statuses as problem details, for a route's documentation."""
    return {int(status): {"model": Problem, "description": status.phrase} for status in statuses}


def not_found(detail: str) -> HTTPException:
    """To be raised when what was asked for is not there."""
    return HTTPException(HTTPStatus.NOT_FOUND, detail)


def install(app: FastAPI) -> None:
    """Answer every error of `app` with problem details."""
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(StoreUnavailableError, _on_store)
    app.add_exception_handler(Exception, _on_bug)


def problem_response(
    request: Request, status: HTTPStatus, detail: str, **more: Any
) -> JSONResponse:
    """A response with problem details; `more` are further members."""
    content = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": detail,
        "instance": request.url.path,
        **more,
    }
    return JSONResponse(content, status_code=status, media_type=MEDIA_TYPE)


def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    is_unexplained = error.detail == status.phrase
    detail = f"{request.method} {request.url.path} is not served: see /docs"
    response = problem_response(request, status, detail if is_unexplained else error.detail)
    response.headers.update(error.headers or {})
    return response


def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    errors = [
        {"name": str(entry["loc"][-1]), "reason": str(entry["msg"])} for entry in error.errors()
    ]
    detail = "; ".join(f"{entry['name']}: {entry['reason']}" for entry in errors)
    return problem_response(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=errors)


def _on_store(request: Request, error: Exception) -> JSONResponse:
    return problem_response(request, HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def _on_bug(request: Request, _error: Exception) -> JSONResponse:
    # The framework raises it again after this answer, so that it stands in the log.
    detail = "a fault of the server: its log says more"
    return problem_response(request, HTTPStatus.INTERNAL_SERVER_ERROR, detail)
