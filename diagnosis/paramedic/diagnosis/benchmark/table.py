"""The report for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.aligning import UNKNOWN, aligned, seconds, share
from paramedic.diagnosis.benchmark.guard import OURS
from paramedic.diagnosis.benchmark.product_table import bar_lines, disturbed_lines, figure_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paramedic.diagnosis.benchmark.guard import Line
    from paramedic.diagnosis.benchmark.report import Report
    from paramedic.diagnosis.benchmark.scoreboard import Row

_HEADINGS = (
    "detector", "F1 (95 %)", "precision", "recall", "PR-AUC", "delay p50, p90",
    "false alarms/job-day", "set P, R", "family", "compute/s", "ours better, p",
)  # fmt: skip
_HEADINGS_OF_SHARE = (
    "detector", "F1 (95 %)", "precision", "recall", "PR-AUC", "ours there", "ours better by (95 %)",
    "p",
)  # fmt: skip


def lines_of(report: Report) -> Iterator[str]:
    """The table, what was compared, and what held."""
    rows = report.rows_of_all
    yield from aligned([_HEADINGS, *(_cells(report, row) for row in rows)])
    yield ""
    if len(rows) < len(report.rows):
        yield from _rows_ofshare(report, report.rows[len(rows) :])
    yield from _recall_by_kind(report)
    for row in rows:
        if row.detector == OURS:
            yield from (f"{OURS}: {line}" for line in figure_lines(row))
    yield from disturbed_lines(report.disturbed)
    yield from _conditions("difficulty", report.guard)
    yield from _conditions("promise", report.promises)
    yield from (f"real set {row.line()}" for row in report.real)
    yield from bar_lines(report.bars)


def _cells(report: Report, row: Row) -> tuple[str, ...]:
    comparison = report.comparisons.get(row.detector)
    return (
        row.detector,
        f"{row.f1:.3f} ({row.f1_low:.3f}-{row.f1_high:.3f})",
        f"{row.precision:.3f}",
        f"{row.recall:.3f}",
        share(row.pr_auc),
        f"{seconds(row.delay_p50_seconds)}, {seconds(row.delay_p90_seconds)}",
        f"{row.false_alarms_per_job_day:.2f} (< {row.false_alarms_upper_bound:.2f})",
        f"{share(row.set_precision)}, {share(row.set_recall)}",
        share(row.family_top1),
        f"{1e3 * row.compute_seconds_per_second:.2f} ms",
        UNKNOWN if comparison is None else f"{comparison.p_value:.2g}",
    )


def _rows_ofshare(report: Report, rows: Sequence[Row]) -> Iterator[str]:
    """Variants, beside ours on the very episodes that they examined."""
    all_of = report.rows[0]
    share = f"{rows[0].episodes} of the {all_of.episodes} faulty episodes"
    hours = f"{rows[0].healthy_job_hours:.0f} of the {all_of.healthy_job_hours:.0f} healthy hours"
    yield f"on {share} and {hours}:"
    yield from aligned([_HEADINGS_OF_SHARE, *(_cells_ofshare(report, row) for row in rows)])
    yield ""


def _cells_ofshare(report: Report, row: Row) -> tuple[str, ...]:
    cells = _cells(report, row)[:5]
    compared = report.comparisons.get(row.detector)
    if compared is None:
        return (*cells, UNKNOWN, UNKNOWN, UNKNOWN)
    by = f"{compared.difference:+.3f} ({compared.low:+.3f} to {compared.high:+.3f})"
    return (*cells, f"{row.f1 + compared.difference:.3f}", by, f"{compared.p_value:.2g}")


def _recall_by_kind(report: Report) -> Iterator[str]:
    """Recall of the two best rows by kind of fault."""
    best = [row.detector for row in report.rows_of_all[:2]]
    by_kind = {(one.value, one.detector): one for one in report.slices if one.by == "kind"}
    kinds = sorted({kind for kind, _detector in by_kind})
    rows = [("recall by kind", "machines", *best)]
    for kind in kinds:
        machines = max(one.faulty_machines for (of, _), one in by_kind.items() if of == kind)
        recalls = {name: one.recall for (of, name), one in by_kind.items() if of == kind}
        rows.append((kind, str(machines), *(share(recalls.get(name)) for name in best)))
    if kinds:
        yield from aligned(rows)
        yield ""


def _conditions(name: str, lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        yield f"{name}: {line.words}: {'holds' if line.holds else 'DOES NOT HOLD'}"
