"""A clock that is some seconds off explains a difference; slow work is not explained by any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.diagnosis.clock_shift import is_shifted
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window

SLOTS, LAST = 60, 1_790_000_059
ODD_SINCE = LAST - 20
METRICS = ("gpu_power_watts", "gpu_tensor_active_ratio")
PEERS = [1, 2, 3, 4]
Array = NDArray[np.float64]


def work(shift: int = 0, share: float = 1.0, seed: int = 0, swing: float = 0.6) -> Array:
    """What one machine shows, (metric, slot): it falls at the end of each step of 14 s.

    `shift`: so many seconds after the others.
    """
    rng = np.random.default_rng(seed)
    phase = (np.arange(SLOTS) - shift) % 14
    level = np.where(phase < 10, 1.0, 1.0 - swing)
    noise = 1 + 0.01 * rng.standard_normal((len(METRICS), SLOTS))
    return np.array([[500.0], [0.4]]) * level * noise * share


def window(own: Array, width: int = 1, peers: int = len(PEERS), swing: float = 0.6) -> Window:
    others = [work(seed=at, swing=swing) for at in range(1, peers + 1)]
    values = np.stack([own, *others]).astype(np.float32)
    rows = tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(len(values)))
    observed = ~np.isnan(values)
    return Window(
        JobName("j"),
        0,
        Entity.GPU,
        LAST - (SLOTS - 1) * width,
        rows,
        METRICS,
        values,
        observed,
        width,
    )


def explained(seen: Window, peers: list[int] = PEERS, metrics: tuple[int, ...] = (0, 1)) -> bool:
    return is_shifted(seen, 0, peers, list(metrics), ODD_SINCE)


@given(st.integers(-6, 6).filter(bool), st.integers(0, 100))
def test_a_clock_that_is_off_explains_the_difference(seconds: int, seed: int) -> None:
    assert explained(window(work(shift=seconds, seed=seed)))


@given(st.floats(0.2, 0.9) | st.floats(1.1, 2.0), st.integers(0, 100))
def test_slow_work_is_explained_by_no_shift(share: float, seed: int) -> None:
    assert not explained(window(work(share=share, seed=seed)))


def test_slow_work_on_a_clock_that_is_off_is_slow_work() -> None:
    assert not explained(window(work(shift=2, share=0.4)))


def test_who_is_like_its_peers_needs_no_explanation() -> None:
    assert not explained(window(work()))


def test_a_job_that_does_the_same_all_the_time_tells_no_time() -> None:
    assert not explained(window(work(shift=3, swing=0.1), swing=0.1))


def test_a_shift_is_judged_by_the_metrics_that_speak() -> None:
    mixed = work(shift=3)
    mixed[1] = 0.4 * work()[1]
    assert explained(window(mixed), metrics=(0,))
    assert not explained(window(mixed), metrics=(1,))
    assert not explained(window(mixed), metrics=())


@pytest.mark.parametrize("width", [15, 60])
def test_slots_longer_than_any_shift_tell_nothing(width: int) -> None:
    assert not explained(window(work(shift=3), width))


def test_one_peer_tells_nothing() -> None:
    assert not explained(window(work(shift=3)), peers=[1])


def test_holes_are_left_out() -> None:
    seen = window(work(shift=3))
    values = seen.values.copy()
    values[::2, :, 30::7] = np.nan
    assert explained(replace(seen, values=values, observed=~np.isnan(values)))
    values[0] = np.nan
    assert not explained(replace(seen, values=values, observed=~np.isnan(values)))


def test_a_past_too_short_to_move_in_tells_nothing() -> None:
    seen = window(work(shift=3))
    values, observed = seen.values[:, :, -8:], seen.observed[:, :, -8:]
    short = replace(seen, values=values, observed=observed, first_second=LAST - 7)
    assert not explained(short)
