"""What somebody outside a run gets: its verbs as children, its bus, its launcher's word."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from paramedic.api.demo.child import child_verb
from paramedic.api.wiring.observing import placements, read_batch, subscribe_to_all
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.json_form import write_json
from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.contract import (
    BusAddressError,
    ContractError,
    JobName,
    TelemetryBatch,
    Topic,
)
from paramedic.remediation.launchers.port import LauncherUnavailableError

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TOPICS = (Topic.TELEMETRY, Topic.EVENTS, Topic.VERDICTS)


def test_everything_that_was_ever_said_is_heard_but_not_what_is_between_services(
    tmp_path: Path,
) -> None:
    with EmbeddedBroker(tmp_path / "b.sock") as broker:
        for topic in (*TOPICS, Topic.DEAD_LETTER):
            broker.publish_local(topic, "train/0", topic.value.encode())
        outside = subscribe_to_all(f"unix:{broker.path}")
        heard = {message.topic: message.payload for message in outside.poll(10.0)}
        outside.close()
    assert heard == {topic: topic.value.encode() for topic in TOPICS}


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(BusAddressError):
        subscribe_to_all("nowhere")


def test_a_batch_is_read_as_it_was_written_and_nothing_else_is() -> None:
    batch = TelemetryBatch(JobName("train"), 0, int(NOON.timestamp()), ())
    assert read_batch(encode(batch)) == batch
    assert read_batch(write_json(batch)) == batch
    with pytest.raises(ContractError):
        read_batch(b"no batch")


def test_a_launcher_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(LauncherUnavailableError):
        placements(tmp_path / "control.sock", "train")


@pytest.mark.connected
def test_a_verb_runs_as_a_child_with_its_own_log(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    with child_verb(("--version",), log, {"PARAMEDIC_API_PORT": "nonsense"}) as child:
        assert child.is_over(30.0)
        assert child.exit_code == 0
    assert log.read_text() == f"paramedic {version('paramedic')}\n"


@pytest.mark.connected
def test_a_verb_that_goes_on_is_asked_to_end_with_its_context(tmp_path: Path) -> None:
    sign, log = tmp_path / "diagnose.alive", tmp_path / "child.log"
    with EmbeddedBroker(tmp_path / "b.sock") as broker:
        arguments = ("diagnose", "--bus", f"unix:{broker.path}", "--sign-file", str(sign))
        with child_verb(arguments, log, {}) as child:
            while not sign.exists():
                assert not child.is_over(0.05), log.read_text()
            assert not child.is_over(0.0)
    assert child.exit_code == 0
    assert "Traceback" not in log.read_text()


@pytest.mark.connected
def test_what_a_verb_refuses_stands_in_its_log(
    tmp_path: Path,
) -> None:
    log = tmp_path / "child.log"
    with child_verb(("serve", "--run-folder", str(tmp_path)), log, {}) as child:
        assert child.is_over(30.0)
    assert child.exit_code == 2
    assert log.read_text().startswith(f"paramedic: {tmp_path}/paramedic.sqlite: no such file")
