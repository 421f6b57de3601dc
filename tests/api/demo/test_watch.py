"""The watch takes what arrives on the bus, shows it, and keeps what the summary needs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from paramedic.api.demo.observations import Injection
from paramedic.api.demo.watch import Watch
from paramedic.api.demo.watched_run import has_settled
from paramedic.api.wiring.narration import Line, Theme
from paramedic.ingest.contract import (
    ContractError,
    Entity,
    Event,
    EventKind,
    JobName,
    Message,
    NodeName,
    Table,
    TelemetryBatch,
    Topic,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class ScriptedSubscription:
    """Answers each poll with the next portion."""

    def __init__(self, portions: Sequence[Sequence[Message]]) -> None:
        self._portions = list(portions)

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        assert timeout_seconds <= 1.0
        return self._portions.pop(0) if self._portions else []

    def close(self) -> None:
        pass


class RecordingScreen:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[tuple[Line, float | None]] = []
        self.statuses: list[str] = []

    def line(self, line: Line, seconds: float | None) -> None:
        self.lines.append((line, seconds))

    def status(self, text: str) -> None:
        self.statuses.append(text)

    def close(self) -> None:
        pass


def read_step(payload: bytes) -> TelemetryBatch:
    """Batches of this test are a step in ASCII."""
    if not payload.isdigit():
        raise ContractError("no step")
    table = Table(Entity.RANK, (NodeName("node-0000"),), (0,), {"step": (float(payload),)})
    return TelemetryBatch(JobName("demo"), 0, 0, (table,))


def steps(*payloads: bytes) -> list[Message]:
    return [Message(Topic.TELEMETRY, "demo/0", payload, 0) for payload in payloads]


def training() -> Message:
    event = Event(NOON, EventKind.JOB_STATE, JobName("demo"), details={"state": "training"})
    return Message(Topic.EVENTS, "demo/0", event.to_json(), 0)


def watch_of(*portions: Sequence[Message]) -> tuple[Watch, RecordingScreen, list[float]]:
    now = [100.0]
    screen = RecordingScreen()
    watch = Watch(ScriptedSubscription(portions), screen, lambda: now[0], read_step)
    return watch, screen, now


def test_events_become_lines_and_telemetry_becomes_the_status() -> None:
    watch, screen, _now = watch_of([*steps(b"3"), training()])
    watch.look(0.1)
    assert [line.theme for line, _seconds in screen.lines] == [Theme.EVENT]
    assert screen.statuses == ["batch 1 of telemetry, step 3, 0.0 steps a second"]
    assert len(watch.observed) == 1


def test_what_cannot_be_read_is_passed_over() -> None:
    broken = Message(Topic.VERDICTS, "demo/0", b"{}", 0)
    watch, screen, _now = watch_of([*steps(b"x"), broken])
    watch.look(0.1)
    assert watch.observed == []
    assert screen.lines == []


def test_lines_after_the_injection_carry_the_seconds_since() -> None:
    watch, screen, now = watch_of([training()])
    watch.injection = Injection(100.0, 2, "node-0002", 0)
    now[0] = 101.5
    watch.look(0.1)
    assert screen.lines[0][1] == 1.5


def test_a_job_that_reaches_no_new_step_is_stalled() -> None:
    watch, _screen, now = watch_of(steps(b"3"), steps(b"3"), steps(b"4"))
    watch.look(0.1)
    now[0] = 130.0
    watch.look(0.1)
    assert watch.stalled_seconds() == 30.0
    watch.look(0.1)
    assert watch.stalled_seconds() == 0.0


def test_a_long_job_settles_for_twenty_seconds() -> None:
    watch, _screen, now = watch_of(steps(b"1"), steps(b"25"))
    assert not has_settled(watch, 400, now[0])
    watch.look(0.1)
    watch.look(0.1)
    assert not has_settled(watch, 400, now[0] + 19.0)
    assert has_settled(watch, 400, now[0] + 20.0)


def test_a_short_job_settles_for_a_quarter_of_its_steps_and_ten_seconds() -> None:
    watch, _screen, now = watch_of(steps(b"1"), steps(b"24"), steps(b"25"))
    watch.look(0.1)
    watch.look(0.1)
    assert not has_settled(watch, 100, now[0] + 10.0)
    watch.look(0.1)
    assert not has_settled(watch, 100, now[0] + 9.0)
    assert has_settled(watch, 100, now[0] + 10.0)


def test_a_job_is_hit_before_more_than_half_of_its_steps_are_done() -> None:
    watch, _screen, now = watch_of(steps(b"1"), steps(b"49"), steps(b"50"))
    watch.look(0.1)
    watch.look(0.1)
    assert not has_settled(watch, 100, now[0])
    watch.look(0.1)
    assert has_settled(watch, 100, now[0])
