"""What is set about Kafka, secrets included, reaches the bus; what cannot work says its setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paramedic.api.settings.errors import SettingConflictError, SettingValueError
from paramedic.api.settings.reading import parse_assignment, read_settings
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.diagnose_metrics import families_of
from paramedic.api.wiring.kafka import bus_at, group_of, kafka_settings
from paramedic.api.wiring.translation import diagnose_config
from paramedic.diagnosis.routing.report import RoutingReport
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_security import SaslMechanism, SecurityProtocol
from paramedic.ingest.bus.kafka_settings import KafkaCompression
from paramedic.ingest.contract import BusSettingError, Topic

NOWHERE = Path("/nonexistent")
SASL = ("kafka.security_protocol=sasl_ssl", "kafka.sasl_username=diagnose")


def settings(*assignments: str) -> Settings:
    return read_settings(NOWHERE, {}, dict(map(parse_assignment, assignments)))


def test_every_setting_of_kafka_reaches_the_bus(tmp_path: Path) -> None:
    (tmp_path / "key-password").write_text("opens the key\n")
    chosen = settings(
        *SASL,
        "kafka.sasl_mechanism=PLAIN",
        "kafka.tls_ca_file=/ca",
        "kafka.tls_certificate_file=/cert",
        "kafka.tls_key_file=/key",
        f"kafka.tls_key_password_file={tmp_path}/key-password",
        "kafka.tls_check_hostname=no",
        "kafka.prefix=blue",
        "kafka.partitions=3",
        "kafka.compression=gzip",
        "kafka.telemetry_retention_seconds=500",
        "kafka.reconnect_timeout_seconds=7",
        "bus.connect_timeout_seconds=2",
    )
    bus = bus_at("kafka://one:9092", chosen, {"PARAMEDIC_KAFKA_SASL_PASSWORD": "secret"})
    assert isinstance(bus, KafkaBus)
    found = bus.settings
    assert (found.servers, found.prefix, found.partitions) == (("one:9092",), "blue", 3)
    assert found.compression is KafkaCompression.GZIP
    assert found.retention_seconds[Topic.TELEMETRY] == found.retention_seconds[Topic.SLOTS] == 500
    assert (found.reconnect_seconds, found.connect_seconds) == (7.0, 2.0)
    security = found.security
    assert (security.protocol, security.mechanism) == (
        SecurityProtocol.SASL_SSL,
        SaslMechanism.PLAIN,
    )
    assert (security.username, security.password) == ("diagnose", "secret")
    assert (security.ca_file, security.certificate_file) == (Path("/ca"), Path("/cert"))
    assert (security.key_file, security.key_password) == (Path("/key"), "opens the key")
    assert not security.checks_hostname


def test_a_prefix_in_the_address_wins() -> None:
    bus = bus_at("kafka://one:9092?prefix=green", settings("kafka.prefix=blue"), {})
    assert isinstance(bus, KafkaBus)
    assert bus.settings.prefix == "green"


def test_a_password_comes_from_the_file_where_the_environment_has_none(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from the file\nand no more")
    chosen = settings(*SASL, f"kafka.sasl_password_file={file}")
    assert kafka_settings(chosen, {}).security.password == "from the file"
    environment = {"PARAMEDIC_KAFKA_SASL_PASSWORD": "from outside"}
    assert kafka_settings(chosen, environment).security.password == "from outside"


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"], ids=["no file", "empty", "no text"])
def test_a_password_file_without_one_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BusSettingError, match=f"kafka.sasl_password_file = {file}: no password"):
        kafka_settings(settings(*SASL, f"kafka.sasl_password_file={file}"), {})


def test_secrets_are_asked_for_with_a_kafka_address_only() -> None:
    bus_at("memory:", settings(*SASL), {})
    with pytest.raises(BusSettingError, match="a password"):
        bus_at("kafka://one:9092", settings(*SASL), {})


@pytest.mark.parametrize(
    ("key", "value", "choices"),
    [
        ("compression", "brotli", "none, gzip, snappy, lz4, zstd"),
        ("security_protocol", "tls", "plaintext, ssl, sasl_plaintext, sasl_ssl"),
        ("sasl_mechanism", "plain", "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
        ("tls_check_hostname", "maybe", "yes, no"),
    ],
)
def test_a_word_that_is_no_choice_is_refused_with_the_choices(
    key: str, value: str, choices: str
) -> None:
    with pytest.raises(SettingValueError, match=f"kafka.{key} = '{value}': needs one of {choices}"):
        settings(f"kafka.{key}={value}")


def test_telemetry_has_to_be_held_as_long_as_it_is_read_again() -> None:
    short = ("bus.address=kafka://one:9092", "kafka.telemetry_retention_seconds=100")
    with pytest.raises(SettingConflictError, match="must be at least 183, the sum of"):
        settings(*short)
    settings(*short, "kafka.rewind_seconds=30")


def test_diagnosis_shares_its_work_unless_that_is_off() -> None:
    assert group_of(settings()) == "paramedic-diagnose"
    assert diagnose_config(settings("kafka.group=off")).group is None
    assert diagnose_config(settings("kafka.rewind_seconds=60")).rewind_seconds == 60 + 3 + 60


def samples(report: RoutingReport) -> dict[tuple[str, tuple[Any, ...]], float]:
    return {
        (one.name, tuple(one.labels.values())): one.value
        for family in families_of(report)
        for one in family.samples
    }


def test_lag_and_drops_are_metrics() -> None:
    found = samples(
        RoutingReport(
            shares=3, lag_messages={"telemetry.v1": 7}, counts={"dead_letters": 2, "verdicts": 1}
        )
    )
    assert found["paramedic_diagnose_shares", ()] == 3
    assert found["paramedic_diagnose_lag_messages", ("telemetry.v1",)] == 7
    assert found["paramedic_diagnose_dead_letters_total", ()] == 2
    assert found["paramedic_diagnose_slots_repeated_total", ()] == 0
