"""One line for each thing that is seen, decided and done, with seconds since the injection."""

from __future__ import annotations

from paramedic.api.demo.observations import Observed
from paramedic.api.wiring.narration import Line, narrate
from paramedic.ingest.contract import TelemetryBatch
from paramedic.ingest.legible import legible


def describe(observed: Observed) -> Line | None:
    """What a message means to somebody who watches; None for what only fills the screen."""
    return None if isinstance(observed.said, TelemetryBatch) else narrate(observed.said)


def format_line(line: Line, seconds: float | None) -> str:
    """A plain line of the timeline.

    >>> format_line(Line(Theme.VERDICT, "rank 2 is gone"), 0.31)
    ' +0.31 s  verdict    rank 2 is gone'
    """
    when = "" if seconds is None else f"{seconds:+.2f} s"
    return legible(f"{when:>8}  {line.theme.value:<9}  {line.text}")
