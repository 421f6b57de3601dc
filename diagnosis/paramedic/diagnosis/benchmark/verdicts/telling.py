"""What came of trials, for whoever looks for what went wrong: a table by kind, and each mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.aligning import seconds
from paramedic.diagnosis.benchmark.bars import bars_of
from paramedic.diagnosis.benchmark.counts import Counts, quantile, ratio
from paramedic.diagnosis.benchmark.disturbances import unpaired
from paramedic.diagnosis.benchmark.guard import OURS
from paramedic.diagnosis.benchmark.product_table import bar_lines, disturbed_lines, figure_lines
from paramedic.diagnosis.benchmark.scoreboard import row_of
from paramedic.diagnosis.contract import Fault
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paramedic.diagnosis.benchmark.outcome import Found, Outcome
    from paramedic.diagnosis.benchmark.verdicts.trials import Tried

_HARDER = {"cadence5": "5s", "cadence15": "15s", "cadence30": "30s", "small": "few_machines"}
"""Sorts of recordings, and the disturbance that each stands for."""


def table_of(tried: Sequence[Tried]) -> Iterator[str]:
    """All figures in a few lines, then what went wrong, episode after episode."""
    outcomes = [one.outcome for one in tried]
    yield from _by_kind(outcomes)
    yield ""
    yield _line("all", outcomes)
    yield _line("all until the job halted", [one.until_halt for one in tried])
    settings = sorted({one.facts.setting for one in outcomes} - {""})
    for name in settings:
        yield _line(f"  {name}", [one for one in outcomes if one.facts.setting == name])
    yield from _figures_and_bars(outcomes)
    yield ""
    for one, outcome in zip(tried, outcomes, strict=True):
        yield from _mistakes(one, outcome)


def _figures_and_bars(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Of episodes of the usual sorts; those of harder ones are held against them."""
    usual = [one for one in outcomes if one.facts.setting not in _HARDER]
    plain = [one for one in usual if len(one.found) == 1]
    harder = [
        unpaired(name, those, plain)
        for setting, name in _HARDER.items()
        if plain and (those := [one for one in outcomes if one.facts.setting == setting])
    ]
    row = row_of(OURS, "test", 0.0, usual)
    yield from figure_lines(row)
    yield from disturbed_lines(harder)
    yield from bar_lines([bar for bar in bars_of(row, harder, ()) if bar.holds is not None])


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
    middle, long = (seconds(quantile(delays, part)) for part in (0.5, 0.9))
    return f"{ratio(len(timely), len(found)):>6.2f} {middle:>11}, {long:>5} {family:>6.2f}"


def _line(name: str, outcomes: Sequence[Outcome]) -> str:
    counts = Counts.of(outcomes)
    found = [one for outcome in outcomes for one in outcome.found]
    return (
        f"{name}: {counted(len(outcomes), 'episode')}, precision {counts.precision:.3f},"
        f" recall {counts.recall:.3f}, F1 {counts.f1:.3f}; {counted(counts.hits, 'hit')},"
        f" {counted(counts.false_alarms, 'false alarm')},"
        f" {counted(counts.misses, 'miss', 'misses')}; {_of(found).strip()}"
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
        f"{facts.name}: {counted(facts.nodes, 'node')}, {facts.seconds} s, missing"
        f" {facts.missing_share:.2f}; {counted(outcome.hits, 'hit')},"
        f" {outcome.false_alarms} false, {outcome.misses} missed"
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
