"""Says what the demo found: one JSON object for scripts, or a table for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from paramedic.api.demo.summary import Summary

_LABELS = {
    "fault": "fault",
    "rank_hit": "rank hit",
    "rank_named": "rank named",
    "seconds_to_detect": "seconds to detect",
    "seconds_to_localise": "seconds to localise",
    "seconds_to_recover": "seconds to recover",
    "steps_lost": "steps lost",
    "goodput": "goodput",
    "loss_curve_identical": "loss curve identical",
    "steps": "steps",
    "wrong_verdicts": "wrong verdicts",
}


def write_json(summary: Summary, out: TextIO) -> None:
    """One object on one line."""
    out.write(json.dumps(summary.to_dict()) + "\n")
    out.flush()


def write_table(summary: Summary, reasons: Sequence[str], out: TextIO) -> None:
    """The summary as a table, and below it whether everything held."""
    from rich.console import Console
    from rich.table import Table

    table = Table("measured", "value", title="Paramedic demo")
    for name, value in summary.to_dict().items():
        table.add_row(_LABELS[name], _in_words(value))
    Console(file=out).print(table)
    write_reasons(reasons, out)


def write_reasons(reasons: Sequence[str], out: TextIO) -> None:
    """What did not hold, a line each; one line when everything did."""
    out.writelines(f"did not hold: {reason}\n" for reason in reasons)
    if not reasons:
        out.write("everything held\n")
    out.flush()


def _in_words(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
