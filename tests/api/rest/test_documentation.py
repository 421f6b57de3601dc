"""The OpenAPI document and the page that is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from paramedic.api.rest.application import create_app
from paramedic.remediation.store.store import open_store

OPERATIONS = {
    "get /v1/jobs": "list_jobs",
    "get /v1/jobs/{job}": "get_job",
    "get /v1/verdicts": "list_verdicts",
    "get /v1/verdicts/{verdict_id}": "get_verdict",
    "get /v1/verdicts/{verdict_id}/figure.{form}": "get_verdict_figure",
    "get /v1/incidents": "list_incidents",
    "get /v1/incidents/{incident_id}": "get_incident",
    "get /v1/maintenance": "list_maintenance",
    "post /v1/maintenance": "declare_maintenance",
    "get /v1/maintenance/{maintenance_id}": "get_maintenance",
    "delete /v1/maintenance/{maintenance_id}": "end_maintenance",
    "get /healthz": "get_health",
    "get /metrics": "get_metrics",
}


@pytest.fixture(scope="module")
def openapi(told: Any, client_of: Any) -> Iterator[Any]:
    store = open_store(f"sqlite:///{told[0]}")
    yield client_of(create_app(store, version="1.2.3", signs={})).get("/openapi.json").json()
    store.close()


def operations(openapi: Any) -> Iterator[tuple[str, Any]]:
    """Such as `get /v1/jobs`, with what is said of it."""
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_operation_ids_are_stable(openapi: Any) -> None:
    assert {name: one["operationId"] for name, one in operations(openapi)} == OPERATIONS


def test_every_error_is_documented_as_problem_details(openapi: Any) -> None:
    for _name, operation in operations(openapi):
        errors = {
            status: found for status, found in operation["responses"].items() if status[0] != "2"
        }
        assert "503" in errors
        assert all(
            set(found["content"]) == {"application/problem+json"} for found in errors.values()
        )
    assert "HTTPValidationError" not in openapi["components"]["schemas"]


def test_every_document_has_an_example(openapi: Any) -> None:
    for path, operation in operations(openapi):
        answers = [one for status, one in operation["responses"].items() if status[0] == "2"]
        sent = [operation["requestBody"]] if "requestBody" in operation else []
        for content in (one for answer in answers + sent for one in answer["content"].values()):
            name = content["schema"].get("$ref", "").rpartition("/")[2]
            if path != "get /metrics" and "figure" not in path:
                assert openapi["components"]["schemas"][name]["examples"], path


def test_the_examples_are_what_the_api_answers_with(openapi: Any, client: Any) -> None:
    schemas = openapi["components"]["schemas"]
    for path, name in (
        ("/v1/jobs/llama", "JobDetailDocument"),
        ("/v1/incidents/inc-V1", "IncidentDetailDocument"),
        ("/healthz", "HealthDocument"),
    ):
        assert set(client.get(path).json()) == set(schemas[name]["examples"][0]), path
    verdict = set(client.get("/v1/verdicts/V1").json()) - {"from_the_future"}
    assert verdict == set(schemas["VerdictDocument"]["examples"][0])


class Outside(HTMLParser):
    """Collects whatever a page would load or link."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def test_the_page_shows_every_operation_and_loads_nothing_from_outside(client: Any) -> None:
    response = client.get("/docs")
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    page = Outside()
    page.feed(response.text)
    assert page.links == ["/openapi.json"]
    assert not page.tags & {"script", "link", "img", "iframe"}
    assert set(re.findall(r'<section id="(\w+)">', response.text)) == set(OPERATIONS.values())
    assert "GET /v1/verdicts/{verdict_id}" in response.text


def test_text_is_escaped() -> None:
    from paramedic.api.rest.docs_page import docs_page

    operation = {
        "operationId": "x",
        "description": "<b>",
        "responses": {"200": {"content": {"application/json": {}}}},
    }
    openapi = {
        "info": {"title": "<i>", "version": "1"},
        "paths": {"/<u>": {"get": operation}},
        "components": {"schemas": {}},
    }
    page = docs_page(json.loads(json.dumps(openapi)))
    assert not {"<b>", "<i>", "<u>"} & set(re.findall(r"<.>", page))
