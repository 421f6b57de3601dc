"""What the report for people says of the product: figures, disturbances, bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.aligning import aligned, finely, seconds, share
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paramedic.diagnosis.benchmark.bars import Bar
    from paramedic.diagnosis.benchmark.disturbances import Disturbance
    from paramedic.diagnosis.benchmark.scoreboard import Row

_HEADINGS = (
    "disturbed by", "episodes", "F1", "undisturbed", "lost (95 %)", "precision", "recall",
    "delay p50, p90",
)  # fmt: skip


def figure_lines(row: Row) -> Iterator[str]:
    """What goes beyond a row of the table, in words."""
    further = row.figures
    yield (
        f"one fault: {counted(further.single_episodes, 'episode')}, precision"
        f" {finely(further.single_precision)}, recall {finely(further.single_recall)}, F1"
        f" {finely(further.single_f1)}, delay"
        f" {seconds(further.single_delay_p50_seconds)}, {seconds(further.single_delay_p90_seconds)}"
    )
    yield (
        f"culprit alone in {share(further.culprit_alone)} of them,"
        f" {share(further.culprit_alone_if_named)} where anybody was named"
    )
    yield (
        f"stops after symptoms: {further.warned_stops}, {share(further.warned_stops_named)} named"
        f" before, {seconds(further.warned_stops_lead_p50_seconds)} ahead; silent ones:"
        f" {further.silent_stops}, {share(further.silent_stops_named)} named,"
        f" {seconds(further.silent_stops_delay_p50_seconds)} after the onset"
    )
    yield (
        f"2 to 4 at once: {counted(further.small_sets, 'episode')}, precision"
        f" {share(further.small_sets_precision)}, recall {share(further.small_sets_recall)};"
        f" groups {row.groups_reported} of {row.groups} reported, {row.groups_one_accused} with"
        " one accused"
    )
    yield (
        f"confidence: error {share(further.confidence_error)} over"
        f" {counted(further.claims, 'accusation')}; family right first {share(row.family_top1)}"
    )
    yield (
        f"healthy: {counted(row.healthy_false_alarms, 'false alarm')} in"
        f" {row.healthy_job_hours:.1f} job-hours, {row.false_alarms_per_job_day:.2f} a job-day"
        f" (95 %: below {row.false_alarms_upper_bound:.2f})"
    )


def disturbed_lines(disturbed: Sequence[Disturbance]) -> Iterator[str]:
    """A table; nothing where nothing was disturbed."""
    if disturbed:
        yield from aligned([_HEADINGS, *(_cells(one) for one in disturbed)])
        yield ""


def bar_lines(bars: Sequence[Bar]) -> Iterator[str]:
    """One for each bar."""
    yield from (f"bar: {bar.line()}" for bar in bars)


def _cells(one: Disturbance) -> tuple[str, ...]:
    low, high = one.f1_loss_low, one.f1_loss_high
    interval = "" if low is None or high is None else f" ({low:+.3f} to {high:+.3f})"
    return (
        one.name,
        str(one.episodes),
        f"{one.f1:.3f}",
        f"{one.f1_undisturbed:.3f}",
        f"{one.f1_loss:+.3f}{interval}",
        f"{one.precision:.3f}",
        f"{one.recall:.3f}",
        f"{seconds(one.delay_p50_seconds)}, {seconds(one.delay_p90_seconds)}",
    )
