"""Builders of verdicts and events, and a store in a temporary folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.store.store import Store, open_store

_START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="session")
def at() -> Callable[[float], datetime]:
    """Seconds since the test's start of time → that moment."""
    return lambda seconds: _START + timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def verdict_of() -> Callable[..., Verdict]:
    """A firing, certain `hang` on node-0001; every field can be given."""

    def build(identity: str = "V1", **given: Any) -> Verdict:
        fields: dict[str, Any] = {
            "id": identity,
            "job": JobName("llama"),
            "generation": 0,
            "scope": Scope.NODE,
            "node": NodeName("node-0001"),
            "gpu": None,
            "members": (),
            "status": Status.FIRING,
            "phase": Phase.FAILED,
            "fault": Fault.HANG,
            "tier": Tier.HEARTBEAT,
            "severity": Severity.P1,
            "confidence": 0.99,
            "onset": _START + timedelta(seconds=10),
            "detected_at": _START + timedelta(seconds=20),
            "summary": "node-0001 is silent",
            "candidates": (),
            "evidence": (),
            "action": Recommendation(RecommendedAction.REPLACE_RANK, "it is stuck"),
        }
        return Verdict(**{**fields, **given})

    return build


@pytest.fixture(scope="session")
def event_of() -> Callable[..., Event]:
    """An event of the job at so many seconds; further names are details."""

    def build(seconds: float, kind: EventKind, **given: Any) -> Event:
        common = {name: given.pop(name) for name in ("node", "rank", "generation") if name in given}
        job = given.pop("job", JobName("llama"))
        moment = _START + timedelta(seconds=seconds)
        return Event(timestamp=moment, kind=kind, job=job, details=given, **common)

    return build


@pytest.fixture(scope="session")
def database_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], str]:
    """A folder → the URL of an empty database there; a copy, because making one takes the disk."""
    original = tmp_path_factory.mktemp("original") / "paramedic.sqlite"
    open_store(f"sqlite:///{original}").close()

    def copy_to(folder: Path) -> str:
        return f"sqlite:///{shutil.copy(original, folder)}"

    return copy_to


@pytest.fixture
def store_url(tmp_path: Path, database_in: Callable[[Path], str]) -> str:
    return database_in(tmp_path)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = open_store(store_url, busy_timeout_seconds=0.2)
    yield opened
    opened.close()
