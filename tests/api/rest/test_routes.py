"""What each route answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from api.signs import SetSigns
from paramedic.api.rest.application import create_app


def get(client: Any, path: str) -> Any:
    response = client.get(path)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


def test_jobs_are_listed(client: Any) -> None:
    (job,) = get(client, "/v1/jobs")["jobs"]
    assert job["name"] == "llama"
    assert job["state"] == "training"


def test_a_job_says_where_its_ranks_are(client: Any) -> None:
    job = get(client, "/v1/jobs/llama")
    assert (job["generation"], job["step"], job["world_size"]) == (2, 17, 1)
    assert 0.0 < job["goodput"] < 1.0
    assert job["placements"] == [
        {"node": "node-0000", "rank": 0, "since": "2026-01-01T00:00:00Z", "until": None}
    ]


def test_a_verdict_is_byte_for_byte_what_was_on_the_topic(client: Any, scene: Any) -> None:
    assert client.get("/v1/verdicts/V1").content == scene.documents["V1"]


def test_a_list_of_verdicts_holds_the_very_same_objects_newest_first(
    client: Any, scene: Any
) -> None:
    response = client.get("/v1/verdicts")
    expected = [json.loads(scene.documents[identity]) for identity in ("V2", "V1")]
    assert response.json() == {"verdicts": expected}
    assert scene.documents["V1"] in response.content


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("job=llama", ["V2", "V1"]),
        ("job=other", []),
        ("node=node-0001", ["V1"]),
        ("status=firing&limit=1", ["V2"]),
        ("status=resolved", []),
        ("fault=hang", ["V2", "V1"]),
        ("fault=straggler", []),
    ],
)
def test_verdicts_are_filtered(client: Any, query: str, ids: list[str]) -> None:
    found = get(client, f"/v1/verdicts?{query}")["verdicts"]
    assert [verdict["id"] for verdict in found] == ids


def test_incidents_are_listed_and_filtered(client: Any) -> None:
    incidents = get(client, "/v1/incidents")["incidents"]
    assert [incident["id"] for incident in incidents] == ["inc-V2", "inc-V1"]
    assert get(client, "/v1/incidents?state=recovered") == {"incidents": []}
    assert len(get(client, "/v1/incidents?state=acting&job=llama&limit=1")["incidents"]) == 1


def test_an_incident_tells_what_was_done(client: Any) -> None:
    incident = get(client, "/v1/incidents/inc-V1")
    assert incident["nodes"] == ["node-0001"]
    assert incident["opened_at"] == "2026-01-01T00:00:40Z"
    (action,) = incident["actions"]
    assert (action["kind"], action["target"]) == ("replace_rank", "node-0001")
    assert action["details"]["verdict"] == "V1"


def test_health_says_what_is_alive(client: Any) -> None:
    assert get(client, "/healthz") == {
        "status": "ok",
        "alive": {"database": True, "remediate": True},
    }


def test_health_is_503_when_a_neighbour_is_dead(scene: Any, client_of: Any) -> None:
    signs = {"diagnose": SetSigns(42.0), "bus": SetSigns(0.1)}
    app = create_app(scene.store, version="1", signs=signs)
    response = client_of(app).get("/healthz")
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["alive"] == {"database": True, "diagnose": False, "bus": True}
    assert response.json()["detail"].startswith("not alive: diagnose (last sign of life 42 s ago);")


def test_health_is_503_when_the_database_cannot_be_read(
    client: Any, break_store: Callable[[], None]
) -> None:
    break_store()
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["alive"] == {"database": False, "remediate": True}


def test_nothing_but_maintenance_can_be_written(client: Any) -> None:
    paths = get(client, "/openapi.json")["paths"]
    written = {path: set(methods) for path, methods in paths.items() if set(methods) != {"get"}}
    assert written == {
        "/v1/maintenance": {"get", "post"},
        "/v1/maintenance/{maintenance_id}": {"get", "delete"},
    }
