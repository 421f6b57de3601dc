"""Prometheus as a source: the last minutes at once, then every second as it is scraped."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from paramedic.ingest.sources.access import AccessError
from paramedic.ingest.sources.port import Sink, SourceAwayError, StopSignal
from paramedic.ingest.sources.prometheus.client import (
    AnswerTooLargeError,
    PrometheusApi,
    QueryApi,
    QueryError,
)
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.past import affordable_past_seconds
from paramedic.ingest.sources.prometheus.reading import Reading
from paramedic.ingest.sources.retrying import Pauses

_LOG = logging.getLogger(__name__)
_HOUSEKEEPING_SECONDS = 60.0
_QUIET_SECONDS = 15.0


class PrometheusSource:
    """Reads one Prometheus until told to stop.

    Its own clock counts, not ours: what is new is judged by the server's time.
    """

    def __init__(
        self,
        settings: PrometheusSettings,
        clock: Callable[[], float],
        connect: Callable[[PrometheusSettings], QueryApi] = PrometheusApi,
    ) -> None:
        self.name = f"Prometheus {settings.url}"
        self._settings = settings
        self._clock = clock
        self._connect = connect
        self._pauses = Pauses(1.0, settings.retry_limit_seconds)
        self._reading: Reading | None = None
        self._ahead_seconds = 0.0
        self._kept_house = 0.0

    @property
    def cadence_seconds(self) -> float | None:
        """How often the most often scraped target is scraped; None while that is not known."""
        return None if self._reading is None else self._reading.ledger.cadence_seconds

    def run(self, sink: Sink, stop: StopSignal) -> None:
        """Read until told to stop.

        Raises SourceError when the server refuses the query or us before it has ever answered, or
        when the settings of access cannot be used.
        """
        self._settings.access.request_headers()
        self._settings.access.tls()
        api = self._connect(self._settings)
        try:
            while not stop.is_set():
                stop.wait(self._turn(api, sink, stop))
        finally:
            api.close()

    def _turn(self, api: QueryApi, sink: Sink, stop: StopSignal) -> float:
        """Read a span; how long to wait for the next (seconds)."""
        try:
            pause = self._read(api, sink, stop)
        except (SourceAwayError, AnswerTooLargeError, AccessError) as error:
            return self._told(sink, error)
        except QueryError as error:
            if self._reading is None or self._reading.ledger.cadence_seconds is None:
                raise
            return self._told(sink, error)
        self._pauses.succeeded()
        return pause

    def _told(self, sink: Sink, error: Exception) -> float:
        sink.silent(self._settings.url, None, str(error))
        self._kept_house = 0.0
        return self._pauses.failed()

    def _read(self, api: QueryApi, sink: Sink, stop: StopSignal) -> float:
        reading = self._kept(api)
        now = self._clock() + self._ahead_seconds
        step = reading.step(now, stop)
        if step.was_too_large:
            self._kept_house = 0.0  # ask first whether it answers at all
        for page in step.pages:
            sink.page(page)
        if not step.is_live:
            return 0.0
        self._tell_of_the_absent(reading, sink, now)
        return self._until_next(reading, now)

    def _kept(self, api: QueryApi) -> Reading:
        """Look at the server's clock now and then, and after every trouble."""
        now = self._clock()
        if self._reading is None or not 0 <= now - self._kept_house < _HOUSEKEEPING_SECONDS:
            self._ahead_seconds = api.now_seconds() - now
            self._kept_house = now
            if self._reading is None:
                past_seconds = affordable_past_seconds(self._settings, api)
                settings = replace(self._settings, past_seconds=past_seconds)
                self._reading = Reading(settings, api, now + self._ahead_seconds)
            self._reading.ledger.forget(now + self._ahead_seconds)
        return self._reading

    def _tell_of_the_absent(self, reading: Reading, sink: Sink, now: float) -> None:
        for one in reading.absent(now):
            sink.silent(one.origin, one.node, one.reason)
        silent_seconds = now - reading.ledger.newest_seconds
        if silent_seconds > _QUIET_SECONDS + 2 * (self.cadence_seconds or 0.0):
            sink.silent(self._settings.url, None, self._nothing_new(silent_seconds))

    def _nothing_new(self, silent_seconds: float) -> str:
        what = f"of the {len(self._settings.names)} names looked for"
        if silent_seconds == float("inf"):
            return f"{self._settings.url} has no samples {what}: is an exporter scraped?"
        return f"{self._settings.url} has had no new samples {what} for {silent_seconds:.0f} s"

    def _until_next(self, reading: Reading, now: float) -> float:
        """Until shortly after a full second, so that a second is read when it is complete."""
        settled = self._settings.settle_seconds
        wake = now - settled + reading.poll_seconds
        server_now = self._clock() + self._ahead_seconds
        return max(0.0, float(int(wake)) + settled - server_now)
