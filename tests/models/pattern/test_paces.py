"""Running means that say how unusual they are among the rows of the job."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.models.pattern.paces import PacedMeans


def means() -> PacedMeans:
    return PacedMeans((3, 30), (1, 20), block_slots=10, memory_blocks=20)


def noise(slots: int) -> NDArray[np.float32]:
    return np.random.default_rng(1).standard_normal((slots, 1, 20), np.float32)


def test_in_white_noise_every_pace_has_the_same_spread() -> None:
    found = means().advance(noise(600))[200:]
    spread = found.std(axis=(0, 2, 3))
    assert ((spread > 0.7) & (spread < 1.3)).all()


def test_a_small_shift_stands_out_at_the_slow_pace_only() -> None:
    shifted = noise(600)
    shifted[400:, 0, 7] += 1.0
    fast, slow = means().advance(shifted)[599, :, 0, 7]
    assert slow > 5 > abs(fast)


def test_noise_that_comes_in_waves_is_no_departure() -> None:
    waves = np.repeat(noise(30), 40, axis=0)
    found = means().advance(waves)[600:, 1]
    assert found.std() < 2


def test_what_is_not_observed_any_more_fades() -> None:
    gone = np.full((60, 1, 20), 3.0, np.float32)
    gone[20:, 0, 4] = np.nan
    found = means().advance(gone)[:, 0, 0, 4]
    assert found[19] > 1
    assert abs(found[59]) < 0.1


@given(st.lists(st.integers(1, 34), max_size=3, unique=True).map(sorted))
def test_slots_one_by_one_or_many_at_once_give_the_same(cuts: list[int]) -> None:
    holed = noise(35)
    holed[4:20:3, 0, 2] = np.nan
    stream = means()
    parts = [stream.advance(part) for part in np.split(holed, cuts)]
    np.testing.assert_array_equal(np.concatenate(parts), means().advance(holed))


def test_means_follow_the_plain_rule() -> None:
    holed = noise(9)
    holed[5, 0, 3] = np.nan
    mean = 0.0
    for now in holed[:, 0, 3].tolist():
        mean = mean * (1 - 1 / 6) if np.isnan(now) else mean + (now - mean) / 3
    found = means().advance(holed)[8, 0, 0, 3]
    np.testing.assert_allclose(found, mean * np.sqrt(2 * 3 - 1), rtol=1e-5)
