"""Errors are RFC 9457 problem details, whoever raised them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI


def problem(client: Any, path: str, method: str = "GET") -> Any:
    response = client.request(method, path)
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == response.status_code
    assert found["type"] == "about:blank"
    assert found["instance"] == path.partition("?")[0]
    return found


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/v1/jobs/nobody", "no job 'nobody': /v1/jobs"),
        ("/v1/verdicts/V9", "no verdict 'V9'"),
        ("/v1/incidents/inc-V9", "no incident 'inc-V9'"),
        ("/v2/jobs", "GET /v2/jobs is not served: see /docs"),
    ],
)
def test_what_is_not_there_is_404_and_says_where_to_look(client: Any, path: str, says: str) -> None:
    found = problem(client, path)
    assert (found["status"], found["title"]) == (404, "Not Found")
    assert says in found["detail"]


@pytest.mark.parametrize(
    ("query", "name"),
    [("status=smouldering", "status"), ("limit=0", "limit"), ("limit=many", "limit"),
     ("fault=rust", "fault")],
)  # fmt: skip
def test_a_parameter_that_cannot_be_used_is_422_and_named(
    client: Any, query: str, name: str
) -> None:
    found = problem(client, f"/v1/verdicts?{query}")
    assert found["status"] == 422
    assert [error["name"] for error in found["errors"]] == [name]


def test_another_method_is_405_and_says_which_is_allowed(client: Any) -> None:
    assert problem(client, "/v1/jobs", "POST")["status"] == 405
    assert client.request("POST", "/v1/jobs").headers["allow"] == "GET"


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/verdicts/V1", "/v1/incidents", "/metrics"])
def test_a_database_that_cannot_be_read_is_503(
    client: Any, break_store: Callable[[], None], path: str
) -> None:
    break_store()
    assert problem(client, path)["status"] == 503


def test_a_fault_of_our_own_is_500_and_gives_nothing_away(app: FastAPI, client_of: Any) -> None:
    def stumble() -> None:
        raise KeyError("a secret")

    app.add_api_route("/stumble", stumble)
    client = client_of(app)
    found = problem(client, "/stumble")
    assert found["status"] == 500
    assert "secret" not in str(found)
