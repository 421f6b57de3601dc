"""Maintenance is declared, listed and ended over REST."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from paramedic.api.rest.application import create_app
from paramedic.api.rest.maintenance_routes import present
from paramedic.ingest.contract import format_time
from paramedic.remediation.store.store import Store

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ASKED = {"nodes": ["node-0007"], "ends": format_time(NOW + 2 * HOUR), "reason": "new optics"}


@dataclass
class Desk:
    """Sends bodies to an application whose clock stands still."""

    app: FastAPI
    now: list[datetime] = field(default_factory=lambda: [NOW])

    def __post_init__(self) -> None:
        self.app.dependency_overrides[present] = lambda: self.now[0]

    def send(self, method: str, path: str = "", body: Any = None, **more: Any) -> httpx.Response:
        return asyncio.run(self._send(method, f"/v1/maintenance{path}", json=body, **more))

    def declare(self, **changed: Any) -> Any:
        response = self.send("POST", body={**ASKED, **changed})
        assert response.status_code == 201, response.text
        return response.json()

    def listed(self, query: str = "") -> list[str]:
        return [one["id"] for one in self.send("GET", query).json()["maintenance"]]

    async def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        more = {name: value for name, value in more.items() if value is not None}
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, **more)


@pytest.fixture
def desk(store: Store) -> Desk:
    return Desk(create_app(store, version="1", book=store))


def test_what_is_declared_is_kept_and_listed_until_it_is_over(desk: Desk, store: Store) -> None:
    declared = desk.declare()
    assert declared["phase"] == "lasting"
    assert declared["begins"] == declared["declared_at"] == "2026-01-01T12:00:00Z"
    assert declared["told_jobs"] == []
    with store.reading() as view:
        (kept,) = view.maintenance.all()
    assert (kept.id, kept.nodes, kept.ends) == (declared["id"], ("node-0007",), NOW + 2 * HOUR)
    assert desk.listed() == [declared["id"]]
    desk.now[0] = NOW + 2 * HOUR
    assert desk.listed() == []
    assert desk.listed("?over=true") == [declared["id"]]


def test_times_of_other_zones_are_answered_in_utc(desk: Desk) -> None:
    declared = desk.declare(begins="2026-01-01T16:00:00+02:00", ends="2026-01-01T17:30:00+02:00")
    assert (declared["begins"], declared["ends"]) == (
        "2026-01-01T14:00:00Z",
        "2026-01-01T15:30:00Z",
    )
    assert declared["phase"] == "planned"


def test_it_is_ended_once_and_stays_as_it_was(desk: Desk) -> None:
    path = f"/{desk.declare(nodes=[], job='llama')['id']}"
    desk.now[0] = NOW + HOUR
    ended = desk.send("DELETE", path).json()
    assert (ended["phase"], ended["ended_at"]) == ("over", "2026-01-01T13:00:00Z")
    desk.now[0] = NOW + 1.5 * HOUR
    assert desk.send("DELETE", path).json() == desk.send("GET", path).json() == ended


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"nodes": []}, "name nodes, a job, or both"),
        ({"nodes": ["a b"]}, "pattern"),
        ({"nodes": ["*"]}, "pattern"),
        ({"job": ""}, "at least 1 character"),
        ({"ends": "2026-01-01T11:00:00Z"}, "after the begin and after now"),
        ({"begins": "2026-01-01T15:00:00Z"}, "after the begin and after now"),
        ({"ends": "2026-01-01T15:00:00"}, "timezone"),
        ({"reason": ""}, "at least 1 character"),
        ({"until": "tomorrow"}, "Extra inputs"),
    ],
)
def test_what_cannot_be_declared_is_422_and_says_why(
    desk: Desk, wrong: dict[str, Any], says: str
) -> None:
    response = desk.send("POST", body={**ASKED, **wrong})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert says in response.json()["detail"]
    assert desk.listed() == []


def test_another_sites_page_cannot_declare_any(desk: Desk) -> None:
    """A browser sends text without asking first; JSON it sends only after we have agreed."""
    headers = {"content-type": "text/plain"}
    response = desk.send("POST", content=json.dumps(ASKED), headers=headers)
    assert response.status_code == 422


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_what_is_not_there_is_404(desk: Desk, method: str) -> None:
    response = desk.send(method, "/mnt-0")
    assert response.status_code == 404
    assert "no maintenance 'mnt-0': /v1/maintenance" in response.json()["detail"]


def test_an_api_that_only_reads_refuses(store: Store) -> None:
    reader = Desk(create_app(store, version="1"))
    assert reader.listed() == []
    for method, path, body in (("POST", "", ASKED), ("DELETE", "/mnt-0", None)):
        response = reader.send(method, path, body)
        assert response.status_code == 403
        assert "remediate --serve" in response.json()["detail"]


def test_a_database_that_is_away_is_503(desk: Desk, break_store: Callable[[], None]) -> None:
    break_store()
    assert desk.send("POST", body=ASKED).status_code == 503
