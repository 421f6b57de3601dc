"""What a step draws depends on the job's seed, the step and the rank, and on nothing else."""

from __future__ import annotations

import random

import numpy
import torch
from hypothesis import given
from hypothesis import strategies as st

from paramedic.remediation.trainer.seeding import generators_kept, seed_for, seed_generators


def draw() -> tuple[float, float, float]:
    return random.random(), float(numpy.random.rand()), float(torch.rand(()))


@given(st.integers(0, 2**64 - 1), st.integers(0, 10**9), st.integers(0, 10**5))
def test_a_seed_fits_torch_and_is_stable(job_seed: int, step: int, rank: int) -> None:
    seed = seed_for(job_seed, step, rank)
    assert 0 <= seed < 2**63
    assert seed == seed_for(job_seed, step, rank)


def test_neighbours_have_different_seeds() -> None:
    seeds = {seed_for(j, s, r) for j in range(3) for s in range(30) for r in range(8)}
    assert len(seeds) == 3 * 30 * 8


def test_a_step_that_is_tried_again_draws_the_same() -> None:
    seed_generators(seed_for(1, 2, 3))
    first = draw()
    draw()
    seed_generators(seed_for(1, 2, 3))
    assert draw() == first


def test_generators_go_on_as_if_nothing_had_been_drawn() -> None:
    seed_generators(5)
    expected = draw()
    seed_generators(5)
    with generators_kept():
        seed_generators(6)
        draw()
    assert draw() == expected
