"""Sums of distances and their z-score: what it can say, and what its arithmetic forbids."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from paramedic.models.minder.dissimilarity import Distance, z_scores


def crowd(machines: int, outliers: int, away: float) -> torch.Tensor:
    vectors = torch.full((1, machines, 8), 0.25)
    vectors[0, :outliers] += away
    return vectors


@given(st.integers(3, 60), st.floats(0.01, 0.75))
def test_a_lone_outlier_has_a_z_that_only_the_number_of_machines_decides(
    machines: int, away: float
) -> None:
    z = z_scores(crowd(machines, 1, away))[0]
    assert float(z[0]) == pytest.approx(math.sqrt(machines - 1), rel=1e-4)


@given(
    st.integers(1, 10).flatmap(
        lambda machines: arrays(np.float32, (1, machines, 3), elements=st.floats(0, 1, width=32))
    ),
    st.sampled_from(Distance),
)
def test_of_fewer_than_eleven_machines_none_passes_three_whatever_they_do(
    vectors: NDArray[np.float32], distance: Distance
) -> None:
    assert float(z_scores(torch.from_numpy(vectors), distance).max()) <= 3.0


def test_rounding_does_not_take_the_lone_one_of_ten_above_three() -> None:
    sizes = torch.linspace(0.01, 0.75, 200)
    vectors = torch.full((200, 10, 8), 0.25)
    vectors[:, 0] += sizes[:, None]
    assert float(z_scores(vectors).max()) == 3.0


@given(st.integers(1, 4), st.integers(9, 40))
def test_outliers_that_are_alike_mask_each_other(outliers: int, machines: int) -> None:
    z = z_scores(crowd(machines, outliers, 0.5))[0]
    assert float(z.max()) == pytest.approx(math.sqrt((machines - outliers) / outliers), rel=1e-4)


@pytest.mark.parametrize("distance", Distance)
def test_sums_are_those_of_all_pairs_whatever_the_distance(distance: Distance) -> None:
    vectors = torch.rand(2, 5, 8, generator=torch.Generator().manual_seed(0))
    norm = torch.linalg.vector_norm(
        vectors[:, :, None] - vectors[:, None], ord=distance.value, dim=-1
    ).sum(-1)
    expected = (norm - norm.mean(1, keepdim=True)) / norm.std(1, correction=0, keepdim=True)
    torch.testing.assert_close(z_scores(vectors, distance).float(), expected, rtol=1e-3, atol=1e-3)


def test_a_machine_that_is_not_known_has_no_score_and_moves_nobodys() -> None:
    known = crowd(5, 1, 0.5)
    gone = torch.cat([known, torch.full((1, 1, 8), torch.nan)], dim=1)
    z = z_scores(gone)[0]
    assert bool(z[-1].isnan())
    torch.testing.assert_close(z[:-1], z_scores(known)[0])


def test_rounding_makes_no_outlier() -> None:
    vectors = crowd(12, 1, 1e-8)
    assert not z_scores(vectors).any()
