"""Addresses of buses: three forms, and one clear line for everything else."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.bus.address import VALID_FORMS, open_bus
from paramedic.ingest.bus.embedded.client import EmbeddedBus
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import BusAddressError, BusUnavailableError

unhurried = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_memory_is_a_bus_of_its_own_at_every_call() -> None:
    first, second = open_bus("memory:"), open_bus("memory:")
    assert isinstance(first, MemoryBus)
    assert first is not second


def test_unix_is_the_embedded_bus(tmp_path: Path) -> None:
    assert isinstance(open_bus(f"unix:{tmp_path}/bus.sock"), EmbeddedBus)


def test_kafka_takes_several_servers_and_a_prefix() -> None:
    from paramedic.ingest.bus.kafka import KafkaBus

    bus = open_bus("kafka://one:9092,[::1]:9093?prefix=blue")
    assert isinstance(bus, KafkaBus)
    assert (bus.settings.servers, bus.settings.prefix) == (("one:9092", "[::1]:9093"), "blue")
    plain = open_bus("kafka://one:9092")
    assert isinstance(plain, KafkaBus)
    assert plain.settings.prefix == "paramedic"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("", "unknown kind"),
        ("memory", "unknown kind"),
        ("memory:x", "unknown kind"),
        ("unix:relative.sock", "unknown kind"),
        ("redis://host:1", "unknown kind"),
        ("kafka:host:9092", "goes on with //host:port"),
        ("kafka://", "'' is not host:port"),
        ("kafka://host", "'host' is not host:port"),
        ("kafka://host:0", "'host:0' is not"),
        ("kafka://host:99999", "'host:99999' is not"),
        ("kafka://a:1,,b:2", "'' is not host:port"),
        ("kafka://host:9092/topic", "'host:9092/topic' is not"),
        ("kafka://host:9092?prefix=", "prefix ''"),
        ("kafka://host:9092?prefix=a%20b", "prefix 'a b'"),
        ("kafka://host:9092?acks=0", "unknown option 'acks'"),
        ("kafka://[::1:9092", "is not host:port"),
    ],
)
def test_an_address_that_can_never_work_names_the_value_and_the_valid_forms(
    address: str, reason: str
) -> None:
    with pytest.raises(BusAddressError, match=reason) as caught:
        open_bus(address)
    assert repr(address) in str(caught.value)
    assert VALID_FORMS in str(caught.value)


@unhurried
@given(st.sampled_from(["", "unix:", "unix:/", "kafka://", "kafka:"]), st.text(max_size=30))
def test_arbitrary_addresses_raise_nothing_but_an_address_error(scheme: str, rest: str) -> None:
    with suppress(BusAddressError):
        open_bus(scheme + rest)


def test_a_socket_that_nobody_serves_is_unavailable_and_not_a_wrong_address(
    tmp_path: Path,
) -> None:
    from paramedic.ingest.bus.embedded.link import Patience, Timing

    bus = EmbeddedBus(tmp_path / "bus.sock", Timing(Patience(connect_seconds=0.05)))
    with pytest.raises(BusUnavailableError, match=r"no broker answers at .*bus\.sock"):
        bus.publisher()


def test_a_socket_below_a_file_is_a_wrong_address(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BusAddressError, match="Not a directory"):
        open_bus(f"unix:{tmp_path}/file/bus.sock")


def test_opening_a_local_bus_does_not_import_the_kafka_client() -> None:
    script = (
        "import sys; from paramedic.ingest.bus.address import open_bus;"
        "open_bus('memory:'); open_bus('unix:/tmp/bus.sock');"
        "sys.exit('kafka' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
