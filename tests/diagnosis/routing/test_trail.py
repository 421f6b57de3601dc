"""How far back a successor has to read: by the seconds in the messages, and by their arrival."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.routing.trail import Trail

SPAN_SECONDS = 60.0
START = 1_780_000_000


def test_nothing_is_needed_of_a_stream_that_has_said_nothing() -> None:
    assert Trail(SPAN_SECONDS).needed(0.0) is None


def test_the_last_span_of_a_steady_stream_is_needed() -> None:
    trail = Trail(SPAN_SECONDS)
    for second in range(500):
        trail.note(START + second, second, float(second))
    needed = trail.needed(499.0)
    assert needed is not None
    assert 499 - 60 - 10 <= needed <= 499 - 60


def test_a_backlog_that_is_read_at_once_is_needed_by_its_arrival() -> None:
    trail = Trail(SPAN_SECONDS)
    for second in range(1000):
        trail.note(START + second, second, second / 100)
    assert trail.needed(10.0) == 0


def test_a_stream_that_is_read_slowly_is_needed_by_its_seconds() -> None:
    trail = Trail(SPAN_SECONDS)
    for second in range(100):
        trail.note(START + second, second, second * 10.0)
    needed = trail.needed(990.0)
    assert needed is not None
    assert needed <= 99 - 60


def test_what_a_predecessor_has_judged_arrived_long_ago() -> None:
    trail = Trail(SPAN_SECONDS)
    for second in range(1000):
        trail.note(START + second, second, second / 100, is_new=second >= 900)
    needed = trail.needed(10.0)
    assert needed is not None
    assert 900 - 10 <= needed <= 900, "a crash does not make the way back longer"


def test_one_nodes_wrong_clock_moves_nothing() -> None:
    honest, disturbed = Trail(SPAN_SECONDS), Trail(SPAN_SECONDS)
    for offset in range(2000):
        second = offset // 4
        honest.note(START + second, offset, second + 0.25 * (offset % 4))
        wrong = 86_400 if offset % 4 == 3 else 0
        disturbed.note(START + second + wrong, offset, second + 0.25 * (offset % 4))
    one, other = honest.needed(500.0), disturbed.needed(500.0)
    assert one is not None
    assert other is not None
    assert abs(one - other) < 40


def test_a_stream_that_has_ended_is_soon_not_needed() -> None:
    trail = Trail(SPAN_SECONDS)
    for second in range(100):
        trail.note(START + second, second, float(second))
    assert trail.needed(99.0 + SPAN_SECONDS) is not None
    assert trail.needed(100.0 + SPAN_SECONDS) is None


@pytest.mark.long
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0, 0, 0, 1, -2]), st.floats(0.0, 3.0)),
        min_size=40,
        max_size=120,
    )
)
def test_whatever_is_young_by_both_is_needed(steps: list[tuple[int, int, float]]) -> None:
    """Seconds go on by steps with some disorder, arrivals by others."""
    trail, second, now, told = Trail(10.0), START, 0.0, []
    for offset, (ahead, disorder, pause) in enumerate(steps):
        second, now = second + ahead, now + pause
        trail.note(second + disorder, offset, now)
        told.append((second + disorder, offset, now))
    needed = trail.needed(now)
    assert needed is not None
    lateness = 12  # seconds that fifteen messages can be apart here, and the disorder
    for at, offset, arrived in told:
        if arrived >= now - 10.0 + 1.0 and at >= second - 10 + lateness:
            assert offset >= needed
