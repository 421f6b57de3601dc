"""What a job has lost since a moment, told from chance and from what came later."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.synthetic import JOB
from paramedic.diagnosis.job_pace import JobPace
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

ROWS = tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(6))
TENSOR, POWER = "gpu_tensor_active_ratio", "gpu_power_watts"
SINCE = 200
Level = Callable[[int], float]


def falls(share: float, at: int = SINCE) -> Level:
    return lambda second: 1.0 - share * (second >= at)


def followed(
    level: Level, metric: str = TENSOR, until: int = 300, noise: float = 0.05, width: int = 1
) -> JobPace:
    """Steps take 7 seconds, of which 2 are spent otherwise."""
    pace, random = JobPace(), np.random.default_rng(4)
    for second in range(0, until, width):
        drawn = 0.4 * level(second) * (1 + noise * random.standard_normal(len(ROWS)))
        values = (drawn * (0.3 if second % 7 < 2 else 1.0)).astype(np.float32)[:, None, None]
        seen = np.ones(values.shape, np.bool_)
        pace.look(Window(JOB, 0, Entity.GPU, second, ROWS, (metric,), values, seen, width))
    return pace


@pytest.mark.parametrize(("share", "width"), [(0.15, 1), (0.4, 1), (0.4, 5)])
def test_what_a_job_does_less_since_then_is_lost_work(share: float, width: int) -> None:
    lost = followed(falls(share), width=width).lost_share(SINCE)
    assert lost == pytest.approx(share, rel=0.25)


def test_a_large_loss_is_known_within_some_seconds() -> None:
    assert followed(falls(0.5), until=SINCE + 20).lost_share(SINCE) == pytest.approx(0.5, abs=0.15)
    assert not followed(falls(0.05), until=SINCE + 20).lost_share(SINCE)


def test_a_job_that_goes_on_as_before_has_lost_nothing() -> None:
    assert followed(falls(0.0)).lost_share(SINCE) == 0
    assert followed(falls(-0.3)).lost_share(SINCE) == 0


def test_a_job_that_pauses_has_lost_nothing() -> None:
    assert followed(falls(0.95)).lost_share(SINCE) == 0


def test_a_pause_in_between_is_no_slower_job() -> None:
    def pauses(second: int) -> float:
        return 0.05 if SINCE + 30 <= second < SINCE + 46 else 1.0

    assert (followed(pauses, until=SINCE + 80).lost_share(SINCE) or 0.0) * 80 < 9


def test_what_came_later_is_not_lost_since_then() -> None:
    assert followed(falls(0.3, at=SINCE + 60)).lost_share(SINCE) == 0


def test_power_that_is_as_it_was_says_nothing() -> None:
    assert followed(falls(0.0), POWER).lost_share(SINCE) is None
    assert followed(falls(0.3), POWER).lost_share(SINCE) == pytest.approx(0.3, rel=0.25)


@pytest.mark.parametrize(("until", "since"), [(SINCE + 13, SINCE), (100, 50), (0, 10)])
def test_too_little_before_or_after_says_nothing(until: int, since: int) -> None:
    assert followed(falls(0.3), until=until).lost_share(since) is None


def test_of_samples_that_come_too_seldom_nothing_is_said() -> None:
    assert followed(falls(0.4), until=900, width=60).lost_share(300) is None


def test_what_was_so_from_the_beginning_has_cost_nothing_since() -> None:
    assert followed(falls(0.3)).lost_share(50) == 0
    assert followed(falls(0.3), POWER).lost_share(50) is None


def test_a_host_is_asked_about_sooner_once_the_jobs_pace_is_known() -> None:
    assert followed(falls(0.0), until=100).busy_seconds == math.inf
    assert followed(falls(0.0), until=140).busy_seconds < 60
    for metric in (POWER, "gpu_temperature_celsius"):
        assert followed(falls(0.0), metric).busy_seconds == math.inf


def long_steps(length: Callable[[int], float], until: int, noise: float = 0.05) -> JobPace:
    """Cards compute for 10 s and wait for the rest of a step; its length may change."""
    pace, random, begun, step = JobPace(), np.random.default_rng(5), 0.0, length(0)
    for second in range(until):
        if second >= begun + step:
            begun, step = begun + step, length(second)
        level = 0.6 if second < begun + 10 else 0.0
        drawn = level * (1 + noise * random.standard_normal(len(ROWS)))
        values = drawn.astype(np.float32)[:, None, None]
        seen = np.ones(values.shape, np.bool_)
        window = Window(JOB, 0, Entity.GPU, second, ROWS, (TENSOR,), values, seen)
        pace.look(window, length(second))
    return pace


@pytest.mark.parametrize("phase", [0, 6, 13])
def test_of_long_steps_whole_ones_are_compared(phase: int) -> None:
    """They take 19 s, and 24 from then on: a fifth less work is done."""
    since = SINCE + phase
    pace = long_steps(lambda second: 19.0 if second < since else 24.0, until=since + 75)
    assert pace.lost_share(since) == pytest.approx(0.21, abs=0.08)


@pytest.mark.parametrize("seconds", [30, 47, 75, 120])
@pytest.mark.parametrize("phase", [0, 6, 13])
def test_a_job_whose_long_steps_stay_as_they_are_has_lost_nothing(phase: int, seconds: int) -> None:
    since = SINCE + phase
    pace = long_steps(lambda _: 19.0, until=since + seconds)
    assert (pace.lost_share(since) or 0.0) * seconds < 9


@given(st.integers(0, 100))
@settings(max_examples=8)
def test_noise_alone_loses_nothing_to_speak_of(seed: int) -> None:
    random = np.random.default_rng(seed)
    wobbles = 1 + 0.1 * np.repeat(random.standard_normal(60), 5)
    pace = followed(lambda second: float(wobbles[second]))
    assert (pace.lost_share(SINCE) or 0.0) * 100 < 9
