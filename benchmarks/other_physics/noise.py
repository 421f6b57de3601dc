"""Noise as counters have it: it lingers, and now and then it leaps."""

from __future__ import annotations

import numpy as np
from benchmarks.other_physics.job import Floats

_HEAVY_TAIL_DEGREES = 4.0


def lingering(
    dice: np.random.Generator, seconds: int, columns: int, spread: float, memory_seconds: float
) -> Floats:
    """Autocorrelated values around 0, seconds × columns."""
    kept = float(np.exp(-1.0 / memory_seconds))
    steps = dice.standard_t(_HEAVY_TAIL_DEGREES, (seconds, columns))
    steps *= spread * np.sqrt((1.0 - kept**2) / 2.0)
    for second in range(1, seconds):
        steps[second] += kept * steps[second - 1]
    return steps


def factor(
    dice: np.random.Generator,
    shape: tuple[int, int],
    white: float,
    spread: float = 0.0,
    memory_seconds: float = 30.0,
) -> Floats:
    """What a reading is multiplied by: quick noise, and slow where `spread` is given."""
    noise = dice.standard_normal(shape) * white
    if spread > 0.0:
        noise += lingering(dice, shape[0], shape[1], spread, memory_seconds)
    return np.exp(noise)


def bursts(
    dice: np.random.Generator, shape: tuple[int, int], a_second: float, size: float
) -> Floats:
    """Rare bunches: mostly nothing, sometimes a few, seldom many."""
    happens = dice.random(shape) < a_second
    return np.where(happens, size * dice.pareto(2.0, shape), 0.0)
