"""Two loss curves are the same bit for bit, or the first difference is named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.demo.curve import Point, compare, steps_done

STEPS, RANKS = 5, 3


def curve() -> dict[Point, list[str]]:
    return {
        (step, rank): [float(step * 10 + rank).hex()]
        for step in range(STEPS)
        for rank in range(RANKS)
    }


def test_a_curve_is_identical_to_itself() -> None:
    assert compare(curve(), curve(), STEPS, RANKS).identical


def test_a_step_done_again_with_the_same_loss_is_identical() -> None:
    faulted = curve()
    faulted[3, 1] = faulted[3, 1] * 2
    assert compare(curve(), faulted, STEPS, RANKS).identical


def test_a_step_done_again_with_another_loss_is_a_difference() -> None:
    faulted = curve()
    faulted[3, 1] = [*faulted[3, 1], "0x1.0p+0"]
    comparison = compare(curve(), faulted, STEPS, RANKS)
    assert not comparison.identical
    assert "step 3, rank 1: 0x1.0p+0" in comparison.difference


def test_ranks_may_leave_one_step_incomplete() -> None:
    faulted = curve()
    del faulted[2, 0], faulted[2, 1]
    assert compare(curve(), faulted, STEPS, RANKS).identical


def test_a_step_that_nobody_wrote_is_a_hole() -> None:
    faulted = {point: losses for point, losses in curve().items() if point[0] != 2}
    assert "step 2 of rank 0 is missing" in compare(curve(), faulted, STEPS, RANKS).difference


def test_two_incomplete_steps_are_a_hole() -> None:
    faulted = curve()
    del faulted[1, 0], faulted[2, 0]
    assert not compare(curve(), faulted, STEPS, RANKS).identical


def test_a_reference_that_is_too_short_compares_with_nothing() -> None:
    reference = {point: losses for point, losses in curve().items() if point[0] < 4}
    assert "no step 4" in compare(reference, curve(), STEPS, RANKS).difference


def test_steps_are_counted_up_to_the_first_gap() -> None:
    faulted = {point: losses for point, losses in curve().items() if point[0] != 3}
    assert steps_done(faulted, RANKS) == 3


def test_the_last_step_counts_only_when_every_rank_wrote_it() -> None:
    faulted = curve()
    del faulted[4, 2]
    assert steps_done(faulted, RANKS) == 4
    assert steps_done({}, RANKS) == 0


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), st.just(["a"])))
def test_whatever_is_missing_identical_means_that_every_step_was_written(
    faulted: dict[Point, list[str]],
) -> None:
    reference = {point: ["a"] for point in curve()}
    if compare(reference, faulted, STEPS, RANKS).identical:
        assert {step for step, _rank in faulted} == set(range(STEPS))
