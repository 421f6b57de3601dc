"""Where the timeline is shown: with colours and a moving status line, or as plain lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO

from paramedic.api.demo.timeline import format_line
from paramedic.api.wiring.narration import Line, Theme

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

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
    """Lines only, for files and pipes."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def line(self, line: Line, seconds: float | None) -> None:
        """Write and flush one line."""
        self._out.write(format_line(line, seconds) + "\n")
        self._out.flush()

    def status(self, text: str) -> None:
        """A status that moves has no place in a file."""

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
