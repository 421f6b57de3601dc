"""Subscribing to Kafka: all partitions of the topics are assigned, so no group has to form."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError, KafkaTimeoutError, UnsupportedCodecError

from paramedic.ingest.bus.kafka_settings import KafkaSettings, no_broker
from paramedic.ingest.bus.kafka_silence import KafkaSilence
from paramedic.ingest.contract import (
    BusError,
    BusSettingError,
    BusUnavailableError,
    Message,
    Start,
    Topic,
)

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 1.0
"""How often it is looked for topics that were made anew."""


class KafkaSubscription:
    """Reads all partitions; partitions that are added later are read from their beginning."""

    def __init__(
        self,
        settings: KafkaSettings,
        topics: Sequence[Topic],
        start: Start,
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._topics = {topic.qualified(settings.prefix): topic for topic in topics}
        self._assigned: frozenset[TopicPartition] = frozenset()
        self._looked_at = clock()
        self._closed = False
        self._consumer = _connect(settings)
        self._silence = KafkaSilence(settings, self._consumer, clock)
        try:
            self._begin(start)
        except BaseException:
            self.close()
            raise

    @property
    def bus_answers(self) -> bool:
        """False while the broker is known to be away: a poll that brings nothing says no more."""
        return self._silence.broker_answers

    def poll(self, timeout_seconds: float) -> Sequence[Message]:
        """Messages that have arrived, waiting at most the time-out for the first.

        Raises BusUnavailableError when closed, or when the broker has been away for longer than
        `reconnect_seconds`; BusSettingError for messages in a compression that is not installed.
        """
        if self._closed:
            raise BusUnavailableError("this subscription is closed: make a new one")
        self._take_new_partitions()
        self._begin_anew()
        try:
            batches = self._consumer.poll(timeout_ms=int(timeout_seconds * 1000))
        except KafkaError as error:
            raise poll_failure(self._settings, error) from error
        messages = [
            message_of(self._topics[record.topic], record)
            for records in batches.values()
            for record in records
        ]
        self._silence.watch(bool(messages), min(self._assigned))
        return messages

    def lag(self) -> int | None:
        """Messages that are still to come; None before the broker has told of every partition."""
        lags = [lag_of(self._consumer, partition) for partition in self._assigned]
        return None if None in lags else sum(lag for lag in lags if lag)

    def close(self) -> None:
        """Disconnect."""
        if not self._closed:
            self._closed = True
            self._consumer.close(autocommit=False, timeout_ms=1000)

    def _begin(self, start: Start) -> None:
        deadline = self._clock() + self._settings.connect_seconds
        while not all(self._known_partitions(topic) for topic in self._topics):
            if self._clock() >= deadline:
                raise no_broker(self._settings, f"it knows no partitions of {list(self._topics)}")
        partitions = self._all_partitions()
        self._consumer.assign(partitions)
        self._assigned = frozenset(partitions)
        self._seek(partitions, start)

    def _seek(self, partitions: Iterable[TopicPartition], start: Start) -> None:
        """Offsets are settled now and not at the first poll, so that LATEST means now."""
        wait_milliseconds = int(self._settings.connect_seconds * 1000)
        find = (
            self._consumer.beginning_offsets
            if start is Start.EARLIEST
            else self._consumer.end_offsets
        )
        try:
            offsets = find(list(partitions), timeout_ms=wait_milliseconds)
        except KafkaError as error:
            raise no_broker(self._settings, str(error)) from error
        for partition, offset in offsets.items():
            self._consumer.seek(partition, offset)

    def _take_new_partitions(self) -> None:
        added = frozenset(self._all_partitions()) - self._assigned
        if added:
            _LOG.info("reading %d partitions that were added", len(added))
            self._assigned |= added
            self._consumer.assign(list(self._assigned))
            self._seek(added, Start.EARLIEST)

    def _begin_anew(self) -> None:
        """Read topics that were made anew from their beginning; looked for now and then."""
        now = self._clock()
        if now - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = now
        shorter = [
            one
            for one in self._assigned
            if ends_before(self._consumer, one, self._consumer.position(one, timeout_ms=0) or 0)
        ]
        if shorter:
            _LOG.warning("%d partitions have begun anew: they are read from there", len(shorter))
            self._seek(shorter, Start.EARLIEST)

    def _all_partitions(self) -> list[TopicPartition]:
        return [
            TopicPartition(topic, partition)
            for topic in self._topics
            for partition in sorted(self._known_partitions(topic))
        ]

    def _known_partitions(self, topic: str) -> set[int]:
        """From the library's metadata, which refreshes itself; asks only for an unknown topic."""
        try:
            partitions: set[int] = self._consumer.partitions_for_topic(topic)
        except KafkaError as error:
            raise no_broker(self._settings, str(error)) from error
        return partitions


def poll_failure(settings: KafkaSettings, error: KafkaError) -> BusError:
    """What to raise when a poll has raised this."""
    if isinstance(error, UnsupportedCodecError):
        return BusSettingError(
            f"messages at {settings.described()} are compressed in a way that cannot be read here"
            f" ({error}): install its package, or let the producer use another compression"
        )
    return no_broker(settings, str(error))


def message_of(topic: Topic, record: Any) -> Message:  # the library ships no types
    """A record as every subscriber sees it."""
    return Message(
        topic=topic,
        key=str(record.key or b"", "utf-8", "replace"),
        payload=record.value or b"",
        offset=record.offset,
        partition=record.partition,
    )


def lag_of(consumer: KafkaConsumer, partition: TopicPartition) -> int | None:
    """Messages of an assigned partition that are still to come; None: the broker has not said.

    By what the last fetch told, because some brokers answer wrongly when asked for the end.
    """
    end, position = consumer.highwater(partition), consumer.position(partition, timeout_ms=0)
    if end is None or position is None:
        return None
    return max(0, int(end) - int(position))


def ends_before(consumer: KafkaConsumer, partition: TopicPartition, offset: int) -> bool:
    """Whether an assigned partition is shorter than what was read of it: its topic was made anew.

    By what the last fetch told. Most brokers refuse to read beyond the end, and the library begins
    anew by itself; some say that there is nothing.
    """
    end = consumer.highwater(partition)
    return end is not None and 0 <= int(end) < offset


def _connect(settings: KafkaSettings) -> KafkaConsumer:
    try:
        return KafkaConsumer(
            **settings.connection(),
            metrics_enabled=False,
            group_id=None,
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=int(settings.fetch_wait_seconds * 1000),
            max_partition_fetch_bytes=settings.message_limit_bytes,
        )
    except KafkaTimeoutError as error:
        raise no_broker(settings) from error
    except KafkaError as error:
        raise no_broker(settings, str(error)) from error
