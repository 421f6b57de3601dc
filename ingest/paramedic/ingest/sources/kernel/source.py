"""A node's kernel log as a source of facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, tzinfo

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.kernel.feeds import LineFeed, OpenFeed
from paramedic.ingest.sources.kernel.kernel_log import KernelLog
from paramedic.ingest.sources.kernel.stamps import Era
from paramedic.ingest.sources.port import Sink, SourceAwayError, StopSignal
from paramedic.ingest.sources.retrying import Pauses

_LISTEN_SECONDS = 0.2
_PAST_SECONDS = 900.0

JOURNAL = ("journalctl", "--dmesg", "--follow", "--lines=all", "--output=json")


class KernelLogSource:
    """Follows one node's log until told to stop; facts older than the last minutes are left out."""

    def __init__(
        self,
        node: NodeName,
        origin: str,
        open_feed: OpenFeed,
        clock: Callable[[], float],
        boot_seconds: float | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        self.name = f"kernel log {origin}"
        self._node = node
        self._origin = origin
        self._open_feed = open_feed
        self._clock = clock
        self._boot_seconds = boot_seconds
        self._zone = zone
        self._log = KernelLog(node)
        self._newest_seconds = clock() - _PAST_SECONDS

    def run(self, sink: Sink, stop: StopSignal) -> None:
        """Follow until told to stop."""
        pauses = Pauses(0.5, 4.0)
        while not stop.is_set():
            try:
                self._follow(sink, stop, pauses)
            except SourceAwayError as error:
                sink.silent(self._origin, self._node, str(error))
                stop.wait(pauses.failed())

    def _follow(self, sink: Sink, stop: StopSignal, pauses: Pauses) -> None:
        feed = self._open_feed()
        try:
            self._read(feed, sink, stop, pauses)
        finally:
            feed.close()

    def _read(self, feed: LineFeed, sink: Sink, stop: StopSignal, pauses: Pauses) -> None:
        """What a feed that is opened again tells once more is not told again."""
        told_until = self._newest_seconds if feed.replays else -math.inf
        while not stop.is_set():
            lines = feed.lines(_LISTEN_SECONDS)
            pauses.succeeded()
            era = Era(self._clock(), self._boot_seconds, self._zone)
            for line in lines:
                for fact in self._log.facts(line, era):
                    if fact.timestamp_seconds > told_until:
                        self._newest_seconds = max(self._newest_seconds, fact.timestamp_seconds)
                        sink.fact(fact)
            if not lines:
                stop.wait(_LISTEN_SECONDS)
