"""Figures that are told twice are the same; conditions hold at their limits and break beyond."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import Heard, Seeing, StagedSource, alarm, facts, fault, silent
from paramedic.diagnosis.benchmark.bootstrap import Comparison
from paramedic.diagnosis.benchmark.counts import Counts
from paramedic.diagnosis.benchmark.episodes import Part
from paramedic.diagnosis.benchmark.figures import Figures
from paramedic.diagnosis.benchmark.guard import Line, guard_lines, promise_lines
from paramedic.diagnosis.benchmark.ledger import ResultsLedger
from paramedic.diagnosis.benchmark.outcome import Outcome, judge
from paramedic.diagnosis.benchmark.report import Report, report_on, score
from paramedic.diagnosis.benchmark.results import Result
from paramedic.diagnosis.benchmark.running import LoneCrew, run
from paramedic.diagnosis.benchmark.scoreboard import row_of
from paramedic.diagnosis.benchmark.slices import Slice, slices_of
from paramedic.diagnosis.benchmark.table import lines_of

KINDS, LOUDNESS = ("ecc_error", "hang", "nic_dropout"), ("loud", "quiet", "hidden")


def drawn_outcome(chance: random.Random, name: str) -> Outcome:
    """An episode with up to three faults, of machines or of a group, and up to four alarms."""
    faults = tuple(
        fault(
            node, at=chance.randrange(1, 300), kind=chance.choice(KINDS),
            loudness=chance.choice(LOUDNESS),
        )
        for node in chance.sample(range(4), chance.randrange(4))
    )  # fmt: skip
    if chance.random() < 0.2:
        faults = (fault(0, 1, 2, is_group=True),)
    known = facts(*faults, name=name, missing_share=chance.choice((0.0, 0.05, 0.2, 0.5)))
    known = replace(known, nodes=chance.choice((4, 9, 100, 500)))
    alarms = [alarm(chance.randrange(900), chance.randrange(4)) for _ in range(chance.randrange(5))]
    return judge(known, alarms, 1.0)


def drawn_outcomes(seed: int, count: int = 12) -> list[Outcome]:
    chance = random.Random(seed)
    return [drawn_outcome(chance, f"e{at}") for at in range(count)]


def by(slices: Sequence[Slice], name: str) -> list[Slice]:
    return [one for one in slices if one.by == name]


@given(st.integers(0, 10_000))
def test_every_breakdown_adds_up_to_the_whole(seed: int) -> None:
    outcomes = drawn_outcomes(seed)
    whole, slices = Counts.of(outcomes), list(slices_of("x", outcomes, KINDS[:1]))
    for name in ("kind", "loudness", "novelty", "size", "missing", "broken at once"):
        those = by(slices, name)
        assert sum(one.faulty_machines for one in those) == whole.hits + whole.misses
        found = sum(one.recall * one.faulty_machines for one in those)
        assert found == pytest.approx(whole.hits)
        assert len({one.value for one in those}) == len(those)


@given(st.integers(0, 10_000))
def test_a_rows_figures_follow_from_its_counts(seed: int) -> None:
    outcomes = drawn_outcomes(seed)
    row, counts = row_of("x", "test", 1.0, outcomes), Counts.of(outcomes)
    assert (row.hits, row.false_alarms, row.misses) == (
        counts.hits, counts.false_alarms, counts.misses,
    )  # fmt: skip
    assert row.f1_low <= row.f1 <= row.f1_high or counts.hits == 0
    assert list(row.recall_within_seconds.values()) == sorted(row.recall_within_seconds.values())
    assert row.recall_within_seconds["600"] <= row.recall
    assert row.false_alarms_per_job_day <= row.false_alarms_upper_bound


def a_report(folder: Path, *detectors: Seeing) -> Report:
    source, ledger = StagedSource(), ResultsLedger(folder, {})
    run(source, detectors, ledger, LoneCrew(source), Heard())
    return report_on(ledger, [one.name for one in detectors], {"seed": 0}, wants_proof=False)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def as_told(row: Mapping[str, Any]) -> list[str]:
    """The cells that a row of the JSON has to have in the table, up to the false alarms."""
    delays = [row[f"delay_{one}_seconds"] for one in ("p50", "p90")]
    return [
        row["detector"],
        f"{row['f1']:.3f} ({row['f1_low']:.3f}-{row['f1_high']:.3f})",
        f"{row['precision']:.3f}",
        f"{row['recall']:.3f}",
        f"{row['pr_auc']:.2f}",
        ", ".join("-" if one is None else f"{one:.0f} s" for one in delays),
        f"{row['false_alarms_per_job_day']:.2f} (< {row['false_alarms_upper_bound']:.2f})",
    ]


def test_the_table_and_the_json_carry_the_same_figures(tmp_path: Path) -> None:
    report = a_report(tmp_path, Seeing(), silent(), Seeing("max_z", thresholds=(0.1,)))
    told, lines = json.loads(json.dumps(report.to_json())), list(lines_of(report))
    against = {one["against"]: one for one in told["comparisons"]}
    assert [cells(line)[:7] for line in lines[1:4]] == [as_told(row) for row in told["rows"]]
    for row, line in zip(told["rows"], lines[1:4], strict=True):
        compared = against.get(row["detector"])
        assert cells(line)[-1] == ("-" if compared is None else f"{compared['p_value']:.2g}")
    for condition in (*told["guard"], *told["promises"]):
        assert any(condition["words"] in line for line in lines)


def test_the_json_has_rows_settings_and_values_of_the_kinds_that_the_formats_name(
    tmp_path: Path,
) -> None:
    told = json.loads(json.dumps(a_report(tmp_path, Seeing(), silent()).to_json()))
    assert {"rows", "settings"} <= set(told)
    first, quiet = told["rows"]
    assert (first["detector"], first["split"], first["episodes"]) == ("paramedic", "test", 2)
    assert first["healthy_job_hours"] == pytest.approx(2 * 1000 / 3600)
    unknown = {name for name, value in quiet.items() if value is None}
    assert unknown - {one.name for one in fields(Figures)} == {
        "delay_p50_seconds", "delay_p90_seconds", "family_top1",
        "set_precision", "set_recall", "set_exact",
    }  # fmt: skip


def test_a_kind_that_a_variant_has_not_seen_is_told_as_unknown() -> None:
    """Variants examine a share of the episodes, and may still be among the two best rows."""
    hang = judge(facts(fault(1, kind="hang"), name="a"), [alarm(60, 1)], 0.0)
    ecc = judge(facts(fault(2, kind="ecc_error"), name="b"), [], 0.0)
    rows = (row_of("paramedic_bare", "test", 1.0, [hang]), row_of("paramedic", "t", 1.0, [hang]))
    slices = (*slices_of("paramedic_bare", [hang], ()), *slices_of("paramedic", [hang, ecc], ()))
    lines = [cells(line) for line in lines_of(Report(rows, slices, {}, (), (), {}))]
    assert ["ecc_error", "1", "-", "0.00"] in lines
    assert ["hang", "1", "1.00", "1.00"] in lines


def ledger_with(folder: Path, alarms: Mapping[Part, Mapping[float, int]]) -> ResultsLedger:
    """Six faults a part; for each threshold, how many of them are found."""
    ledger = ResultsLedger(folder, {})
    for part, found in alarms.items():
        for at in range(6):
            known = facts(fault(1), name=f"{part}-{at}", part=part)
            said = {one: (alarm(60, 1),) if at < n else () for one, n in found.items()}
            ledger.add(known, [Result(known.name, "paramedic", said, 0.1)])
    return ledger


def test_the_threshold_is_the_best_of_validation_though_test_knows_a_better(tmp_path: Path) -> None:
    ledger = ledger_with(
        tmp_path, {Part.VALIDATION: {1.0: 2, 2.0: 5, 3.0: 1}, Part.TEST: {1.0: 6, 2.0: 1, 3.0: 4}}
    )
    scored = score(ledger, "paramedic")
    assert scored.threshold == 2.0
    assert Counts.of(scored.test) == Counts(1, 0, 5)


@pytest.mark.parametrize("on_test", [{1.0: 0, 2.0: 0}, {1.0: 6, 2.0: 0}, {1.0: 0, 2.0: 6}])
@pytest.mark.parametrize(("on_validation", "chosen"), [((4, 3), 1.0), ((3, 4), 2.0)])
def test_only_validation_moves_the_threshold(
    tmp_path: Path, on_test: dict[float, int], on_validation: tuple[int, int], chosen: float
) -> None:
    validation = dict(zip((1.0, 2.0), on_validation, strict=True))
    ledger = ledger_with(tmp_path, {Part.VALIDATION: validation, Part.TEST: on_test})
    scored = score(ledger, "paramedic")
    assert scored.threshold == chosen
    assert Counts.of(scored.test).hits == on_test[chosen]


def holds(lines: Sequence[Line]) -> list[bool]:
    return [one.holds for one in lines]


@pytest.mark.parametrize(
    ("difference", "p_value", "expected"),
    [
        (0.1, 0.0099, True), (0.1, 0.01, False), (0.0, 0.001, False), (-0.1, 0.001, False),
        (1e-9, 0.001, True),
    ],
)  # fmt: skip
def test_a_promise_breaks_at_no_difference_and_at_a_hundredth(
    difference: float, p_value: float, expected: bool
) -> None:
    rows = [row_of(name, "test", 1.0, []) for name in ("paramedic", "minder")]
    against = {"minder": Comparison(difference, 0.0, 0.2, p_value)}
    assert holds(list(promise_lines(rows, against, wants_proof=True))) == [expected]
    unproved = list(promise_lines(rows, against, wants_proof=False))
    assert holds(unproved) == [difference > 0]
    assert "p = " not in unproved[0].words


def test_faults_of_validation_and_of_which_nothing_is_known_make_no_episode_harder() -> None:
    hard = facts(fault(1, metrics_shown=1), part=Part.VALIDATION)
    plain, unknown = facts(fault(1, metrics_shown=5)), facts(fault(1))
    assert list(guard_lines([], [hard, unknown])) == []
    assert holds(list(guard_lines([], [hard, unknown, plain]))) == [False]
    unseen = facts(fault(1, metrics_shown=0))
    assert holds(list(guard_lines([], [plain] * 4 + [unseen]))) == [True]
