"""How long a step takes, by the rhythm of what all GPUs do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.synthetic import JOB
from paramedic.diagnosis.step_period import step_seconds
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

ROWS = tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(6))
METRICS = ("gpu_tensor_active_ratio", "gpu_power_watts", "gpu_temperature_celsius")
LEVELS = np.array([0.4, 500.0, 60.0])[:, None]
FINE = 20
"""Looks at the job in a second."""


def window(
    period: float, noise: float = 0.03, busy_share: float = 0.7, rest: float = 0.1,
    seed: int = 0, slots: int = 60, width: int = 1,
) -> Window:  # fmt: skip
    """All work for a share of each period, and little in the rest of it; slots hold means."""
    rng = np.random.default_rng(seed)
    seconds = np.arange(slots * width * FINE) / FINE + rng.uniform(0, period)
    works = np.where(seconds % period < busy_share * period, 1.0, rest)
    level = LEVELS * works.reshape(slots, -1).mean(axis=1)
    values = level * np.exp(noise * rng.normal(size=(len(ROWS), len(METRICS), slots)))
    there = np.ones(values.shape, np.bool_)
    told = values.astype(np.float32)
    return Window(JOB, 0, Entity.GPU, 0, ROWS, METRICS, told, there, width)


@given(
    st.integers(2, 25), st.floats(0, 0.1), st.floats(0.5, 0.8), st.integers(0, 10**6)
)  # fmt: skip
def test_a_step_takes_as_long_as_the_rhythm_of_the_level(
    period: int, noise: float, busy_share: float, seed: int
) -> None:
    found = step_seconds(window(period, noise, busy_share, seed=seed))
    assert found == period or (found is None and period == 2)


@pytest.mark.parametrize("period", [7.4, 9.5, 14.6, 22.5])
def test_a_step_that_ends_within_a_slot_is_told_to_the_slot(period: float) -> None:
    for seed in range(4):
        found = step_seconds(window(period, seed=seed))
        assert found is not None
        assert abs(found - period) <= 1


@pytest.mark.parametrize("period", [20, 25, 60])
def test_wide_slots_tell_of_long_steps_in_seconds(period: int) -> None:
    found = step_seconds(window(period, width=5))
    assert found is not None
    assert abs(found - period) <= 5


@pytest.mark.parametrize(
    ("why", "seen"),
    [
        ("the level does not swing", window(7, rest=1.0)),
        ("it hardly swings", window(7, rest=0.8)),
        ("it is too short", window(7, slots=29)),
        ("a step takes longer than half of it", window(45)),
        ("nobody is seen", replace(window(7), rows=())),
        ("nothing works", window(7, noise=0.0, busy_share=0.0, rest=0.0)),
    ],
)
def test_no_rhythm_is_told_where(why: str, seen: Window) -> None:
    assert step_seconds(seen) is None, why


def test_the_rhythm_is_that_of_work_and_not_of_temperature() -> None:
    seen = window(7, rest=1.0)
    seen.values[:, 2] = window(7).values[:, 2]
    assert step_seconds(seen) is None


def test_the_rhythm_is_that_of_most_machines() -> None:
    seen = window(9)
    seen.values[:2] = window(5).values[:2]
    assert step_seconds(seen) == 9


def test_what_was_not_observed_of_some_hides_no_rhythm() -> None:
    seen = window(9)
    seen.observed[:2] = False
    seen.values[:2] = 0.0
    assert step_seconds(seen) == 9
    seen.observed[:, :, 30] = False
    assert step_seconds(seen) is None
