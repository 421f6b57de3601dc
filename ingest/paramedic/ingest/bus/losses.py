"""What a publisher knows of messages that the bus did not take, or took and has no more."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class KnowsLosses(Protocol):
    """A publisher to a bus that can lose its memory."""

    @property
    def lost_messages(self) -> int:
        """Messages that were handed over and that the bus never took."""
        ...

    @property
    def forgotten_messages(self) -> int:
        """Messages that the bus took and lost in its resets, those that it held no longer anyway
        included."""
        ...

    @property
    def bus_resets(self) -> int:
        """How often the bus was found without what it had taken before."""
        ...
