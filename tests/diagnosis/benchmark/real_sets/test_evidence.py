"""How unusual a stretch is, by a past that has seen much; relations that are learnt from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.benchmark.real_sets.evidence import ServerEvidence, Tails
from paramedic.diagnosis.benchmark.real_sets.yardsticks import learn, robust_line


def peers(seed: int, servers: int = 4, slots: int = 300) -> np.ndarray:
    """Servers that follow one load, each at its own level and slope."""
    random = np.random.default_rng(seed)
    load = random.normal(0, 1, slots).cumsum() / 10
    slope, level = random.uniform(0.5, 1.5, (2, servers, 2, 1))
    noise: np.ndarray = random.normal(0, 0.02, (servers, 2, slots))
    found: np.ndarray = slope * load + level + noise
    return found


@settings(max_examples=10)
@given(slope=st.floats(-2, 2), offset=st.floats(-5, 5), outliers=st.integers(0, 10))
def test_a_line_is_not_moved_by_a_tenth_of_outliers(
    slope: float, offset: float, outliers: int
) -> None:
    x = np.linspace(-1, 1, 100)
    y = slope * x + offset
    y[::10][:outliers] += 30
    line = robust_line(x, y, resolution=0.01)
    assert line.at(np.array([0.5]))[0] == pytest.approx(slope * 0.5 + offset, abs=0.1)


def test_a_line_on_what_never_moves_is_level() -> None:
    line = robust_line(np.full(50, 3.0), np.linspace(0, 1, 50), 0.01)
    assert abs(line.slope) < 1e-6
    assert robust_line(np.full(50, np.nan), np.zeros(50), 0.01).scatter == float("inf")


def test_what_the_others_do_is_taken_off() -> None:
    values = peers(1)
    residuals = learn(values, 0.001).residuals(values)
    assert residuals.shape == (2, *values.shape)
    assert np.median(np.abs(residuals)) < 0.1 * values.std()


def test_one_odd_server_is_in_its_own_residual_and_in_no_others() -> None:
    values = peers(2)
    yardsticks = learn(values, 0.001)
    values[1, 0, 100:120] += 3.0
    residuals = np.abs(yardsticks.residuals(values)[:, :, 0, 100:120]).mean(axis=-1)
    assert (residuals[:, 1] > 2.5).all()
    assert (np.delete(residuals, 1, axis=1) < 0.3).all()


@given(value=st.floats(0, 50), more=st.floats(0, 50))
def test_what_is_larger_is_never_less_unusual(value: float, more: float) -> None:
    tails = Tails(np.sort(np.random.default_rng(0).exponential(1, 500))[:, None], 0.01)
    low, high = tails.evidence(np.array([[value], [value + more]]))[:, 0]
    assert 0 <= low <= high + 1e-9


def test_within_the_past_evidence_is_the_share_that_was_as_large() -> None:
    tails = Tails(np.arange(1000.0)[:, None], 0.01)
    found = tails.evidence(np.array([[0.0], [500.0], [900.0]]))[:, 0]
    np.testing.assert_allclose(np.exp(-found), [1.0, 0.5, 0.1], atol=0.002)


def test_what_is_unknown_says_nothing() -> None:
    tails = Tails(np.arange(100.0)[:, None], 0.01)
    assert np.isnan(tails.evidence(np.array([[np.nan]]))).all()


def test_a_stretch_scores_as_its_trailing_time_does() -> None:
    past, now = peers(3), peers(3)
    now[2, 1, 200:210] -= 1.0
    evidence = ServerEvidence(past, 0.001)
    trailing = evidence.of_trailing(now, 8)
    np.testing.assert_allclose(trailing[:, 209], evidence.of_stretch(now, 202, 210), rtol=1e-4)
    assert np.isnan(trailing[:, :7]).all()
    assert trailing[:, 209].argmax() == 2


def test_a_server_of_which_nothing_is_known_has_no_score() -> None:
    past = peers(4)
    past[3] = np.nan
    scores = ServerEvidence(past, 0.001).past_trailing(5)
    assert np.isnan(scores[3]).all()
    assert not np.isnan(scores[:3]).any()
