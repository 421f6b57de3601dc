"""Where the timeline is shown: with colours and a moving status line, or as plain lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

from paramedic.api.demo.timeline import format_line
from paramedic.api.wiring.narration import Line, Theme

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_QUIET_SECONDS = 9.0
"""A line at least every ten seconds, with a second for the work in between."""
_STYLES = {
    Theme.DEMO: "dim",
    Theme.INJECTION: "bold red",
    Theme.EVENT: "yellow",
    Theme.VERDICT: "bold magenta",
    Theme.ACTION: "cyan",
    Theme.RECOVERY: "bold green",
}


class Screen(Protocol):
    """Shows lines, and one status that replaces itself."""

    def line(self, line: Line, seconds: float | None) -> None:
        """Add a line; `seconds` since the injection, None before it."""
        ...

    def status(self, text: str) -> None:
        """Replace the status."""
        ...

    def close(self) -> None:
        """Take the status away and leave the lines."""
        ...


class PlainScreen:
    """Lines only, for files and pipes; the status is one of them when nothing else was said."""

    def __init__(
        self,
        out: TextIO,
        clock: Callable[[], float] = time.monotonic,
        quiet_seconds: float = _QUIET_SECONDS,
    ) -> None:
        """`clock` gives seconds that never go back."""
        self._out = out
        self._clock = clock
        self._quiet_seconds = quiet_seconds
        self._spoke_at = clock()

    def line(self, line: Line, seconds: float | None) -> None:
        """Write and flush one line."""
        self._spoke_at = self._clock()
        self._out.write(format_line(line, seconds) + "\n")
        self._out.flush()

    def status(self, text: str) -> None:
        """Say it when it has been quiet for long, so that nobody thinks that it hangs."""
        if self._clock() - self._spoke_at >= self._quiet_seconds:
            self.line(Line(Theme.DEMO, text), None)

    def close(self) -> None:
        """Nothing to take away."""


class RichScreen:
    """Colours and a status line, for terminals."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None

    def line(self, line: Line, seconds: float | None) -> None:
        """Print above the status line."""
        self._console.print(
            format_line(line, seconds), style=_STYLES[line.theme], markup=False, highlight=False
        )

    def status(self, text: str) -> None:
        """Show the text beside a spinner."""
        if self._status is None:
            self._status = self._console.status(text)
            self._status.start()
        self._status.update(text)

    def close(self) -> None:
        """Stop the spinner and give the cursor back."""
        if self._status is not None:
            self._status.stop()
            self._status = None


def open_screen(out: TextIO) -> Screen:
    """The screen that fits the stream."""
    if not out.isatty():
        return PlainScreen(out)
    from rich.console import Console

    return RichScreen(Console(file=out))
