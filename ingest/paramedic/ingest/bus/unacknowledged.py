"""Messages that were handed to a bus which has not said yet that it has them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paramedic.ingest.contract import Topic


@dataclass(slots=True)
class Parcel:
    """One message on its way."""

    topic: Topic
    key: bytes
    payload: bytes
    refusals: int = 0
    """How often the bus has said no to it."""


class Unacknowledged:
    """The parcels on their way, in the order in which they were handed over.

    Safe from several threads.
    """

    def __init__(self) -> None:
        self._parcels: dict[int, Parcel] = {}
        self._numbers = 0
        self._bytes = 0
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._parcels)

    def add(self, parcel: Parcel, limit_bytes: int, timeout_seconds: float) -> int | None:
        """Take a parcel in and give its number; None when there is no room for it in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._bytes < limit_bytes, timeout_seconds):
                return None
            self._numbers += 1
            self._parcels[self._numbers] = parcel
            self._bytes += len(parcel.payload)
            return self._numbers

    def remove(self, number: int) -> None:
        """The parcel has arrived, or never will; that may be known already."""
        with self._changed:
            parcel = self._parcels.pop(number, None)
            if parcel is not None:
                self._bytes -= len(parcel.payload)
                self._changed.notify_all()

    def get(self, number: int) -> Parcel | None:
        """A parcel that is on its way."""
        return self._parcels.get(number)

    def all(self) -> Sequence[tuple[int, Parcel]]:
        """Numbers and parcels, the oldest first."""
        with self._changed:
            return tuple(self._parcels.items())

    def wake(self) -> None:
        """Have whoever waits look again."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, is_over: Callable[[], bool], timeout_seconds: float) -> bool:
        """Wait until there are none, or for something else; whether there are none."""
        with self._changed:
            timeout_seconds = max(timeout_seconds, 0.0)
            self._changed.wait_for(lambda: not self._parcels or is_over(), timeout_seconds)
            return not self._parcels
