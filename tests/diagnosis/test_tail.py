"""The mean tail of climbs: what it counts, and what it forgets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paramedic.diagnosis.tail import Tail


def test_climbs_below_the_mark_are_no_tail_and_old_ones_are_forgotten() -> None:
    tail = Tail()
    tail.learn(np.full(1000, 0.9))
    assert tail == Tail()
    tail.learn(np.full(6000, 6.0))
    high = tail.fold
    tail.learn(np.full(30_000, 1.5))
    assert 4 < high < 6
    assert tail.fold < 2


def test_who_keeps_all_climbs_forgets_none() -> None:
    tail = Tail(climbs_kept=math.inf)
    for height in (6.0, 1.5):
        tail.learn(np.full(30_000, height))
    assert tail.fold == pytest.approx((5.0 + 0.5) / 2, rel=0.01)


def test_a_tail_that_falls_faster_than_that_of_independent_values_lowers_no_level() -> None:
    tail = Tail()
    tail.learn(np.full(3000, 1.1))
    assert tail.fold == 1
