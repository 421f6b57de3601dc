"""From our settings, the environment and files to the bus, Kafka or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.ingest.bus.address import open_bus
from paramedic.ingest.bus.kafka_security import KafkaSecurity, SaslMechanism, SecurityProtocol
from paramedic.ingest.bus.kafka_settings import KafkaCompression, KafkaSettings
from paramedic.ingest.contract import BusSettingError, Topic

if TYPE_CHECKING:
    from paramedic.api.settings.schema import KafkaSettings as KafkaSection
    from paramedic.api.settings.schema import Settings
    from paramedic.ingest.contract import Bus

SASL_PASSWORD_VARIABLE = "PARAMEDIC_KAFKA_SASL_PASSWORD"
KEY_PASSWORD_VARIABLE = "PARAMEDIC_KAFKA_TLS_KEY_PASSWORD"
_UNSET = "none"
_OFF = "off"


def bus_at(address: str, settings: Settings, environment: Mapping[str, str]) -> Bus:
    """The bus at an address; what is set about Kafka is asked for with a Kafka address only.

    Raises BusAddressError or BusSettingError for what can never work.
    """
    if not address.startswith("kafka"):
        return open_bus(address)
    return open_bus(address, kafka_settings(settings, environment))


def kafka_settings(settings: Settings, environment: Mapping[str, str]) -> KafkaSettings:
    """Everything but the servers. Raises BusSettingError for secrets that are missing."""
    kafka = settings.kafka
    return KafkaSettings(
        prefix=kafka.prefix,
        partitions=kafka.partitions,
        retention_seconds=_retention(kafka),
        security=_security(kafka, environment),
        compression=KafkaCompression(kafka.compression),
        connect_seconds=settings.bus.connect_timeout_seconds,
        reconnect_seconds=kafka.reconnect_timeout_seconds,
        in_flight_limit_bytes=kafka.in_flight_limit_bytes,
        session_seconds=kafka.session_timeout_seconds,
    )


def group_of(settings: Settings) -> str | None:
    """The group whose members share the jobs, if there is one."""
    return None if settings.kafka.group == _OFF else settings.kafka.group


def _retention(kafka: KafkaSection) -> Mapping[Topic, float]:
    return {
        Topic.TELEMETRY: kafka.telemetry_retention_seconds,
        Topic.SLOTS: kafka.telemetry_retention_seconds,
        Topic.EVENTS: kafka.events_retention_seconds,
        Topic.VERDICTS: kafka.verdicts_retention_seconds,
        Topic.DEAD_LETTER: kafka.dead_letter_retention_seconds,
    }


def _security(kafka: KafkaSection, environment: Mapping[str, str]) -> KafkaSecurity:
    return KafkaSecurity(
        protocol=SecurityProtocol(kafka.security_protocol),
        mechanism=SaslMechanism(kafka.sasl_mechanism),
        username="" if kafka.sasl_username == _UNSET else kafka.sasl_username,
        password=_secret(
            environment, SASL_PASSWORD_VARIABLE, "sasl_password_file", kafka.sasl_password_file
        ),
        ca_file=_path(kafka.tls_ca_file),
        certificate_file=_path(kafka.tls_certificate_file),
        key_file=_path(kafka.tls_key_file),
        key_password=_secret(
            environment, KEY_PASSWORD_VARIABLE, "tls_key_password_file", kafka.tls_key_password_file
        ),
        checks_hostname=kafka.tls_check_hostname == "yes",
    )


def _path(text: str) -> Path | None:
    return None if text == _UNSET else Path(text)


def _secret(environment: Mapping[str, str], variable: str, setting: str, file: str) -> str:
    """From the environment, else from the first line of the file; never from a setting."""
    if variable in environment:
        return environment[variable]
    path = _path(file)
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").splitlines()[0].strip()
    except (OSError, UnicodeDecodeError, IndexError) as error:
        raise BusSettingError(
            f"kafka.{setting} = {path}: no password can be read from it:"
            f" {type(error).__name__}: put it on the first line, or in {variable}"
        ) from error
