"""A report for people: the summary first, then what is missing, what to mind, what is fine.

What to paste comes last, together for each place that it is pasted into.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.ingest.doctor.checks import Level, counted

if TYPE_CHECKING:
    from paramedic.ingest.doctor.checks import Check, Report

_WIDTH = max(len(level.value) for level in Level)
_TROUBLES = (Level.MISSING, Level.WARNING)


def lines_of(report: Report, headline: str | None = None) -> Iterator[str]:
    """The lines, without their ends; the headline is that of live telemetry unless one is given."""
    yield report.seen
    yield headline or _verdict(len(report.of(Level.MISSING)), len(report.of(Level.WARNING)))
    yield ""
    troubles = [check for level in _TROUBLES for check in report.of(level)]
    for check in troubles:
        yield _line(check.level, check.subject, check.text)
    yield from _fine(report.of(Level.OK))
    yield from _remedies(troubles)


def _verdict(missing: int, warnings: int) -> str:
    also = counted(warnings, "warning") if warnings else "no warnings"
    if missing:
        lack = counted(missing, "thing")
        return f"detection within a minute would NOT hold: {lack} missing, {also}"
    return f"detection within a minute would hold; {also}"


def _line(level: Level, subject: str, text: str) -> str:
    return f"{level.value.ljust(_WIDTH)}  {subject}: {text}"


def _fine(checks: tuple[Check, ...]) -> Iterator[str]:
    """One line a subject; what would be pasted to have more stands in the JSON form."""
    by_subject: dict[str, list[str]] = {}
    for check in checks:
        by_subject.setdefault(check.subject, []).append(check.text)
    for subject, texts in by_subject.items():
        yield _line(Level.OK, subject, ", ".join(texts))


def _remedies(checks: list[Check]) -> Iterator[str]:
    by_place: dict[str, dict[str, None]] = {}
    for check in checks:
        for remedy in check.remedies:
            # One block of several lines stays one, whatever else goes to the same place.
            by_place.setdefault(remedy.where, {})["\n".join(remedy.lines)] = None
    for place, blocks in by_place.items():
        yield ""
        yield f"{place}:"
        yield from (f"    {line}" for block in blocks for line in block.split("\n"))
