"""Membership in a Kafka consumer group (classic protocol, range assignment).

Two things are committed for each partition: under the group's name the oldest offset that is still
needed, fenced by the group's generation; under `GROUP.judged` the offset below which everything is
done. The second is not fenced and need not be: it is true whoever writes it, and an old value only
makes a successor do again what was done.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import (
    CommitFailedError,
    KafkaError,
    KafkaTimeoutError,
    RebalanceInProgressError,
)
from kafka.structs import OffsetAndMetadata

from paramedic.ingest.bus.group import Claim, Delivery, Marks
from paramedic.ingest.bus.kafka_settings import KafkaSettings, no_broker
from paramedic.ingest.bus.kafka_silence import KafkaSilence
from paramedic.ingest.bus.kafka_subscription import ends_before, lag_of, message_of, poll_failure
from paramedic.ingest.contract import BusAddressError, BusUnavailableError, Message, Topic

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord

_Changes = tuple[tuple[int, ...], tuple[Claim, ...]]
"""Shares that are lost and gained."""
_LOG = logging.getLogger(__name__)
_CLOSE_MILLISECONDS = 2000
_JUDGED = "{group}.judged"
_WHATEVER_WAS_FETCHED = 1_000_000_000
"""Records for one poll. kafka-python 3.0 never gives out what is left over of a fetch when its
partition is paused meanwhile, and fetches that partition no more: so nothing may be left over."""


class _Assignment(ConsumerRebalanceListener):  # type: ignore[misc]  # the library ships no types
    """Notes what the group has decided; called from the library's thread.

    New partitions are paused at once, so that nothing is read before it is known from where.
    """

    def __init__(self, pause: Callable[..., None]) -> None:
        self._pause = pause
        self._lock = threading.Lock()
        self._news: frozenset[TopicPartition] | None = None
        self._was_expelled = False

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Nothing to do: what stays is known only when the group has settled."""

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        """The group went on without this member: everything may have moved meanwhile."""
        del lost
        with self._lock:
            self._was_expelled = True
            self._news = frozenset()

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """The group has settled."""
        partitions = frozenset(assigned)
        self._pause(*partitions)
        with self._lock:
            self._news = partitions

    def take(self) -> tuple[frozenset[TopicPartition] | None, bool]:
        """The newest assignment if there is one, and whether this member had been expelled."""
        with self._lock:
            news, self._news = self._news, None
            expelled, self._was_expelled = self._was_expelled, False
            return news, expelled


class KafkaMembership:
    """One member of a consumer group; for one thread."""

    def __init__(
        self,
        settings: KafkaSettings,
        group: str,
        topics: Sequence[Topic],
        from_the_beginning: Collection[Topic],
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._topics = {topic.qualified(settings.prefix): topic for topic in topics}
        self._whole = frozenset(from_the_beginning)
        self._next: dict[TopicPartition, int] = {}
        self._held: set[TopicPartition] = set()
        self._shares: frozenset[int] = frozenset()
        self._has_lost_the_broker = False
        self._closed = False
        self._open: list[KafkaConsumer] = []
        try:
            self._consumer = self._connect(group_id=group, **_group_options(settings))
            self._judged = self._connect(group_id=_JUDGED.format(group=group))
            self._silence = KafkaSilence(settings, self._consumer, clock)
            self._assignment = _Assignment(self._consumer.pause)
            self._require_equal_partitions()
            self._consumer.subscribe(topics=list(self._topics), listener=self._assignment)
        except BaseException:
            self.close()
            raise

    def poll(self, timeout_seconds: float) -> Delivery:
        """What has changed and arrived, waiting at most the time-out.

        Raises BusUnavailableError when closed, or when the broker has been away for longer than
        `reconnect_seconds`; BusSettingError for messages in a compression that is not installed.
        """
        if self._closed:
            raise BusUnavailableError("this membership is closed: make a new one")
        try:
            batches = self._consumer.poll(timeout_ms=int(timeout_seconds * 1000))
            lost, gained = self._take_assignment() or self._take_reset(batches)
        except KafkaError as error:
            self._has_lost_the_broker = True
            raise poll_failure(self._settings, error) from error
        messages = self._messages(batches)
        self._silence.watch(bool(batches), TopicPartition(min(self._topics), 0))
        return Delivery(lost, gained, messages, self._silence.broker_answers)

    def hold(self, share: int, topics: Collection[Topic]) -> None:
        """Read no more of these topics of a share until `release`."""
        partitions = [TopicPartition(t.qualified(self._settings.prefix), share) for t in topics]
        self._held.update(partitions)
        self._consumer.pause(*self._assigned_of(partitions))

    def release(self, share: int) -> None:
        """Read all topics of a share."""
        partitions = [one for one in self._held if one.partition == share]
        self._held.difference_update(partitions)
        self._consumer.resume(*self._assigned_of(partitions))

    def lag(self, share: int) -> Mapping[Topic, int | None]:
        """Messages of each topic that are still to come, as far as the broker has told."""
        assigned = self._consumer.assignment()
        return {
            topic: lag_of(self._consumer, partition) if partition in assigned else None
            for partition, topic in self._partitions_of(share).items()
        }

    def commit(self, marks: Marks) -> bool:
        """Keep the marks; False when closed, or when the shares belong to somebody else meanwhile.

        Raises BusUnavailableError.
        """
        if self._closed:
            return False
        named = {
            TopicPartition(topic.qualified(self._settings.prefix), share): mark
            for (share, topic), mark in marks.items()
        }
        needed = {one: _offset(mark.needed) for one, mark in named.items()}
        judged = {one: _offset(mark.judged) for one, mark in named.items()}
        wait_milliseconds = int(self._settings.request_seconds * 1000)
        try:
            self._consumer.commit(needed, timeout_ms=wait_milliseconds)
            self._judged.commit(judged, timeout_ms=wait_milliseconds)
        except (CommitFailedError, RebalanceInProgressError) as error:
            _LOG.info("marks are not kept, the group moves on: %s", error)
            return False
        except KafkaError as error:
            self._has_lost_the_broker = True
            raise no_broker(self._settings, f"marks are not kept: {error!r}") from error
        return True

    def close(self) -> None:
        """Leave the group and disconnect.

        After a loss of the broker the membership is left to expire: a leader that leaves while the
        group forms anew is never replaced by some brokers (tansu 0.6), and nobody gets a share.
        """
        if not self._closed:
            self._closed = True
            if self._has_lost_the_broker:
                self._consumer._coordinator.reset_generation()  # noqa: SLF001 (no public way)
            for consumer in self._open:
                consumer.close(autocommit=False, timeout_ms=_CLOSE_MILLISECONDS)

    def _connect(self, **options: object) -> KafkaConsumer:
        consumer = _connect(self._settings, **options)
        self._open.append(consumer)
        return consumer

    def _require_equal_partitions(self) -> None:
        numbers = {name: self._consumer.partitions_for_topic(name) for name in self._topics}
        if len({frozenset(found or ()) for found in numbers.values()}) > 1:
            counts = ", ".join(f"{name} has {len(found or ())}" for name, found in numbers.items())
            raise BusAddressError(
                f"the topics of a group need as many partitions as each other, at"
                f" {self._settings.described()} {counts}: bring them to the same number,"
                " or let one process read everything (kafka.group = off)"
            )

    def _take_assignment(self) -> _Changes | None:
        news, expelled = self._assignment.take()
        if news is None:
            return None
        before = self._shares
        self._shares = frozenset(partition.partition for partition in news)
        kept = frozenset() if expelled else before & self._shares
        gained = sorted(self._shares - kept)
        claims = tuple(self._claim(share) for share in gained)
        for partition in news:
            self._consumer.seek(partition, self._next[partition])
        self._consumer.resume(*(news - self._held))
        return tuple(sorted(before - kept)), claims

    def _take_reset(self, batches: dict[TopicPartition, Sequence[ConsumerRecord]]) -> _Changes:
        """A share whose offsets have begun again (its topic was made anew) is a new one.

        What was committed speaks of messages that are no more. The share is read from its beginning
        in the next poll, and what this one has brought of it is taken out of the batches.
        """
        anew = sorted({one.partition for one in self._next if self._went_back(one, batches)})
        for share in anew:
            partitions = list(self._partitions_of(share))
            _LOG.warning("the topics of share %d have begun anew: it is read from there", share)
            for partition, offset in self._beginnings(partitions).items():
                self._next[partition] = offset
                self._consumer.seek(partition, offset)
                batches.pop(partition, None)
            self.release(share)
        return tuple(anew), tuple(Claim(share, {}) for share in anew)

    def _went_back(
        self, partition: TopicPartition, batches: Mapping[TopicPartition, Sequence[ConsumerRecord]]
    ) -> bool:
        if partition.partition not in self._shares:
            return False
        records, reached = batches.get(partition, ()), self._next[partition]
        begins_before = bool(records) and records[0].offset < reached
        return begins_before or ends_before(self._consumer, partition, reached)

    def _beginnings(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        wait_milliseconds = int(self._settings.request_seconds * 1000)
        first: Mapping[TopicPartition, int] = self._consumer.beginning_offsets(
            partitions, timeout_ms=wait_milliseconds
        )
        return first

    def _claim(self, share: int) -> Claim:
        partitions = self._partitions_of(share)
        self._held.difference_update(partitions)
        wait_milliseconds = int(self._settings.request_seconds * 1000)
        first = self._beginnings(list(partitions))
        judged: dict[Topic, int] = {}
        for partition, topic in partitions.items():
            needed = self._consumer.committed(partition, timeout_ms=wait_milliseconds)
            done = self._judged.committed(partition, timeout_ms=wait_milliseconds)
            begin = 0 if needed is None or topic in self._whole else needed
            self._next[partition] = max(begin, first[partition])
            if needed is not None and done is not None:
                judged[topic] = max(needed, done)
        return Claim(share, judged)

    def _messages(
        self, batches: Mapping[TopicPartition, Sequence[object]]
    ) -> Mapping[int, Sequence[Message]]:
        messages: dict[int, list[Message]] = {}
        for partition, records in batches.items():
            if partition.partition not in self._shares:
                continue
            topic = self._topics[partition.topic]
            found = [message_of(topic, record) for record in records]
            # Whatever of a share was read from elsewhere before it was settled is not wanted.
            fresh = [one for one in found if one.offset >= self._next[partition]]
            if fresh:
                self._next[partition] = fresh[-1].offset + 1
                messages.setdefault(partition.partition, []).extend(fresh)
        return messages

    def _partitions_of(self, share: int) -> dict[TopicPartition, Topic]:
        return {TopicPartition(name, share): topic for name, topic in self._topics.items()}

    def _assigned_of(self, partitions: Iterable[TopicPartition]) -> set[TopicPartition]:
        return set(partitions) & set(self._consumer.assignment())


def _offset(offset: int) -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, "", -1)


def _group_options(settings: KafkaSettings) -> dict[str, object]:
    session_milliseconds = int(settings.session_seconds * 1000)
    return {
        "partition_assignment_strategy": [RangePartitionAssignor],
        "session_timeout_ms": session_milliseconds,
        "heartbeat_interval_ms": session_milliseconds // 4,
        "max_poll_interval_ms": int(settings.poll_interval_seconds * 1000),
        "fetch_max_bytes": settings.fetch_limit_bytes,
        "max_poll_records": _WHATEVER_WAS_FETCHED,
        "fetch_max_wait_ms": int(settings.fetch_wait_seconds * 1000),
        "max_partition_fetch_bytes": settings.message_limit_bytes,
    }


def _connect(settings: KafkaSettings, **options: object) -> KafkaConsumer:
    try:
        return KafkaConsumer(
            **settings.connection(),
            metrics_enabled=False,
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            auto_offset_reset="earliest",
            **options,
        )
    except KafkaTimeoutError as error:
        raise no_broker(settings) from error
    except KafkaError as error:
        raise no_broker(settings, str(error)) from error
