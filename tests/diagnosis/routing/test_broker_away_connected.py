"""A broker that is not there at the start, or away in the middle: said clearly, nothing lost."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diagnosis.routing.storm import Storm, storm
from diagnosis.routing.test_storm_connected import (
    nothing_is_missing,
    the_culprit_was_named_once_in_each_job,
)
from paramedic.ingest.bus.development_broker import development_broker
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from servers.relay import Relay, relay

_LOG = logging.getLogger(__name__)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def behind_a_cable(folder: Path) -> Iterator[tuple[Storm, Relay]]:
    """A broker that clients reach through a relay alone."""
    port = free_port()
    with (
        development_broker(folder / "broker.log", advertised_port=port) as broker,
        relay((broker.host, broker.port), port) as cable,
        storm(f"127.0.0.1:{port}", folder) as here,
    ):
        yield here, cable


@pytest.mark.connected
def test_a_member_that_is_there_before_its_broker_waits_and_says_so(tmp_path: Path) -> None:
    port = free_port()
    with storm(f"127.0.0.1:{port}", tmp_path) as here:
        member = here.member()
        deadline = time.monotonic() + 30.0
        while member.log.count("tries again in 1 s") < 2 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert f"no Kafka broker answers at 127.0.0.1:{port}" in member.log
        assert "Traceback" not in member.log
        with development_broker(tmp_path / "broker.log", port=port):
            publisher, sink = here.publisher(), here.sink()
            sink.read_until(lambda: len(sink.slots) > 300, 60.0)
            nothing_is_missing(sink, publisher)
            sink.subscription.close()
            member.end()


@pytest.mark.parametrize(
    ("away_seconds", "reconnect_seconds"),
    [
        pytest.param(10.0, 60.0, marks=pytest.mark.connected, id="shorter than is waited"),
        pytest.param(14.0, 6.0, marks=pytest.mark.connected, id="longer than is waited"),
        pytest.param(60.0, 30.0, marks=pytest.mark.soak, id="a minute, longer than is waited"),
        pytest.param(60.0, 120.0, marks=pytest.mark.soak, id="a minute, as by default"),
    ],
)
@pytest.mark.timeout(400)
def test_a_broker_that_is_away_in_the_middle_costs_nothing(
    tmp_path: Path, away_seconds: float, reconnect_seconds: float
) -> None:
    with behind_a_cable(tmp_path) as (here, cable):
        publisher = here.publisher()
        members = [here.member(reconnect_seconds), here.member(reconnect_seconds)]
        time.sleep(12.0)
        cable.cut()
        time.sleep(away_seconds)
        cable.mend()
        time.sleep(10.0)
        sink = here.sink()
        seconds = nothing_is_missing(sink, publisher)
        the_culprit_was_named_once_in_each_job(sink)
        sink.subscription.close()
        said = "\n".join(member.log for member in members)
    if away_seconds > KafkaSettings().request_seconds:  # else all may be waiting for an answer
        assert "no Kafka broker answers at 127.0.0.1:" in said
    assert "Traceback" not in said
    _LOG.info(
        f"{away_seconds:g} s away: {seconds} s of two shards, {sink.ledger.accepted} slots"
        f" accepted, {sink.ledger.repeated} repeats rejected"
    )
