"""The port of whoever looks on while a job is judged: shown everything, decides nothing.

An onlooker is called in the thread that judges. It takes what it needs and returns at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from paramedic.ingest.contract import JobName

if TYPE_CHECKING:
    from paramedic.ingest.contract import Event, TelemetryBatch
    from paramedic.ingest.windows.job import JobWindows


class Onlooker(Protocol):
    """Follows one job."""

    def see(self, batch: TelemetryBatch) -> None:
        """A batch has been taken in."""
        ...

    def hear(self, event: Event) -> None:
        """An event has been taken in."""
        ...

    def slot_closed(self, windows: JobWindows, second: int) -> None:
        """A slot has closed and was judged; `windows.window_at` shows what ends in it."""
        ...


class Nobody:
    """Looks away."""

    def see(self, batch: TelemetryBatch) -> None:
        """Nothing."""

    def hear(self, event: Event) -> None:
        """Nothing."""

    def slot_closed(self, windows: JobWindows, second: int) -> None:
        """Nothing."""


NOBODY = Nobody()
Onlookers = Callable[[JobName], Onlooker]
"""Gives a job, by its name, its onlooker."""


def no_onlooker(_job: JobName) -> Onlooker:
    """Nobody looks on."""
    return NOBODY
