"""A one-sided sequential test (CUSUM) whose level follows from a stated rate of false alarms.

Evidence S adds up as S = max(0, S + deviation - allowance); an alarm is S at the level or above.
For independent standard normal noise, Siegmund's approximation gives the mean time to a false alarm
(D. Siegmund, Sequential Analysis, 1985): (exp(2kb) - 2kb - 1) / (2k²), b = level + 1.166. Noise
that is correlated from slot to slot with coefficient r wanders like independent noise whose
variance is (1 + r) / (1 - r) times as large, so allowance and level are measured in its deviation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OVERSHOOT = 1.166
"""Siegmund's correction: twice the mean overshoot of a normal walk over a boundary."""
SLOTS_PER_DAY = 86_400
_ACCURACY = 1e-6
_HEAVY_TAIL = math.log(3) / 1.2
"""Noise with heavy tails alarms three times as often when a slot may count 6.5 instead of 5.3."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What healthy deviations look like: standard normal, correlated from slot to slot."""

    wander: float = 1.0
    """Standard deviation of the long-run sum, relative to independent noise."""

    @classmethod
    def correlated(cls, coefficient: float) -> Noise:
        """Noise whose correlation from one slot to the next is this (0..1)."""
        return cls(math.sqrt((1 + coefficient) / (1 - coefficient)))


def slots_to_false_alarm(level: float, allowance: float, noise: Noise) -> float:
    """Mean number of healthy slots until the evidence reaches the level.

    >>> round(slots_to_false_alarm(4.0, 0.5, Noise()))
    338
    """
    drift = allowance / noise.wander
    reach = 2 * drift * (level / noise.wander + _OVERSHOOT)
    return (math.exp(reach) - reach - 1) / (2 * drift * drift)


@lru_cache(maxsize=256)
def decision_level(
    false_alarms_per_job_day: float, tests: int, allowance: float, noise: Noise
) -> float:
    """The level at which so many tests together give the stated rate of false alarms.

    `tests` is the number of ranks times the number of symptoms that are watched at once.

    >>> round(decision_level(0.01, 8, 1.0, Noise.correlated(0.4)), 1)
    19.1
    """
    wanted = SLOTS_PER_DAY * max(tests, 1) / false_alarms_per_job_day
    low, high = 0.0, 1.0
    while slots_to_false_alarm(high, allowance, noise) < wanted:
        high *= 2
    while high - low > _ACCURACY:
        middle = (low + high) / 2
        if slots_to_false_alarm(middle, allowance, noise) < wanted:
            low = middle
        else:
            high = middle
    return high


def largest_in_step(
    largest_deviation: float, step_seconds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What a slot counts at most where ranks tell of steps that take so long (seconds).

    Of long steps there are fewer, so each may say more at the same rate of false alarms: five slots
    are the least that can decide, but three steps of 20 s. Unknown steps take a slot.

    >>> largest_in_step(5.3, np.array([1.0, 5.0, 20.0, np.nan])).round(1)
    array([5.3, 7.1, 8.6, 5.3])
    """
    fewer = np.fmax(step_seconds, 1.0)
    largest: NDArray[np.float64] = largest_deviation + np.log(fewer) / _HEAVY_TAIL
    return largest


def confidence(
    surplus: float, false_alarms: float, expected_faults: float, allowance: float, noise: Noise
) -> float:
    """Share of alarms with this much evidence above the level that are real.

    Real alarms come at the expected rate; false ones at the tolerated rate, which falls with the
    surplus as exp(-2 · allowance · surplus / wander²), the tail of the test under noise.

    >>> round(confidence(0.0, 0.01, 0.2, 1.0, Noise.correlated(0.5)), 3)
    0.952
    """
    tail = math.exp(-2 * allowance * max(surplus, 0.0) / noise.wander**2)
    return expected_faults / (expected_faults + false_alarms * tail)
