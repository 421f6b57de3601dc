"""Publishing to Kafka: acknowledged by all replicas, bounded in memory and in every wait."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from kafka import KafkaProducer, codec
from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError

from paramedic.ingest.bus.kafka_memory import BrokerMemory
from paramedic.ingest.bus.kafka_settings import (
    KafkaCompression,
    KafkaSettings,
    no_answer_yet,
    no_broker,
)
from paramedic.ingest.bus.limits import encoded_key
from paramedic.ingest.bus.unacknowledged import Parcel, Unacknowledged
from paramedic.ingest.contract import BusSettingError, BusUnavailableError, Topic

if TYPE_CHECKING:
    from kafka.producer.future import RecordMetadata

_LOG = logging.getLogger(__name__)
_CLOSE_SECONDS = 1.0
_SAY_SECONDS = 5.0
"""How often somebody who waits for the broker is told so."""
_RETRY_SECONDS = 0.5
_MOST_REFUSALS = 3
"""A message that so many producers could not get taken is not tried again."""
_PACKAGES = {
    KafkaCompression.GZIP: "Python's zlib",
    KafkaCompression.SNAPPY: "python-snappy",
    KafkaCompression.LZ4: "lz4",
    KafkaCompression.ZSTD: "zstandard",
}


class _Producer(KafkaProducer):  # type: ignore[misc]  # the library ships no types
    def flush(self, timeout: float | None = None) -> None:
        """Nothing: the publisher counts for itself, against one deadline for all messages.

        The library's own flush waits the time-out once for every batch, and `close` would raise
        from it and leave the sender running.
        """


class KafkaPublisher:
    """Hands messages to the producer's thread and keeps them until the broker has them.

    A producer whose message the broker never took is replaced: after some failures (a broker that
    forgot its producers, for one) it would refuse every further message. The new one sends what is
    not acknowledged again, so a message may arrive twice. Topics that are gone are made anew.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        prepare: Callable[[], Collection[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`prepare` makes sure that a broker answers and the topics exist, or raises; it gives the
        names of those that were missing."""
        self._settings = settings
        self._prepare = prepare
        self._clock = clock
        self._sending = threading.Lock()
        self._broken = threading.Event()
        self._outstanding = Unacknowledged()
        self._memory = BrokerMemory()
        self._producers = 0
        """How many there have been before the present one; what they say of failures is old."""
        self._refused = 0
        self._refused_before = 0
        """Of these, the ones that a flush has told of."""
        self._reason = ""
        self._closed = False
        prepare()
        self._producer = _connect(settings)

    @property
    def lost_messages(self) -> int:
        """Messages that were handed over and that the broker refused for good."""
        return self._refused

    @property
    def forgotten_messages(self) -> int:
        """Messages that the broker took and then forgot, with what had expired meanwhile."""
        return self._memory.forgotten

    @property
    def bus_resets(self) -> int:
        """How often the broker was found without what it had taken before."""
        return self._memory.resets

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        """Hand one message over.

        Raises ContractError when it is too large, BusUnavailableError when closed, when the
        broker has taken nothing for too long, or when it is lost and does not answer again.
        """
        if self._closed:
            raise BusUnavailableError("this publisher is closed: make a new one")
        parcel = Parcel(topic, encoded_key(topic, key, payload), payload)
        settings = self._settings
        with self._sending:
            self._mend()
            number = self._outstanding.add(
                parcel, settings.in_flight_limit_bytes, settings.connect_seconds
            )
            if number is None:
                raise no_broker(settings, self._what_is_missing())
            try:
                self._send(number, parcel)
            except BusUnavailableError:
                self._outstanding.remove(number)
                raise

    def flush(self, timeout_seconds: float) -> None:
        """Wait until the broker has everything, and say every few seconds that it has not.

        Raises BusUnavailableError after the time-out, or when the broker refused a message that
        was handed over since the last flush.
        """
        started = said = self._clock()
        while not self._outstanding.wait(
            self._can_be_mended, min(_SAY_SECONDS, started + timeout_seconds - self._clock())
        ):
            now = self._clock()
            if now - started >= timeout_seconds:
                raise no_broker(self._settings, self._what_is_missing(), now - started)
            if now - said >= _SAY_SECONDS:
                said = now
                waited = now - started
                _LOG.warning("%s", no_answer_yet(self._settings, waited, self._what_is_missing()))
            self._try_to_mend(started + timeout_seconds)
        refused = self._refused - self._refused_before
        if refused:
            self._refused_before += refused
            raise BusUnavailableError(
                f"{refused} messages were not taken by the broker at"
                f" {self._settings.described()}: {self._reason}"
            )

    def close(self) -> None:
        """Flush for a second, tell in the log what was lost, and disconnect."""
        if self._closed:
            return
        self._closed = True
        try:
            self.flush(_CLOSE_SECONDS)
        except BusUnavailableError as error:
            _LOG.warning("closing the publisher: %s", error)
        self._producer.close(timeout=_CLOSE_SECONDS)

    def _can_be_mended(self) -> bool:
        return self._broken.is_set() and not self._closed

    def _try_to_mend(self, deadline: float) -> None:
        if not self._can_be_mended():
            return
        try:
            with self._sending:
                self._mend()
        except BusUnavailableError as error:
            _LOG.info("%s", error)
            self._outstanding.wait(lambda: False, min(_RETRY_SECONDS, deadline - self._clock()))

    def _mend(self) -> None:
        """Replace a producer that is broken. Raises BusUnavailableError."""
        if not self._broken.is_set():
            return
        _LOG.info("connecting to %s again", self._settings.described())
        self._memory.made(self._prepare())
        self._producers += 1
        self._producer.close(timeout=_CLOSE_SECONDS)
        self._producer = _connect(self._settings)
        self._broken.clear()
        for number, parcel in self._outstanding.all():
            self._send(number, parcel)

    def _send(self, number: int, parcel: Parcel) -> None:
        topic = parcel.topic.qualified(self._settings.prefix)
        try:
            future = self._producer.send(topic, value=parcel.payload, key=parcel.key)
        except KafkaError as error:
            # It may be that the topic is no more, which a new beginning mends.
            self._broken.set()
            raise no_broker(self._settings, str(error)) from error
        future.add_callback(partial(self._taken, self._producers, number))
        future.add_errback(partial(self._failed, self._producers, number))

    def _taken(self, producer: int, number: int, record: RecordMetadata) -> None:
        self._outstanding.remove(number)
        if producer == self._producers:
            self._memory.took(record.topic_partition, record.offset)

    def _failed(self, producer: int, number: int, error: Exception) -> None:
        parcel = self._outstanding.get(number)
        if parcel is None or producer != self._producers:
            return
        if not isinstance(error, KafkaTimeoutError):  # which says nothing of the message
            parcel.refusals += 1
        if isinstance(error, MessageSizeTooLargeError) or parcel.refusals >= _MOST_REFUSALS:
            self._refused += 1
            self._reason = self._explained(error)
            self._outstanding.remove(number)
        self._broken.set()
        self._outstanding.wake()

    def _explained(self, error: Exception) -> str:
        if isinstance(error, MessageSizeTooLargeError):
            limit = self._settings.message_limit_bytes
            return f"larger than its topic allows: set max.message.bytes there to {limit}"
        return str(error)

    def _what_is_missing(self) -> str:
        return f"{len(self._outstanding)} messages are not acknowledged"


def _connect(settings: KafkaSettings) -> _Producer:
    wait_milliseconds = int(settings.connect_seconds * 1000)
    try:
        # Idempotence is the library's default, and it goes without where the broker has none.
        return _Producer(
            **settings.connection(),
            metrics_enabled=False,
            acks="all",
            max_block_ms=wait_milliseconds,
            delivery_timeout_ms=int(settings.reconnect_seconds * 1000),
            max_request_size=settings.message_limit_bytes,
            compression_type=_codec(settings),
            allow_auto_create_topics=False,  # it would make them with the broker's own settings
        )
    except KafkaTimeoutError as error:
        raise no_broker(settings) from error
    except KafkaError as error:
        raise no_broker(settings, str(error)) from error


def _codec(settings: KafkaSettings) -> str | None:
    if settings.compression is KafkaCompression.NONE:
        return None
    name = settings.compression.value
    is_there: bool = getattr(codec, f"has_{name}")()
    if not is_there:
        raise BusSettingError(
            f"kafka.compression = {name} needs {_PACKAGES[settings.compression]}: install it, or"
            " take gzip or none"
        )
    return name
