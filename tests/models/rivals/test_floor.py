"""The plain decision of all floors: above the threshold, held, one machine at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.rivals.machines import FIRST, history, named, names, noise
from paramedic.models.rivals.floor import Floor, HeldScores, NothingToLearn, steps_in_a_row
from paramedic.models.rivals.machine_level import MachineLevel
from paramedic.models.telling import told_once

A, B = names(2)


def held(scores: list[list[float]], hold: int = 2) -> HeldScores:
    array = np.array(scores)
    return HeldScores(range(FIRST, FIRST + len(array)), (A, B), array, hold)


def test_a_score_has_to_be_above_the_threshold_for_long_enough() -> None:
    scores = held([[5.0, 0.0], [0.0, 0.0], [5.0, 0.0], [5.0, 0.0], [5.0, 0.0]])
    assert named(scores.alarms(4.0)) == [(3, (A,))]
    assert named(scores.alarms(5.0)) == []


def test_the_largest_of_those_who_are_held_is_accused() -> None:
    scores = held([[5.0, 6.0], [5.0, 6.0], [9.0, 0.0]])
    assert named(scores.alarms(4.0)) == [(1, (B,)), (2, (A,))]


def test_what_is_not_known_is_not_above_anything() -> None:
    assert named(held([[float("nan"), 1.0]] * 3).alarms(2.0)) == []


def test_a_machine_that_goes_on_is_told_once_and_after_a_quiet_minute_again() -> None:
    seconds = [*range(10), 69, 130]
    alarms = told_once((FIRST + second, A, 1.0) for second in seconds)
    assert [one.second - FIRST for one in alarms] == [0, 69 + 61]


@given(st.lists(st.booleans(), max_size=30))
def test_steps_in_a_row_are_counted_as_one_would_by_hand(holds: list[bool]) -> None:
    counted, run = [], 0
    for one in holds:
        run = run + 1 if one else 0
        counted.append(run)
    assert steps_in_a_row(np.array(holds, np.bool_)).tolist() == counted


class Loudest(NothingToLearn):
    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        return level.values[:, :, 0]


def test_holding_is_counted_in_the_steps_of_the_floor() -> None:
    load = noise(40, 2).T
    load[1, 10:] = 9.0
    floor = Floor("loudest", Loudest(), (1.0,), step_seconds=5, hold_seconds=20)
    assert named(floor.examine(history(load_average=load)).alarms(1.0)) == [(29, (B,))]
