"""A store with a hang in it, and the API over it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from api.signs import SetSigns
from api.verdicts import a_verdict
from paramedic.api.rest.application import create_app
from paramedic.diagnosis.contract import Verdict
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.bookkeeping import Bookkeeping
from paramedic.remediation.casework import Casework
from paramedic.remediation.configuration import RemediateConfig
from paramedic.remediation.intake import VerdictMessage
from paramedic.remediation.launchers.in_memory import InMemoryLauncher
from paramedic.remediation.store.store import Store, open_store

START = datetime(2026, 1, 1, tzinfo=UTC)


def verdict_about(identity: str, node: str, seconds: float) -> Verdict:
    detected_at = START + timedelta(seconds=seconds + 10.25)
    return a_verdict(
        id=identity,
        job=JobName("llama"),
        node=NodeName(node),
        onset=START + timedelta(seconds=seconds),
        detected_at=detected_at,
        first_detected_at=detected_at,
        summary=f"{node} — silent",
        rank=1,
    )


@dataclass(frozen=True)
class Scene:
    """What the store was fed with."""

    store: Store
    documents: dict[str, bytes]
    """Verdict id to its message, which carries a field of a newer writer."""


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    return tmp_path / "paramedic.sqlite"


@pytest.fixture
def store(store_file: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{store_file}", busy_timeout_seconds=0.2)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A database with the whole scene in it, and the documents; to make it takes long."""
    file = tmp_path_factory.mktemp("scene") / "paramedic.sqlite"
    store = open_store(f"sqlite:///{file}")
    launcher = InMemoryLauncher(JobName("llama"), ranks=4, spares=1)
    now = START + timedelta(seconds=100)
    casework = Casework(store, launcher, RemediateConfig(), lambda: now)
    documents = {}
    for identity, node, seconds in (("V1", "node-0001", 40.0), ("V2", "node-0002", 50.0)):
        verdict = verdict_about(identity, node, seconds)
        document = json.dumps({**verdict.to_dict(), "from_the_future": [1.50]}).encode()
        documents[identity] = document
        casework.take(VerdictMessage(verdict, document))
    _tell_of_the_job(store, now)
    store.close()
    return file, documents


@pytest.fixture
def scene(store: Store, store_file: Path, told: tuple[Path, dict[str, bytes]]) -> Scene:
    file, documents = told
    with closing(sqlite3.connect(file)) as original, closing(sqlite3.connect(store_file)) as copy:
        original.backup(copy)
    return Scene(store, dict(documents))


def _tell_of_the_job(store: Store, now: datetime) -> None:
    job, kind = JobName("llama"), EventKind.JOB_STATE
    events = [
        Event(START, EventKind.MEMBERSHIP, job, NodeName("node-0000"), rank=0,
              details={"change": "joined"}),
        Event(START, kind, job, details={"state": "starting"}),
        Event(START + timedelta(seconds=20), kind, job, generation=2,
              details={"state": "training", "step": 17}),
    ]  # fmt: skip
    for event in events:
        Bookkeeping(store).take(event)
    Bookkeeping(store).bring_up_to(now)


@pytest.fixture
def app(scene: Scene) -> FastAPI:
    return create_app(scene.store, version="1.2.3", signs={"remediate": SetSigns(0.5)})


@dataclass(frozen=True)
class Client:
    """Asks an application without a server, one request after the other."""

    app: FastAPI

    def request(self, method: str, path: str) -> httpx.Response:
        return asyncio.run(self._request(method, path))

    def get(self, path: str) -> httpx.Response:
        return self.request("GET", path)

    async def _request(self, method: str, path: str) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path)


@pytest.fixture(scope="session")
def client_of() -> Callable[[FastAPI], Client]:
    return Client


@pytest.fixture
def client(app: FastAPI) -> Client:
    return Client(app)


@pytest.fixture
def break_store(store_file: Path, store: Store) -> Callable[[], None]:
    """Makes the database unreadable, as a disk that went away does."""

    def break_it() -> None:
        store.close()
        for file in store_file.parent.glob("paramedic.sqlite*"):
            file.unlink()
        store_file.mkdir()

    return break_it
