"""Reads any topics of a Kafka cluster from now on, without a group: nothing is committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from paramedic.ingest.bus.kafka_reach import require_broker
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import BusUnavailableError
from paramedic.ingest.sources.port import SourceAwayError

_FETCH_SECONDS = 0.1
_LOOK_SECONDS = 30.0
_ASK_SECONDS = 1.0
"""For a broker that does not answer: short, so that a source ends promptly when told."""


@dataclass(frozen=True, slots=True)
class Record:
    """One message of a foreign topic."""

    topic: str
    partition: int
    offset: int
    payload: bytes


class Records(Protocol):
    """Gives messages of some topics."""

    def poll(self, timeout_seconds: float, /) -> Sequence[Record]:
        """Messages that have come, waiting at most the time-out for the first.

        Raises SourceAwayError when the cluster is gone: open it again.
        """
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


OpenRecords = Callable[[], Records]
"""Opens the topics. Raises SourceAwayError when that is not possible now."""


class KafkaRecords:
    """The real ones."""

    def __init__(
        self,
        settings: KafkaSettings,
        topics: Sequence[str],
        clock: Callable[[], float],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock = clock
        self._topics = tuple(topics)
        self._looked = clock()
        try:
            require_broker(replace(settings, connect_seconds=_ASK_SECONDS), clock, pause)
            self._consumer = _connected(settings)
        except (BusUnavailableError, KafkaError) as error:
            raise SourceAwayError(str(error)) from error
        self._assigned: frozenset[TopicPartition] = frozenset()
        try:
            self._assign(at_end=True)
        except SourceAwayError:
            self.close()
            raise

    def poll(self, timeout_seconds: float, /) -> Sequence[Record]:
        """Messages that have come."""
        if self._clock() - self._looked >= _LOOK_SECONDS:
            self._looked = self._clock()
            self._assign(at_end=False)
        try:
            batches = self._consumer.poll(timeout_ms=int(timeout_seconds * 1000))
        except KafkaError as error:
            raise SourceAwayError(str(error)) from error
        return [_record(one) for records in batches.values() for one in records]

    def close(self) -> None:
        """Disconnect."""
        self._consumer.close(autocommit=False, timeout_ms=1000)

    def _assign(self, at_end: bool) -> None:
        """All partitions; those that are added later are read from their beginning."""
        try:
            found = {topic: self._consumer.partitions_for_topic(topic) for topic in self._topics}
            missing = [topic for topic, partitions in found.items() if not partitions]
            if missing:
                raise SourceAwayError(f"the Kafka cluster has no topic {', '.join(missing)}")
            every = frozenset(TopicPartition(t, p) for t, ps in found.items() for p in ps)
            added = every - self._assigned
            if added:
                self._assigned = every
                self._consumer.assign(list(every))
                seek = self._consumer.seek_to_end if at_end else self._consumer.seek_to_beginning
                seek(*added)
        except KafkaError as error:
            raise SourceAwayError(str(error)) from error


def _connected(settings: KafkaSettings) -> KafkaConsumer:
    return KafkaConsumer(
        **settings.connection(),
        metrics_enabled=False,
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="latest",
        fetch_max_wait_ms=int(_FETCH_SECONDS * 1000),
    )


def _record(record: Any) -> Record:  # the library ships no types
    return Record(record.topic, record.partition, record.offset, record.value or b"")
