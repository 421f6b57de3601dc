"""A recording on a bus: every batch and event, in order, under the keys that diagnosis expects."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ingest.recordings.recorded import describe, gpu_row, moments_of, write_events, write_rows
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.replay import ReplayRequest, Time
from paramedic.api.wiring.republish import RepublishRequest, publish_all, republish
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import BusUnavailableError, Event, Start, Topic
from paramedic.ingest.recordings.errors import RecordingFormatError

AT_ONCE = Time(lambda: 0.0, lambda _seconds: None)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    rows = [gpu_row(second, node, gpu) for second in range(5) for node in "ab" for gpu in range(2)]
    write_rows(describe(tmp_path / "r"), "gpu", rows)
    write_events(
        tmp_path / "r", {"timestamp": "2026-01-01T00:00:02Z", "kind": "xid", "node": "a", "xid": 79}
    )
    return tmp_path / "r"


def test_what_is_published_is_what_was_recorded(recording: Path) -> None:
    bus = MemoryBus()
    published = publish_all(moments_of(recording), bus, nodes=2)
    messages = bus.subscribe([Topic.TELEMETRY, Topic.EVENTS], Start.EARLIEST).poll(0.0)
    assert published == len(messages) == 6
    assert {message.key for message in messages} == {"llama-7b/0"}
    facts = [one.fact for one in moments_of(recording)]
    events = [Event.from_json(m.payload) for m in messages if m.topic is Topic.EVENTS]
    assert events == [fact for fact in facts if isinstance(fact, Event)]
    batches = [decode(m.payload) for m in messages if m.topic is Topic.TELEMETRY]
    expected = [fact for fact in facts if not isinstance(fact, Event)]
    assert [one.second for one in batches] == [one.second for one in expected]
    for sent, read in zip(batches, expected, strict=True):
        (ours,), (theirs,) = sent.tables, read.tables
        assert (ours.nodes, ours.indices) == (theirs.nodes, theirs.indices)
        assert ours.columns["gpu_power_watts"][0] == theirs.columns["gpu_power_watts"][0] == 400.0


def test_a_bus_that_is_away_is_an_error_of_the_bus(recording: Path) -> None:
    bus = MemoryBus()
    bus.fail("no route")
    with pytest.raises(BusUnavailableError, match="no route"):
        publish_all(moments_of(recording), bus, nodes=2)


def test_roles_are_told_on_the_bus_too(recording: Path) -> None:
    describe(recording, nodes=(), ranks=[{"rank": 3, "node": "b", "gpu": 1, "pipeline_stage": 2}])
    out = io.StringIO()
    wanted = RepublishRequest(ReplayRequest(recording), "memory:", Settings(), {})
    assert republish(wanted, out, AT_ONCE) == 0
    assert out.getvalue().splitlines()[-1] == "paramedic: 7 messages of llama-7b published"


def test_the_pace_is_that_of_the_recording(recording: Path) -> None:
    slept: list[float] = []
    wanted = RepublishRequest(ReplayRequest(recording, speed=2.0), "memory:", Settings(), {})
    republish(wanted, io.StringIO(), Time(lambda: sum(slept), slept.append))
    assert slept == [0.5, 0.5, 0.5, 0.5]


def test_a_recording_that_cannot_be_used_opens_no_bus(recording: Path) -> None:
    (recording / "gpu.parquet").write_bytes(b"no")
    wanted = RepublishRequest(ReplayRequest(recording), "pigeon:", Settings(), {})
    with pytest.raises(RecordingFormatError):
        republish(wanted, io.StringIO(), AT_ONCE)
