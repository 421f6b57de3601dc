"""Figures of the product, what disturbances cost, and the bars that they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import BEGIN, alarm, facts, fault
from paramedic.diagnosis.benchmark.bars import Bar, bars_of
from paramedic.diagnosis.benchmark.disturbances import disturbance
from paramedic.diagnosis.benchmark.figures import calibration_error, figures_of
from paramedic.diagnosis.benchmark.guard import (
    OURS,
    baseline_of,
    is_disturbed,
    is_product,
    is_variant_of_ours,
)
from paramedic.diagnosis.benchmark.outcome import Claim, Outcome, judge
from paramedic.diagnosis.benchmark.product_table import bar_lines, disturbed_lines, figure_lines
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
from paramedic.diagnosis.benchmark.scoreboard import row_of
from paramedic.models.detection import Alarm


def stopping(after: int, named_after: int | None, name: str = "e") -> Outcome:
    """Node 1 breaks, stops so many seconds after the onset, and is named (or not)."""
    stop = BEGIN + 50 + after
    told = [] if named_after is None else [alarm(50 + named_after - 1, 1)]
    known = facts(fault(1, stopped_at=stop, halted_at=stop + 120), name=name)
    return judge(known, told, 1.0)


def sure(confidence: float, one: Alarm) -> Alarm:
    return replace(one, score=confidence)


def test_one_fault_at_a_time_has_figures_of_its_own() -> None:
    two = judge(facts(fault(0), fault(3), name="two"), [alarm(60, 0), alarm(60, 2)], 1.0)
    found = judge(facts(fault(1), name="one"), [alarm(59, 1)], 1.0)
    missed = judge(facts(fault(1), name="none"), [], 1.0)
    healthy = judge(facts(name="well"), [alarm(9, 1)], 1.0)
    told = figures_of([two, found, missed, healthy], has_confidence=False)
    assert (told.single_episodes, told.single_precision, told.single_recall) == (2, 1.0, 0.5)
    assert (told.single_delay_p50_seconds, told.single_delay_p90_seconds) == (10.0, 10.0)
    assert (told.small_sets, told.small_sets_precision, told.small_sets_recall) == (1, 0.5, 0.5)


def test_many_at_once_are_no_small_set() -> None:
    many = judge(facts(*(replace(fault(0), nodes=(f"n{n}",)) for n in range(5))), [], 1.0)  # type: ignore[arg-type]
    assert figures_of([many], has_confidence=False).small_sets == 0


def test_a_stop_is_warned_of_until_it_and_what_had_no_symptoms_stands_apart() -> None:
    outcomes = [
        stopping(100, 40, "a"), stopping(30, 30, "b"), stopping(30, 31, "c"),
        stopping(200, None, "d"), stopping(29, 60, "e"), stopping(0, None, "f"),
        judge(facts(fault(1), name="never stops"), [alarm(60, 1)], 1.0),
    ]  # fmt: skip
    told = figures_of(outcomes, has_confidence=False)
    assert (told.warned_stops, told.warned_stops_named) == (4, 0.5)
    assert told.warned_stops_lead_p50_seconds == 0.0  # of 0 and 60
    assert (told.silent_stops, told.silent_stops_named) == (2, 0.5)
    assert told.silent_stops_delay_p50_seconds == 60.0


def test_where_only_the_halt_of_the_job_is_known_it_counts_as_the_stop() -> None:
    halted = judge(facts(fault(1, halted_at=BEGIN + 90)), [alarm(69, 1)], 1.0)
    told = figures_of([halted], has_confidence=False)
    assert (told.warned_stops, told.warned_stops_lead_p50_seconds) == (1, 20.0)


@pytest.mark.parametrize(
    ("alarms", "is_alone"),
    [
        ([alarm(60, 1)], True),
        ([alarm(60, 1), alarm(90, 1)], True),
        ([alarm(60, 1), alarm(61, 2)], False),
        ([alarm(10, 3), alarm(60, 1)], False),
        ([alarm(800, 1)], False),
        ([], False),
    ],
)
def test_a_culprit_is_alone_when_nobody_else_is_ever_accused(
    alarms: Sequence[Alarm], is_alone: bool
) -> None:
    told = figures_of([judge(facts(fault(1)), alarms, 1.0)], has_confidence=False)
    assert told.culprit_alone == float(is_alone)
    assert (told.culprit_alone_if_named is None) == (not alarms)


def test_confidence_is_held_against_what_was_right_and_repeats_count_once() -> None:
    alarms = [sure(0.95, alarm(60, 1)), sure(0.95, alarm(70, 1)), sure(0.85, alarm(80, 2))]
    outcome = judge(facts(fault(1)), alarms, 1.0)
    assert outcome.claims == (Claim(0.95, is_right=True), Claim(0.85, is_right=False))
    told = figures_of([outcome], has_confidence=True)
    assert told.claims == 2
    assert told.confidence_error == pytest.approx((0.05 + 0.85) / 2)
    assert figures_of([outcome], has_confidence=False).confidence_error is None


def test_a_report_of_a_group_is_one_right_claim_and_one_of_it_alone_a_wrong_one() -> None:
    group = facts(fault(0, 1, 2, is_group=True))
    assert [one.is_right for one in judge(group, [alarm(60, 0, 1, 2)], 1.0).claims] == [True]
    assert [one.is_right for one in judge(group, [alarm(60, 0)], 1.0).claims] == [False]


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=20))
def test_a_calibration_error_lies_between_nothing_and_all(said: list[tuple[float, bool]]) -> None:
    error = calibration_error([Claim(score, is_right) for score, is_right in said])
    if not said:
        assert error is None
        return
    overall = abs(sum(score - right for score, right in said)) / len(said)
    assert error is not None
    assert overall - 1e-9 <= error <= 1.0


def test_recall_of_the_weak_kinds_is_told_and_is_open_where_none_broke() -> None:
    found = judge(facts(fault(1, kind="aoc_error"), name="a"), [alarm(60, 1)], 1.0)
    missed = judge(facts(fault(1, kind="pcie_downgrade"), name="b"), [], 1.0)
    told = figures_of([found, missed], has_confidence=True)
    assert (told.recall_aoc_error, told.recall_pcie_downgrade) == (1.0, 0.0)
    assert told.recall_gpu_execution_error is None


def named(found: Sequence[bool]) -> list[Outcome]:
    """Single faults, named or missed."""
    return [
        judge(facts(fault(1), name=f"e{at}"), [alarm(60, 1)] if is_found else [], 1.0)
        for at, is_found in enumerate(found)
    ]


def test_a_disturbance_costs_what_is_lost_on_the_same_episodes() -> None:
    plain, disturbed = named([True, True, True]), named([True, False])
    cost = disturbance("5s", disturbed, plain)
    assert (cost.episodes, cost.f1_undisturbed, cost.delay_p50_seconds) == (2, 1.0, 11.0)
    assert cost.f1_loss == pytest.approx(1 - 2 / 3)
    assert cost.f1_loss_low is not None
    assert cost.f1_loss_high is not None
    assert cost.f1_loss_low <= cost.f1_loss <= cost.f1_loss_high
    assert disturbance("5s", plain[:2], plain).f1_loss == 0.0


@pytest.mark.parametrize(
    ("figure", "limit", "is_least", "holds"),
    [
        (0.94, 0.94, True, True), (0.93, 0.94, True, False), (15.0, 15.0, False, True),
        (16.0, 15.0, False, False), (None, 1.0, True, None), (0.0, 0.0, False, True),
    ],
)  # fmt: skip
def test_a_bar_is_held_at_its_limit_and_open_where_nothing_was_measured(
    figure: float | None, limit: float, is_least: bool, holds: bool | None
) -> None:
    bar = Bar("x", figure, limit, is_least)
    assert bar.holds is holds
    told = {None: "not measured", True: "held", False: "MISSED"}[holds]
    assert told in bar.line()
    assert bar.to_json()["holds"] is holds


def test_every_bar_has_its_figure() -> None:
    row = row_of(OURS, "test", 0.0, [*named([True]), judge(facts(name="well"), [], 1.0)])
    costs = [disturbance(n, named([True]), named([True])) for n in ("15s", "few_machines")]
    real = [RealSetRow("flight_recorder", {}, "hanging ranks", holds=False)]
    bars = {bar.words: bar for bar in bars_of(row, costs, real)}
    assert bars["one fault: F1"].figure == 1.0
    assert bars["onset to verdict, median (s)"].figure == 11.0
    assert bars["false alarms on healthy runs"].holds
    assert bars["15s: F1 lost"].figure == 0.0
    assert bars["15s: onset to verdict, median (s)"].limit == 60
    assert bars["5s: F1 lost"].holds is None
    assert bars["4 to 8 machines: F1"].figure == 1.0
    assert bars["set of others flight_recorder, hanging ranks"].holds is False


def test_what_there_was_none_of_is_not_measured() -> None:
    faulty = list(bars_of(row_of(OURS, "test", 0.0, named([True])), (), ()))
    assert next(bar for bar in faulty if bar.words.startswith("false alarms")).holds is None
    well = row_of(OURS, "test", 0.0, [judge(facts(name="well"), [], 1.0)])
    assert [bar.words for bar in bars_of(well, (), ()) if bar.holds is not None] == [
        "false alarms on healthy runs"
    ]


def test_people_are_told_figures_disturbances_and_bars() -> None:
    row = row_of(OURS, "test", 0.0, named([True, False]))
    told = list(figure_lines(row))
    assert told[0].startswith("one fault: 2 episodes, precision 1.000, recall 0.500")
    table = list(disturbed_lines([disturbance("5s", named([False]), named([True]))]))
    assert table[1].split()[:5] == ["5s", "1", "0.000", "1.000", "+1.000"]
    assert list(disturbed_lines([])) == []
    assert list(bar_lines([Bar("x", 1.0, 0.5)])) == ["bar: x: 1 (at least 0.5): held"]


def test_names_tell_the_product_its_disturbances_and_what_an_ablation_is_held_against() -> None:
    assert is_product("paramedic")
    assert is_product("paramedic@5s")
    assert not is_product("paramedic_scores")
    assert [is_disturbed(one) for one in ("paramedic@5s", "paramedic", "minder")] == [
        True, False, False,
    ]  # fmt: skip
    assert is_variant_of_ours("paramedic@5s")
    known = {"paramedic", "paramedic_scores", "minder"}
    assert baseline_of("paramedic_no_network", known) == "paramedic_scores"
    assert baseline_of("paramedic_no_network", {"paramedic"}) == "paramedic"
    assert {baseline_of(one, known) for one in known} == {"paramedic"}
