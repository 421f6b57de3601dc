"""Runs of one candidate, followed from pull to pull."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paramedic.models.minder.alignment import WINDOW
from paramedic.models.minder.candidates import Candidates, Sightings
from paramedic.models.minder.continuity import NOBODY, TrackWatch, declared

few = st.integers(-1, 2)


def sightings(machines: list[int], pulls: list[int] | None = None) -> Sightings:
    array = np.array(machines, np.int64)
    windows = np.arange(len(array))
    z = np.where(array < 0, -np.inf, 2.0)
    closes = windows + WINDOW - 1
    at = np.array(pulls, np.int64) if pulls is not None else closes
    return Sightings(windows, at, np.maximum(array, 0), z)


def track(machines: list[int]) -> Candidates:
    return Candidates(sightings(machines), sightings([]))


def watch(machines: list[int], needed: int = 3, reach: int = 900) -> TrackWatch:
    return TrackWatch(track(machines), threshold=1.0, needed=needed, reach=reach)


def follow(one: TrackWatch, windows: int) -> list[int]:
    found = [one.pull(slot) for slot in range(WINDOW - 1, WINDOW - 1 + windows)]
    return [window if window == NOBODY else one.machine(window) for window in found]


def test_a_single_miss_starts_the_count_anew() -> None:
    assert follow(watch([1, 1, -1, 1, 1, 1]), 6) == [-1, -1, -1, -1, -1, 1]
    assert follow(watch([1, 1, 2, 1, 1, 1]), 6) == [-1, -1, -1, -1, -1, 1]


def test_a_pull_looks_back_only_so_far() -> None:
    machines = [1, 1, 1, -1, -1, -1]
    assert follow(watch(machines, reach=WINDOW + 3), 6) == [-1, -1, 1, 1, -1, -1]


def test_the_first_track_that_has_somebody_decides() -> None:
    tracks = (watch([-1] * 3), watch([2] * 3), watch([1] * 3))
    assert declared(tracks, WINDOW + 1) == (2, 2.0)
    assert declared(tracks[:1], WINDOW + 1) is None


def test_a_track_on_which_nobody_is_often_enough_is_not_followed() -> None:
    assert watch([1, 1, 2, 2]).is_hopeless
    assert not watch([1, 2, 1, 2, 1]).is_hopeless


def test_what_becomes_known_later_makes_a_run_whole() -> None:
    revised = Sightings(np.array([1]), np.array([WINDOW + 3]), np.array([1]), np.array([2.0]))
    one = TrackWatch(Candidates(sightings([1, -1, 1, 1, -1]), revised), 1.0, 3, 900)
    assert follow(one, 5) == [-1, -1, -1, -1, 1]


@given(st.lists(few, min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 12))
def test_pulls_seldom_or_every_second_agree_on_what_they_see(
    machines: list[int], needed: int, every: int
) -> None:
    often, seldom = watch(machines, needed, 15), watch(machines, needed, 15)
    for slot in range(WINDOW - 1, WINDOW - 1 + len(machines)):
        window = often.pull(slot)
        if slot % every == 0:
            assert seldom.pull(slot) == window
