"""A sink that keeps what sources give, and lets a test wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import NodeFact, RawPage, Source

PATIENCE_SECONDS = 60.0
Silence = tuple[str, NodeName | None, str]


class KeepingSink:
    """Everything in order of arrival."""

    def __init__(self) -> None:
        self.pages: list[RawPage] = []
        self.facts: list[NodeFact] = []
        self.silences: list[Silence] = []
        self._changed = threading.Condition()

    def page(self, page: RawPage) -> None:
        with self._changed:
            self.pages.append(page)
            self._changed.notify_all()

    def fact(self, fact: NodeFact) -> None:
        with self._changed:
            self.facts.append(fact)
            self._changed.notify_all()

    def silent(self, origin: str, default_node: NodeName | None, reason: str) -> None:
        with self._changed:
            self.silences.append((origin, default_node, reason))
            self._changed.notify_all()

    @property
    def heard(self) -> int:
        """How many pages and facts have come."""
        return len(self.pages) + len(self.facts)

    def wait_for(self, what: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
        """Whether it has become true in time."""
        with self._changed:
            return self._changed.wait_for(what, seconds)


@dataclass(frozen=True)
class Running:
    """A source that runs in a thread of its own."""

    sink: KeepingSink
    stop: threading.Event
    thread: threading.Thread

    def end(self) -> float:
        """Tell it to end; how long that took (seconds)."""
        began = time.monotonic()
        self.stop.set()
        self.thread.join(PATIENCE_SECONDS)
        assert not self.thread.is_alive(), "the source did not end"
        return time.monotonic() - began


class HurriedStop(threading.Event):
    """For sources whose clock runs fast: their waits are as much shorter."""

    def __init__(self, speed: float) -> None:
        super().__init__()
        self._speed = speed

    def wait(self, timeout: float | None = None) -> bool:
        return super().wait(None if timeout is None else timeout / self._speed)


@contextmanager
def running(source: Source, stop: threading.Event | None = None) -> Iterator[Running]:
    """The source at work, for as long as the context lasts."""
    sink, stop = KeepingSink(), stop or threading.Event()
    thread = threading.Thread(target=source.run, args=(sink, stop))
    thread.start()
    run = Running(sink, stop, thread)
    try:
        yield run
    finally:
        run.end()
