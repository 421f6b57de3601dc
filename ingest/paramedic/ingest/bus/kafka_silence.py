"""Whether a broker that says nothing is still there: asked now and then, for all readers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka.errors import KafkaTimeoutError

from paramedic.ingest.bus.kafka_settings import KafkaSettings, no_answer_yet, no_broker

if TYPE_CHECKING:
    from kafka import KafkaConsumer, TopicPartition

_LOG = logging.getLogger(__name__)
_SILENCE_SECONDS = 5.0
"""After that long without a message the broker is asked whether it is there at all."""
_PROBE_SECONDS = 1.0


class KafkaSilence:
    """Keeps the time of the last contact with the broker."""

    def __init__(
        self, settings: KafkaSettings, consumer: KafkaConsumer, clock: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._consumer = consumer
        self._clock = clock
        self._last_contact = self._asked = clock()
        self.broker_answers = True
        """As far as is known: a broker that goes away is found out some seconds later."""

    def watch(self, heard: bool, partition: TopicPartition) -> None:
        """After a poll: whether it brought anything, and a partition to ask for.

        Says in the log that the broker is away. Raises BusUnavailableError when it has been for
        longer than `reconnect_seconds`.
        """
        now = self._clock()
        if heard:
            self._last_contact = self._asked = now
            self.broker_answers = True
        elif now - self._asked >= _SILENCE_SECONDS:
            self._asked = now
            self._ask(partition)

    def _ask(self, partition: TopicPartition) -> None:
        try:
            self._consumer.end_offsets([partition], timeout_ms=int(_PROBE_SECONDS * 1000))
        except KafkaTimeoutError as error:
            self.broker_answers = False
            away = self._clock() - self._last_contact
            _LOG.warning("%s", no_answer_yet(self._settings, away))
            if away >= self._settings.reconnect_seconds:
                reason = f"it went silent about {partition.topic}"
                raise no_broker(self._settings, reason, away) from error
        else:
            self._last_contact = self._clock()
            self.broker_answers = True
