"""Publishing to Kafka: acknowledged by all replicas, bounded in memory and in every wait."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from kafka import KafkaProducer, codec
from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError

from paramedic.ingest.bus.kafka_settings import (
    KafkaCompression,
    KafkaSettings,
    no_answer_yet,
    no_broker,
)
from paramedic.ingest.bus.limits import encoded_key
from paramedic.ingest.contract import BusSettingError, BusUnavailableError, Topic

_LOG = logging.getLogger(__name__)
_CLOSE_SECONDS = 1.0
_SAY_SECONDS = 5.0
"""How often somebody who waits for the broker is told so."""
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
    """Hands messages to the producer's thread and keeps count of what is on its way.

    A producer whose message the broker never took is replaced: after some failures (a broker that
    forgot its producers, for one) it would refuse every further message.
    """

    def __init__(self, settings: KafkaSettings, prepare: Callable[[], None]) -> None:
        """`prepare` makes sure that a broker answers and the topics exist, or raises."""
        self._settings = settings
        self._prepare = prepare
        self._renewal = threading.Lock()
        self._broken = threading.Event()
        self._changed = threading.Condition()
        self._in_flight = 0
        self._in_flight_bytes = 0
        self._lost = 0
        self._lost_reason = ""
        self._closed = False
        prepare()
        self._producer = _connect(settings)

    def publish(self, topic: Topic, key: str, payload: bytes) -> None:
        """Hand one message over.

        Raises ContractError when it is too large, BusUnavailableError when closed, when the
        broker has taken nothing for too long, or when it is lost and does not answer again.
        """
        if self._closed:
            raise BusUnavailableError("this publisher is closed: make a new one")
        encoded = encoded_key(topic, key, payload)
        producer = self._working_producer()
        self._wait_for_room(len(payload))
        try:
            future = producer.send(
                topic.qualified(self._settings.prefix), value=payload, key=encoded
            )
        except KafkaError as error:
            self._left(len(payload))
            raise no_broker(self._settings, str(error)) from error
        future.add_callback(lambda _: self._left(len(payload)))
        future.add_errback(lambda error: self._failed(len(payload), error))

    def flush(self, timeout_seconds: float) -> None:
        """Wait until the broker has everything, and say every few seconds that it has not.

        Raises BusUnavailableError after the time-out, or when the broker never took a message
        that was handed over since the last flush.
        """
        with self._changed:
            waited = 0.0
            while not self._changed.wait_for(
                lambda: self._in_flight == 0, min(_SAY_SECONDS, timeout_seconds - waited)
            ):
                waited += _SAY_SECONDS
                reason = f"{self._in_flight} messages are not acknowledged"
                if waited >= timeout_seconds:
                    raise no_broker(self._settings, reason, timeout_seconds)
                _LOG.warning("%s", no_answer_yet(self._settings, waited, reason))
            if self._lost:
                lost, self._lost = self._lost, 0
                raise BusUnavailableError(
                    f"{lost} messages were not taken by the broker at"
                    f" {self._settings.described()}: {self._lost_reason}"
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

    def _working_producer(self) -> _Producer:
        with self._renewal:
            if self._broken.is_set():
                _LOG.info("connecting to %s again", self._settings.described())
                self._prepare()
                self._producer.close(timeout=_CLOSE_SECONDS)
                self._producer = _connect(self._settings)
                self._broken.clear()
            return self._producer

    def _wait_for_room(self, size_bytes: int) -> None:
        with self._changed:
            if not self._changed.wait_for(self._has_room, self._settings.connect_seconds):
                raise no_broker(self._settings, f"{self._in_flight} messages are not acknowledged")
            self._in_flight += 1
            self._in_flight_bytes += size_bytes

    def _has_room(self) -> bool:
        return self._in_flight_bytes < self._settings.in_flight_limit_bytes

    def _left(self, size_bytes: int) -> None:
        with self._changed:
            self._in_flight -= 1
            self._in_flight_bytes -= size_bytes
            self._changed.notify_all()

    def _failed(self, size_bytes: int, error: Exception) -> None:
        with self._changed:
            self._lost += 1
            self._lost_reason = self._explained(error)
        self._broken.set()
        self._left(size_bytes)

    def _explained(self, error: Exception) -> str:
        if isinstance(error, MessageSizeTooLargeError):
            limit = self._settings.message_limit_bytes
            return f"larger than its topic allows: set max.message.bytes there to {limit}"
        return str(error)


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
