"""Rows, breakdowns, what must hold, and the table for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diagnosis.benchmark.staged import BEGIN, alarm, facts, fault
from paramedic.diagnosis.benchmark.bars import Bar
from paramedic.diagnosis.benchmark.bootstrap import Comparison
from paramedic.diagnosis.benchmark.guard import Line, guard_lines, minder_lines, promise_lines
from paramedic.diagnosis.benchmark.outcome import Outcome, judge
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
from paramedic.diagnosis.benchmark.report import Report
from paramedic.diagnosis.benchmark.scoreboard import Row, row_of
from paramedic.diagnosis.benchmark.slices import Slice, missing_of, size_of, slices_of
from paramedic.diagnosis.benchmark.table import lines_of


def mixed() -> list[Outcome]:
    """Two found after 11 s and 101 s, one missed; two at once; a group; two healthy jobs."""
    pcie = fault(2, kind="pcie_downgrade", loudness="hidden")
    return [
        judge(facts(fault(1), name="a"), [alarm(60, 1, family="ecc_error")], 1.0),
        judge(facts(fault(1), name="b", missing_share=0.2), [alarm(150, 1, family="hang")], 1.0),
        judge(facts(pcie, name="c"), [], 1.0),
        judge(facts(fault(0), fault(3), name="d"), [alarm(60, 0), alarm(61, 3)], 1.0),
        judge(facts(fault(0, 1, 2, is_group=True), name="e"), [alarm(70, 0, 1, 2)], 1.0),
        judge(facts(name="f"), [alarm(70, 0)], 1.0),
        judge(facts(name="g"), [], 1.0),
    ]


def test_a_row_says_all_of_a_detector() -> None:
    row = row_of("x", "test", 3.0, mixed())
    assert (row.hits, row.false_alarms, row.misses) == (4, 1, 1)
    assert (row.precision, row.recall, row.f1) == (0.8, 0.8, 0.8)
    assert (row.delay_p50_seconds, row.delay_p90_seconds) == (11.0, 101.0)
    assert (row.episodes, row.healthy_job_hours) == (5, 2000 / 3600)
    assert row.healthy_false_alarms == 1
    assert row.false_alarms_per_job_day == pytest.approx(86_400 / 2000)
    assert row.false_alarms_upper_bound == pytest.approx(4.7439 * 86_400 / 2000, rel=1e-4)
    assert (row.set_precision, row.set_recall, row.set_exact) == (1.0, 1.0, 1.0)
    assert (row.groups, row.groups_reported, row.groups_one_accused) == (1, 1, 0)
    assert row.family_top1 == 0.25
    assert row.compute_seconds_per_second == pytest.approx(7 / 7000)
    assert row.recall_within_seconds["15"] == 0.6
    assert row.recall_within_seconds["600"] == 0.8


def test_a_row_of_somebody_who_says_nothing_leaves_open_what_is_not_known() -> None:
    quiet = [judge(facts(fault(1)), [], 0.0)]
    row = row_of("x", "test", 1.0, quiet)
    assert (row.f1, row.delay_p50_seconds, row.family_top1, row.set_recall) == (0, None, None, None)


def test_breakdowns_have_recall_for_each_kind_and_f1_for_each_size() -> None:
    slices = {(s.by, s.value): s for s in slices_of("x", mixed(), {"ecc_error"})}
    assert slices["kind", "ecc_error"].recall == 1.0
    assert slices["kind", "pcie_downgrade"].recall == 0.0
    assert slices["loudness", "hidden"].faulty_machines == 1
    assert slices["novelty", "kinds only in test"].recall == 0.0
    assert slices["size", "up to 8 nodes"].f1 == pytest.approx(8 / 9)  # healthy jobs left out
    assert slices["missing", "up to 30 %"].faulty_machines == 1
    assert slices["broken at once", "2"].recall == 1.0
    assert slices["broken at once", "a group"].faulty_machines == 0


def test_classes_of_size_and_of_what_is_missing_cover_everything() -> None:
    assert [size_of(n) for n in (4, 9, 128, 1500)] == [
        "up to 8 nodes", "up to 32 nodes", "up to 128 nodes", "above 128 nodes",
    ]  # fmt: skip
    assert [missing_of(s) for s in (0.0, 0.05, 0.5)] == ["none", "up to 10 %", "above 30 %"]


def rows(**f1: float) -> list[Row]:
    return [replace(row_of(name, "test", 1.0, []), f1=value) for name, value in f1.items()]


def held(lines: Sequence[Line]) -> list[bool]:
    return [line.holds for line in lines]


@pytest.mark.parametrize(
    ("cusum", "minder", "expected"),
    [(0.5, 0.9, [True, True]), (0.51, 0.9, [False, True]), (0.2, 0.95, [True, False])],
)
def test_episodes_that_simple_detectors_solve_are_too_easy(
    cusum: float, minder: float, expected: list[bool]
) -> None:
    scored = rows(robust_z_cusum=cusum, minder_every_second=minder, paramedic=0.97)
    assert held(list(guard_lines(scored, []))) == expected


def test_a_fifth_of_the_faults_has_to_show_in_one_metric_only() -> None:
    def shown(*counts: int) -> list[Line]:
        return list(guard_lines([], [facts(fault(1, metrics_shown=one)) for one in counts]))

    assert held(shown(1, 5, 5, 5, 5)) == [True]
    assert held(shown(1, 5, 5, 5, 5, 5)) == [False]
    assert shown() == []


def test_whoever_did_not_take_part_is_not_asked() -> None:
    assert list(guard_lines(rows(paramedic=0.9), [])) == []


BETTER, WORSE = Comparison(0.1, 0.01, 0.2, 0.02), Comparison(-0.1, -0.2, 0.0, 0.5)


def test_ours_has_to_be_above_every_rival_and_a_long_run_has_to_prove_it() -> None:
    scored = rows(paramedic=0.9, minder=0.8)
    assert held(list(promise_lines(scored, {"minder": BETTER}, wants_proof=False))) == [True]
    assert held(list(promise_lines(scored, {"minder": BETTER}, wants_proof=True))) == [False]
    assert held(list(promise_lines(scored, {"minder": WORSE}, wants_proof=False))) == [False]


def test_variants_of_ours_are_no_rivals() -> None:
    scored = rows(paramedic=0.9, paramedic_no_vae=0.95)
    assert list(promise_lines(scored, {"paramedic_no_vae": WORSE}, wants_proof=True)) == []


def test_minder_has_to_be_better_than_what_its_paper_finds_to_be_worse() -> None:
    whole, joined, single = rows(minder=0.5, minder_concatenated=0.4, minder_one_model=0.6)
    (hasty,) = (replace(one, precision=0.7) for one in rows(minder_no_continuity=0.9))
    lines = list(minder_lines([single, replace(whole, precision=0.8), hasty, joined]))
    assert held(lines) == [True, True, False]
    assert "continuity: precision 0.800, without 0.700" in lines[0].words
    assert list(minder_lines([whole])) == list(minder_lines([hasty])) == []


REAL = RealSetRow("asd", {"runs": 13, "first": 0.615}, "right server first in 60 %", holds=True)


def a_report(*guard: Line, real: RealSetRow = REAL) -> Report:
    row = row_of("paramedic", "test", 3.0, mixed())
    slices: list[Slice] = list(slices_of("paramedic", mixed(), {"ecc_error"}))
    other = row_of("minder", "test", 3.0, mixed())
    slices += slices_of("minder", mixed(), {"ecc_error"})
    compared = {"minder": BETTER}
    return Report((row, other), tuple(slices), compared, guard, (), {"seed": BEGIN}, (real,))


def test_the_table_has_a_line_for_each_row_kind_and_condition() -> None:
    lines = list(lines_of(a_report(Line("all is hard", holds=False))))
    assert lines[0].startswith("detector ")
    assert "0.800" in lines[1]
    assert lines[2].endswith("0.02")
    assert any(line.startswith("pcie_downgrade") for line in lines)
    assert lines[-2] == "difficulty: all is hard: DOES NOT HOLD"
    assert lines[-1].startswith("real set asd: runs 13, first 0.615")


def test_a_report_holds_when_all_of_its_conditions_do() -> None:
    assert a_report(Line("a", holds=True)).holds
    assert not a_report(Line("a", holds=True), Line("b", holds=False)).holds
    assert not a_report(real=replace(REAL, holds=False)).holds


def test_a_bar_that_is_missed_breaks_a_full_run_and_one_that_is_not_measured_does_not() -> None:
    missed = replace(a_report(), bars=(Bar("a", 0.1, 0.5), Bar("b", None, 0.5)))
    assert missed.holds
    full = replace(missed, is_bound=True)
    assert not full.holds
    assert [bar.words for bar in full.missed] == ["a"]
    assert list(lines_of(full))[-2:] == [
        "bar: a: 0.1 (at least 0.5): MISSED", "bar: b: not measured (at least 0.5)",
    ]  # fmt: skip
    assert [one["holds"] for one in full.to_json()["bars"]] == [False, None]  # type: ignore[attr-defined]


def test_a_row_that_examined_a_share_stands_below_beside_ours_on_the_same_episodes() -> None:
    whole, part = rows(paramedic=0.6, paramedic_raw=0.9)
    told = Report(
        rows=(replace(whole, episodes=300), replace(part, episodes=30)),
        slices=(),
        comparisons={"paramedic_raw": Comparison(-0.2, -0.3, -0.1, 0.01)},
        guard=(),
        promises=(),
        settings={},
    )
    lines = list(lines_of(told))
    assert lines[1].startswith("paramedic ")
    assert lines[3].startswith("on 30 of the 300 faulty episodes")
    assert lines[5].split()[-6:] == ["0.700", "-0.200", "(-0.300", "to", "-0.100)", "0.01"]
