"""When an exporter is asked: once an interval, at its moment, rarer while it is away."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.sources.scraping.schedule import ScrapeSchedule, phase_of


def schedule(phase: float = 0.25, interval: float = 1.0, limit: float = 4.0) -> ScrapeSchedule:
    return ScrapeSchedule(phase, interval, limit)


def asked(schedule: ScrapeSchedule, now: float) -> float:
    """Wait for the next moment and ask then."""
    start = schedule.next_start(now)
    assert schedule.begin(start)
    return start


def test_it_asks_once_a_second_at_its_own_moment() -> None:
    one = schedule()
    starts = [asked(one, 99.9)]
    for _ in range(3):
        starts.append(asked(one, starts[-1]))
    assert starts == [99.9, 100.25, 101.25, 102.25]
    assert one.missed == 0


def test_the_same_second_is_not_asked_for_twice() -> None:
    one = schedule()
    assert one.begin(100.3)
    assert not one.begin(100.9)
    assert one.begin(101.0)


def test_seconds_that_pass_during_a_slow_answer_are_counted() -> None:
    one = schedule()
    asked(one, 100.25)
    assert asked(one, 103.1) == 103.25
    assert one.missed == 2


def test_an_exporter_that_is_away_is_asked_at_longer_and_longer_pauses_up_to_the_limit() -> None:
    one = schedule()
    starts = [asked(one, 100.0)]
    for _ in range(5):
        one.failed()
        starts.append(asked(one, starts[-1]))
    pauses = [math.floor(b) - math.floor(a) for a, b in pairwise(starts)]
    assert pauses == [1, 2, 4, 4, 4]
    assert one.missed == 0


def test_one_that_returns_is_asked_every_second_again() -> None:
    one = schedule()
    last = asked(one, 100.0)
    for _ in range(4):
        one.failed()
        last = asked(one, last)
    one.succeeded()
    assert asked(one, last) == math.floor(last) + 1.25


def test_a_clock_that_is_set_back_is_followed() -> None:
    one = schedule()
    asked(one, 5000.25)
    assert asked(one, 100.0) == 100.25


def test_phases_spread_the_load_evenly_and_stay_the_same() -> None:
    phases = [phase_of(f"http://node-{n}:9400/metrics", 0.7) for n in range(500)]
    counts = [sum(low <= phase < low + 0.1 for phase in phases) for low in (0.0, 0.2, 0.4, 0.6)]
    assert all(50 <= count <= 95 for count in counts)
    assert phases[7] == phase_of("http://node-7:9400/metrics", 0.7)


@given(
    st.floats(0.05, 30),
    st.floats(0, 0.9),
    st.lists(st.tuples(st.floats(0, 20), st.booleans()), max_size=20),
)
def test_whatever_happens_no_interval_is_asked_for_twice_and_none_waited_for_long(
    interval: float, phase: float, story: list[tuple[float, bool]]
) -> None:
    one = ScrapeSchedule(phase * interval, interval, 4.0)
    now, slots = 1e9, list[int]()
    for busy, answers in story:
        start = one.next_start(now)
        assert now <= start <= now + max(4.0, interval) + 2 * interval
        if one.begin(start):
            slots.append(math.floor(start / interval))
        (one.succeeded if answers else one.failed)()
        now = start + busy
    assert slots == sorted(set(slots))


@pytest.mark.parametrize("interval", [0.1, 15.0])
def test_other_intervals_work_alike(interval: float) -> None:
    one = schedule(phase=interval / 2, interval=interval)
    first = asked(one, 150.0)
    assert asked(one, first) == pytest.approx(
        150 + (0.5 if first > 150 else 1.5) * interval, abs=interval
    )
