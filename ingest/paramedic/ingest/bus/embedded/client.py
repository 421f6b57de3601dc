"""The embedded bus as its clients see it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paramedic.ingest.bus.embedded.address import checked_path
from paramedic.ingest.bus.embedded.link import Timing
from paramedic.ingest.bus.embedded.publisher import EmbeddedPublisher
from paramedic.ingest.bus.embedded.subscription import EmbeddedSubscription
from paramedic.ingest.contract import Start, Topic


class EmbeddedBus:
    """A bus at the Unix socket of an embedded broker."""

    def __init__(self, path: Path, timing: Timing | None = None) -> None:
        self._path = checked_path(path)
        self._timing = timing or Timing()

    def publisher(self) -> EmbeddedPublisher:
        """A new, connected publisher. Raises BusUnavailableError when no broker answers."""
        return EmbeddedPublisher(self._path, self._timing)

    def subscribe(self, topics: Sequence[Topic], start: Start) -> EmbeddedSubscription:
        """A new, connected subscription. Raises BusUnavailableError when no broker answers."""
        return EmbeddedSubscription(self._path, topics, start, self._timing)
