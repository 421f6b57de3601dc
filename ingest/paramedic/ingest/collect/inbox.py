"""Where sources hand over what they have read, and what waits there to be cleaned."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.sources.port import NodeFact, RawPage

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName

_SMALL = 100
"""What anything that is not a page weighs, in values; and a page at least."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A source was asked and gave nothing."""

    origin: str
    default_node: NodeName | None
    reason: str
    said_at: float = field(default=0.0, compare=False)
    """Unix seconds; it may wait for its turn."""


Item = RawPage | NodeFact | Silence


class Inbox:
    """A queue bounded by the number of values in it (a Sink). Safe from several threads.

    A source waits for room for at most `wait_seconds`; then its page is lost and counted, and the
    pages that were there before stay.
    """

    def __init__(
        self,
        limit_values: int,
        wait_seconds: float,
        wait: Callable[[threading.Condition, float], bool] = threading.Condition.wait,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`wait(condition, seconds)` is replaced in tests, where nobody makes room meanwhile;
        `wall` gives Unix seconds."""
        self._limit_values = limit_values
        self._wait_seconds = wait_seconds
        self._wait = wait
        self._wall = wall
        self._items: deque[Item] = deque()
        self._values = 0
        self._changed = threading.Condition()
        self.dropped: Counter[str] = Counter()
        """Pages and facts that found no room: `page`, `fact`, `silence`."""

    def page(self, page: RawPage) -> None:
        """A page has been read."""
        self._put(page, "page")

    def fact(self, fact: NodeFact) -> None:
        """Something has happened."""
        self._put(fact, "fact")

    def silent(self, origin: str, default_node: NodeName | None, reason: str) -> None:
        """The source was asked and gave nothing this time."""
        self._put(Silence(origin, default_node, reason, self._wall()), "silence")

    def take(self, timeout_seconds: float) -> list[Item]:
        """Everything that waits, waiting at most the time-out for the first."""
        with self._changed:
            if not self._items:
                self._wait(self._changed, timeout_seconds)
            taken = list(self._items)
            self._items.clear()
            self._values = 0
            self._changed.notify_all()
        return taken

    def __len__(self) -> int:
        return len(self._items)

    def _put(self, item: Item, kind: str) -> None:
        weight = _weight(item)
        with self._changed:
            if not self._has_room(weight):
                self._wait(self._changed, self._wait_seconds)
            if not self._has_room(weight):
                self.dropped[kind] += 1
                return
            self._items.append(item)
            self._values += weight
            self._changed.notify_all()

    def _has_room(self, weight: int) -> bool:
        return not self._items or self._values + weight <= self._limit_values


def _weight(item: Item) -> int:
    return max(len(item.values), _SMALL) if isinstance(item, RawPage) else _SMALL
