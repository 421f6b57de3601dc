"""Runs the sources, each in a thread of its own, and notes those that have ended by themselves."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paramedic.ingest.collect.errors import NoSourceLeftError
from paramedic.ingest.sources.port import SourceError

if TYPE_CHECKING:
    from paramedic.ingest.sources.port import Sink, Source

_DONE = "it has come to its end"


class SourceThreads:
    """The sources of one collect."""

    def __init__(self, sources: Sequence[Source], sink: Sink) -> None:
        self._sink = sink
        self._stop = threading.Event()
        self._ended: deque[tuple[str, str]] = deque()
        self._reasons: list[str] = []
        self._threads = [
            threading.Thread(target=self._run, args=(source,), name=source.name, daemon=True)
            for source in sources
        ]

    def start(self) -> None:
        """Begin to read."""
        for thread in self._threads:
            thread.start()

    def close(self, timeout_seconds: float) -> None:
        """Ask all to end and give each the time-out."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout_seconds)

    def take_ended(self) -> list[tuple[str, str]]:
        """Name and reason of the sources that have ended since the last call."""
        taken = [self._ended.popleft() for _ in range(len(self._ended))]
        self._reasons += [reason for _, reason in taken]
        return taken

    def is_any_left(self) -> bool:
        """Whether some source goes on; False once all have come to their end.

        Raises NoSourceLeftError when none is left because of trouble.
        """
        if len(self._reasons) < len(self._threads):
            return True
        troubles = [reason for reason in self._reasons if reason != _DONE]
        if troubles or not self._threads:
            raise NoSourceLeftError("; ".join(troubles) or "no source was named")
        return False

    def _run(self, source: Source) -> None:
        reason = "a fault of ours: its traceback is in the log, please report it"
        try:
            source.run(self._sink, self._stop)
        except SourceError as error:
            reason = str(error)
        else:
            reason = _DONE
        finally:
            if not self._stop.is_set():
                self._ended.append((source.name, reason))
