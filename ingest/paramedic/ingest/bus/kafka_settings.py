"""What is set about the Kafka bus, and the one line for a broker that does not answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from paramedic.ingest.bus.kafka_security import KafkaSecurity
from paramedic.ingest.bus.limits import KEY_LIMIT_BYTES, PAYLOAD_LIMIT_BYTES
from paramedic.ingest.contract import BusUnavailableError, Topic

_MILLISECONDS = 1000
_HOUR_SECONDS = 3600.0
_DAY_SECONDS = 24 * _HOUR_SECONDS
_SEGMENTS = 4
"""A broker forgets whole segments: with so many a topic holds a quarter more than its retention."""
_RETENTION = MappingProxyType(
    {
        Topic.TELEMETRY: _HOUR_SECONDS,
        Topic.SLOTS: _HOUR_SECONDS,
        Topic.EVENTS: 7 * _DAY_SECONDS,
        Topic.VERDICTS: 30 * _DAY_SECONDS,
        Topic.DEAD_LETTER: 7 * _DAY_SECONDS,
    }
)


class KafkaCompression(StrEnum):
    """How producers compress what they send. Telemetry shrinks to a third."""

    NONE = "none"
    GZIP = "gzip"
    """Read by everybody without a further package; costs the producer the most."""
    SNAPPY = "snappy"
    """Needs python-snappy."""
    LZ4 = "lz4"
    """A fiftieth of gzip's work, half as much again on the wire; the extras bring its package."""
    ZSTD = "zstd"
    """Needs zstandard."""


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """A Kafka cluster and how long to wait for it."""

    servers: tuple[str, ...] = ("127.0.0.1:9092",)
    """`host:port` of some brokers; the others are learned from them."""
    prefix: str = "paramedic"
    partitions: int = 8
    """For topics that have to be created."""
    retention_seconds: Mapping[Topic, float] = field(default_factory=lambda: _RETENTION)
    """How long a topic that has to be created holds its messages."""
    security: KafkaSecurity = field(default_factory=KafkaSecurity)
    compression: KafkaCompression = KafkaCompression.LZ4
    connect_seconds: float = 5.0
    """For a broker that does not answer at the start."""
    reconnect_seconds: float = 30.0
    """For a broker that has gone away to come back."""
    message_limit_bytes: int = PAYLOAD_LIMIT_BYTES + KEY_LIMIT_BYTES + 4096
    """The largest message with what Kafka puts around it."""
    in_flight_limit_bytes: int = 32 * 1024 * 1024
    """From here on a publisher waits until the broker has acknowledged some of it."""
    fetch_wait_seconds: float = 0.1
    """How long the broker may hold a fetch back; some brokers always do, so it adds delay."""

    session_seconds: float = 10.0
    """A member of a group that is silent for so long is left out, and others take its shares."""
    poll_interval_seconds: float = 60.0
    """A member of a group that takes nothing for so long is left out, alive or not."""
    fetch_limit_bytes: int = 4 * 1024 * 1024
    """What a member of a group takes at once; a larger message comes alone."""
    refresh_seconds: float = 30.0
    """How old what is known of topics and partitions may become before it is asked for again."""

    def __post_init__(self) -> None:
        if not self.servers or self.partitions < 1 or self.connect_seconds <= 0:
            raise ValueError(f"servers, partitions and connect_seconds must be set: {self}")

    @property
    def request_seconds(self) -> float:
        """For one request; a delivery has time for at least two."""
        return min(10.0, self.reconnect_seconds / 2)

    def described(self) -> str:
        """The brokers as a person would write them."""
        return ", ".join(self.servers)

    def connection(self) -> dict[str, object]:
        """What every kafka-python client is built with. Raises BusSettingError."""
        return {
            "bootstrap_servers": list(self.servers),
            "bootstrap_timeout_ms": int(self.connect_seconds * _MILLISECONDS),
            "client_id": "paramedic",
            "request_timeout_ms": int(self.request_seconds * _MILLISECONDS),
            "reconnect_backoff_max_ms": _MILLISECONDS,
            "metadata_max_age_ms": int(self.refresh_seconds * _MILLISECONDS),
            **self.security.client_options(),
        }

    def topic_options(self, topic: Topic) -> dict[str, object]:
        """What a topic is created with."""
        configs = {"max.message.bytes": str(self.message_limit_bytes)}
        retention_seconds = self.retention_seconds.get(topic)
        if retention_seconds is not None:
            milliseconds = int(retention_seconds * _MILLISECONDS)
            configs["retention.ms"] = str(milliseconds)
            configs["segment.ms"] = str(max(_MILLISECONDS, milliseconds // _SEGMENTS))
        return {"num_partitions": self.partitions, "configs": configs}


def no_broker(
    settings: KafkaSettings, reason: str = "", waited_seconds: float | None = None
) -> BusUnavailableError:
    """The one line for a broker that cannot be reached; without a time, `connect_seconds`."""
    waited = settings.connect_seconds if waited_seconds is None else waited_seconds
    because = f", {reason}" if reason else ""
    return BusUnavailableError(
        f"no Kafka broker answers at {settings.described()} (after {waited:.3g} s{because}):"
        " start one, or run without --bus kafka"
    )


def no_answer_yet(settings: KafkaSettings, away_seconds: float, reason: str = "") -> str:
    """The line for a broker that is waited for."""
    because = f", {reason}" if reason else ""
    return f"no Kafka broker answers at {settings.described()} since {away_seconds:.0f} s{because}"


def no_entry(settings: KafkaSettings) -> BusUnavailableError:
    """The line for a broker that answers and then does not go on with us."""
    security = settings.security
    if not security.protocol.asks_for_a_name:
        return no_broker(settings, "it answers, and says nothing of its topics")
    return BusUnavailableError(
        f"the Kafka broker at {settings.described()} refuses {security.username}: check"
        " kafka.sasl_username, its password and kafka.sasl_mechanism ="
        f" {security.mechanism.value}"
    )
