"""What came of trials, for whoever looks for what went wrong: a table by kind, and each mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.counts import Counts, ratio
from paramedic.diagnosis.benchmark.scoreboard import quantile, row_of
from paramedic.diagnosis.contract import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paramedic.diagnosis.benchmark.outcome import Found, Outcome
    from paramedic.diagnosis.benchmark.verdicts.trials import Tried


def table_of(tried: Sequence[Tried]) -> Iterator[str]:
    """All figures in a few lines, then what went wrong, episode after episode."""
    outcomes = [one.outcome for one in tried]
    yield from _by_kind(outcomes)
    yield ""
    single = [one for one in outcomes if len(one.found) == 1]
    yield _line("one fault", single)
    yield _line("all", outcomes)
    yield _line("all until the job halted", [one.until_halt for one in tried])
    row = row_of("paramedic", "test", 0.0, outcomes)
    yield (
        f"healthy: {row.healthy_false_alarms} false alarms in {row.healthy_job_hours:.1f} job-hours"
        f" (95 %: < {row.false_alarms_upper_bound:.2f} a job-day)"
    )
    yield (
        f"sets P {_share(row.set_precision)} R {_share(row.set_recall)};"
        f" groups {row.groups_reported} of {row.groups} reported,"
        f" {row.groups_one_accused} with one accused; family {_share(row.family_top1)};"
        f" compute {1e3 * row.compute_seconds_per_second:.1f} ms a second"
    )
    yield ""
    for one, outcome in zip(tried, outcomes, strict=True):
        yield from _mistakes(one, outcome)


def _by_kind(outcomes: Sequence[Outcome]) -> Iterator[str]:
    found = [one for outcome in outcomes for one in outcome.found]
    yield f"{'kind':<22} machines recall  delay p50, p90  family"
    for kind in sorted({one.kind for one in found}):
        those = [one for one in found if one.kind == kind]
        yield f"{kind:<22} {len(those):>8} {_of(those)}"


def _of(found: Sequence[Found]) -> str:
    timely = [one for one in found if one.in_time]
    delays = [one.delay_seconds for one in timely if one.delay_seconds is not None]
    family = ratio(sum(one.is_family_right for one in timely), len(timely))
    middle, long = (_number(quantile(delays, share)) for share in (0.5, 0.9))
    return f"{ratio(len(timely), len(found)):>6.2f} {middle:>9} s,{long:>3} s {family:>7.2f}"


def _line(name: str, outcomes: Sequence[Outcome]) -> str:
    counts = Counts.of(outcomes)
    found = [one for outcome in outcomes for one in outcome.found]
    return (
        f"{name}: {len(outcomes)} episodes, precision {counts.precision:.3f},"
        f" recall {counts.recall:.3f}, F1 {counts.f1:.3f}; {counts.hits} hits,"
        f" {counts.false_alarms} false alarms, {counts.misses} misses; {_of(found).strip()}"
    )


def _mistakes(tried: Tried, outcome: Outcome) -> Iterator[str]:
    """Nothing where all went well."""
    facts = tried.facts
    if (
        not outcome.false_alarms
        and not outcome.misses
        and all(g.is_reported for g in outcome.groups)
    ):
        return
    yield (
        f"{facts.name}: {facts.nodes} nodes, {facts.seconds} s, missing {facts.missing_share:.2f};"
        f" {outcome.hits} hits, {outcome.false_alarms} false, {outcome.misses} missed"
    )
    for fault in facts.faults:
        halt = "" if fault.halted_at is None else f", halted +{fault.halted_at - fault.onset} s"
        stop = "" if fault.stopped_at is None else f", stopped +{fault.stopped_at - fault.onset} s"
        where = f"{','.join(fault.nodes)}" + ("" if fault.gpu is None else f"/{fault.gpu}")
        yield (
            f"  broken {fault.kind} {where} at {fault.onset - facts.first_second} s"
            f" {fault.loudness}{stop}{halt}"
        )
    yield from _accusations(tried)
    for said in tried.others:
        when, verdict = said.second - facts.first_second, said.verdict
        yield f"  job  {when} s: {verdict.fault}: {verdict.summary}"


def _accusations(tried: Tried) -> Iterator[str]:
    """One line for each machine, fault and kind of verdict; of many alike the first few."""
    lines: dict[tuple[object, ...], list[str]] = {}
    for alarm, verdict in zip(tried.alarms, tried.verdicts, strict=True):
        when = alarm.second - tried.facts.first_second
        told = (
            f"  said {when} s: {verdict.scope} {','.join(alarm.nodes)} {verdict.fault}"
            f" {verdict.tier} {verdict.confidence:.2f}: {verdict.summary}"
        )
        at_once = verdict.fault is Fault.PROCESS_EXIT
        lines.setdefault((verdict.fault, when if at_once else alarm.nodes), []).append(told)
    for alike in lines.values():
        yield alike[0] + (f" (and {len(alike) - 1} more like it)" if len(alike) > 1 else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
