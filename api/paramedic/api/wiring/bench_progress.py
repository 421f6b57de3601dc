"""How far a benchmark has come: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

from paramedic.api.wiring.telling import say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_TELL_EVERY_SECONDS = 10.0


class Bar(Protocol):
    """Shows stages, one after the other, and their steps."""

    def stage(self, words: str, total: int) -> None:
        """Something begins that has so many steps."""
        ...

    def advance(self, words: str) -> None:
        """One more step is done."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was."""
        ...


class LineBar:
    """Lines, for files and pipes."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds that never go back."""
        self._out = out
        self._clock = clock
        self._words, self._total, self._done = "", 0, 0
        self._began = self._told = clock()

    def stage(self, words: str, total: int) -> None:
        """Say what begins."""
        self._words, self._total, self._done = words, total, 0
        self._began = self._told = self._clock()
        say(self._out, f"{words}: {total}")

    def advance(self, words: str) -> None:
        """Say it at the end, and when it has been quiet for long."""
        self._done += 1
        now = self._clock()
        if self._done == self._total or now - self._told >= _TELL_EVERY_SECONDS:
            self._told = now
            taken = f"{now - self._began:.0f} s"
            say(self._out, f"{self._words}: {self._done} of {self._total} ({taken}; {words})")

    def close(self) -> None:
        """Nothing to take away."""


class RichBar:
    """A bar with the time that is left, for terminals."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        progress.start()

    def stage(self, words: str, total: int) -> None:
        """A bar of its own."""
        self._task = self._progress.add_task(words, total=total, step="")

    def advance(self, words: str) -> None:
        """Move the bar on, and name what was done last."""
        if self._task is not None:
            self._progress.update(self._task, advance=1, step=words)

    def close(self) -> None:
        """Give the cursor back."""
        self._progress.stop()


def open_bar(out: TextIO) -> Bar:
    """The bar that fits the stream."""
    if not out.isatty():
        return LineBar(out)
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return RichBar(
        Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[step]}"),
            console=Console(file=out),
        )
    )
