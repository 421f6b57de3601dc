"""Foreign Kafka topics as a source."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from paramedic.ingest.sources.kafka_topics.adapter_json import read_adapter_message
from paramedic.ingest.sources.kafka_topics.consumer import OpenRecords, Record, Records
from paramedic.ingest.sources.kafka_topics.samples import PoisonError, ReadMessage
from paramedic.ingest.sources.kafka_topics.seconds import SecondPages
from paramedic.ingest.sources.kafka_topics.telegraf_json import read_telegraf_message
from paramedic.ingest.sources.port import Sink, SourceAwayError, StopSignal
from paramedic.ingest.sources.retrying import Pauses

_LISTEN_SECONDS = 0.2
_WAIT_SECONDS = 1.0
_QUIET_SECONDS = 30.0


class MessageFormat(Enum):
    """What the messages of a topic are."""

    PROMETHEUS_KAFKA_ADAPTER = "prometheus-kafka-adapter"
    """One sample a message."""
    TELEGRAF = "telegraf"
    """Measurements with fields, one or a batch a message."""

    @property
    def reader(self) -> ReadMessage:
        """Reads one message."""
        return _READERS[self]


_READERS: dict[MessageFormat, ReadMessage] = {
    MessageFormat.PROMETHEUS_KAFKA_ADAPTER: read_adapter_message,
    MessageFormat.TELEGRAF: read_telegraf_message,
}

PutAway = Callable[[Record, str], None]
"""Takes a poison message with the reason, for the dead letters."""


class KafkaTopicsSource:
    """Reads topics that other tools fill, from now on, until told to stop."""

    def __init__(
        self,
        origin: str,
        message_format: MessageFormat,
        open_records: OpenRecords,
        put_away: PutAway,
        clock: Callable[[], float],
    ) -> None:
        self.name = f"Kafka {origin}"
        self._origin = origin
        self._read_message = message_format.reader
        self._open_records = open_records
        self._put_away = put_away
        self._clock = clock
        self._pages = SecondPages(origin, _WAIT_SECONDS)

    def run(self, sink: Sink, stop: StopSignal) -> None:
        """Read until told to stop."""
        pauses = Pauses(0.5, 4.0)
        while not stop.is_set():
            try:
                self._follow(sink, stop, pauses)
            except SourceAwayError as error:
                sink.silent(self._origin, None, str(error))
                stop.wait(pauses.failed())

    def _follow(self, sink: Sink, stop: StopSignal, pauses: Pauses) -> None:
        records = self._open_records()
        try:
            heard = self._clock()
            while not stop.is_set():
                if self._take(records):
                    pauses.succeeded()
                    heard = self._clock()
                for page in self._pages.ready(self._clock()):
                    sink.page(page)
                if self._clock() - heard >= _QUIET_SECONDS:
                    heard = self._clock()
                    sink.silent(self._origin, None, f"no message for {_QUIET_SECONDS:g} s")
        finally:
            records.close()

    def _take(self, records: Records) -> bool:
        """Whether any message came."""
        taken = records.poll(_LISTEN_SECONDS)
        now = self._clock()
        for record in taken:
            try:
                self._pages.add(self._read_message(record.payload), now)
            except PoisonError as error:
                self._pages.poisoned(error.poison)
                self._put_away(record, str(error))
        return bool(taken)
