"""A cadence is fast enough when five slots and four seconds are no more than a minute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.doctor.promise import detection_seconds, is_fast_enough
from paramedic.ingest.windows.configuration import WindowConfig


@pytest.mark.parametrize(
    ("interval", "seconds", "fast"),
    [(1, 9, True), (5, 29, True), (10, 54, True), (12, 79, False), (30, 154, False)],
)
def test_the_time_follows_from_the_slot(interval: float, seconds: float, fast: bool) -> None:
    assert (detection_seconds(interval), is_fast_enough(interval)) == (seconds, fast)


@given(st.floats(0.1, 300), st.floats(0.1, 300))
def test_slower_data_are_never_judged_sooner(one: float, other: float) -> None:
    slow, fast = max(one, other), min(one, other)
    assert detection_seconds(slow) >= detection_seconds(fast)


def test_the_lateness_is_that_of_the_windows() -> None:
    assert detection_seconds(1) == 5 + WindowConfig().lateness_seconds + 1
