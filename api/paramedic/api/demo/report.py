"""Says what the demo found: one JSON object for scripts, or a table for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from paramedic.api.demo.summary import Summary
from paramedic.api.wiring.telling import tell, tell_lines

_NOTHING = "–"
_ROWS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "fault": ("fault", str),
    "rank_hit": ("rank hit", str),
    "rank_named": ("rank named", str),
    "seconds_to_detect": ("detected after", lambda seconds: f"{seconds:.2f} s"),
    "seconds_to_localise": ("localised after", lambda seconds: f"{seconds:.2f} s"),
    "seconds_to_recover": ("recovered after", lambda seconds: f"{seconds:.2f} s"),
    "steps_lost": ("steps lost", str),
    "goodput": ("goodput", lambda share: f"{share:.1%}"),
    "loss_curve_identical": ("loss curve identical", lambda holds: "yes" if holds else "no"),
    "steps": ("steps", str),
    "wrong_verdicts": ("wrong verdicts", str),
}
"""Of each field of the summary: what people call it, and how its value is written."""


def write_json(summary: Summary, out: TextIO) -> None:
    """One object on one line."""
    tell(out, json.dumps(summary.to_dict()) + "\n")


def write_table(summary: Summary, reasons: Sequence[str], out: TextIO) -> None:
    """The summary as a table, and below it whether everything held."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title="Paramedic demo", title_justify="left")
    table.add_column("measured", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    for name, value in summary.to_dict().items():
        label, in_words = _ROWS[name]
        table.add_row(label, _NOTHING if value is None else in_words(value))
    Console(file=out).print(table)
    write_reasons(reasons, out)


def write_reasons(reasons: Sequence[str], out: TextIO) -> None:
    """What did not hold, a line each; one line when everything did."""
    lines = [f"did not hold: {reason}" for reason in reasons] or ["everything held"]
    tell_lines(out, lines)
