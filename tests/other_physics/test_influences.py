"""Courses over time, and knobs that several causes turn."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.other_physics.influences import Conditions, Course, Knob

from other_physics.small_jobs import push


def test_a_course_begins_and_ends() -> None:
    levels = Course(2.0, 4.0).level(np.array([1.9, 2.0, 3.9, 4.0]))
    assert levels.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_a_course_can_rise_slowly() -> None:
    levels = Course(0.0, 100.0, ramp_seconds=10.0).level(np.array([0.0, 5.0, 10.0, 50.0]))
    assert levels.tolist() == [0.0, 0.5, 1.0, 1.0]


def test_a_course_can_come_and_go() -> None:
    course = Course(5.0, 100.0, period_seconds=10.0, duty=0.3)
    assert course.level(np.array([5.0, 7.9, 8.1, 14.9, 15.0])).tolist() == [1, 1, 0, 0, 1]


def test_factors_multiply_and_stalls_add() -> None:
    pushes = [push(Knob.SPEED, 0.5, 0), push(Knob.SPEED, 0.8, 0)]
    pushes += [push(Knob.STALL, 0.2, 1), push(Knob.STALL, 0.3, 1)]
    knobs = Conditions(pushes, 2).at(1.0)
    assert knobs[Knob.SPEED] == pytest.approx([0.4, 1.0])
    assert knobs[Knob.STALL] == pytest.approx([0.0, 0.5])


def test_a_moment_leaves_no_trace_in_the_next_one() -> None:
    conditions = Conditions([push(Knob.NIC, 0.5, 0, course=Course(0.0, 1.0))], 2)
    assert conditions.at(0.5)[Knob.NIC].tolist() == [0.5, 1.0]
    assert conditions.at(2.0)[Knob.NIC].tolist() == [1.0, 1.0]


def test_many_moments_say_what_single_ones_say() -> None:
    slow = push(Knob.CLOCK, 0.6, 1, course=Course(1.0, 8.0, 4.0, 3.0, 0.5))
    conditions = Conditions([slow, push(Knob.CLOCK, 0.9, 0, 1)], 3)
    times = np.arange(10.0)
    singly = np.stack([conditions.at(float(at))[Knob.CLOCK] for at in times])
    assert conditions.over(Knob.CLOCK, times) == pytest.approx(singly)
