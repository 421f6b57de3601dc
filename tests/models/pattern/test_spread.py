"""What is usual among rows, whatever a few of them do."""

from __future__ import annotations

import numpy as np

from paramedic.models.pattern.spread import usual_spread


def test_of_normal_noise_it_is_the_standard_deviation() -> None:
    noise = np.abs(np.random.default_rng(2).normal(0, 3, (1, 4000)))
    assert 2.7 < usual_spread(noise).item() < 3.3


def test_a_few_wild_rows_do_not_change_it_much() -> None:
    noise = np.abs(np.random.default_rng(2).normal(0, 1, (1, 60)))
    wild = noise.copy()
    wild[0, :6] = 1e6
    assert usual_spread(wild).item() < 1.5 * usual_spread(noise).item()


def test_unknown_rows_are_left_out_and_nothing_known_is_nothing() -> None:
    assert usual_spread(np.array([[1.0, np.nan, 1.0]])).item() > 1
    assert np.isnan(usual_spread(np.array([[np.nan, np.nan]]))).all()
