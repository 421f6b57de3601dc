"""What metrics say together, or beyond a limit of its own: amounts that no source tells.

A chip is as much warmer than its air as it burns power, with some delay. One that burns less and is
no cooler has lost its cooling, even where its driver keeps it below its limit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.family.comparing import median

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BEYOND_POWER = "gpu_temperature_beyond_power_celsius"
"""By how much a chip is warmer than the power that it burns explains."""
BEYOND_THREADS = "cpu_utilization_beyond_threads"
"""The processor's use, where less than a sixth of it may be the threads of the job's own ranks."""
DERIVED = (BEYOND_POWER, BEYOND_THREADS)
"""What they are called among departures."""
_TEMPERATURE, _POWER, _PROCESSOR = (
    "gpu_temperature_celsius", "gpu_power_watts", "cpu_utilization_ratio",
)  # fmt: skip
_AIR_CELSIUS = 30.0
"""About what goes into the coolers, water or air; a few degrees more or less change little."""
_DELAY_SECONDS = 25.0
"""In which a chip on its cooler goes most of the way to its new warmth."""


class Derived(NamedTuple):
    """An amount of each row, (rows,)."""

    name: str
    changes: Floats
    levels: Floats
    """Where there is too little past to tell a change by."""


def derived(
    metrics: Sequence[str], new: Floats, past: Floats, ages: tuple[int, int]
) -> Iterator[Derived]:
    """What can be derived from these metrics.

    `new` and `past` are means, (rows, metrics); `ages` is how many seconds after the onset the new
    ones begin and end.
    """
    if _TEMPERATURE in metrics and _POWER in metrics:
        at = [metrics.index(_TEMPERATURE), metrics.index(_POWER)]
        beyond = _beyond_power(new[:, at].T, past[:, at].T, _settled(*ages))
        yield Derived(BEYOND_POWER, beyond, _beyond_peers(new[:, at]))
    if _PROCESSOR in metrics:
        use, before = (part[:, metrics.index(_PROCESSOR)] for part in (new, past))
        yield Derived(BEYOND_THREADS, use - before, use)


def _beyond_power(new: Floats, past: Floats, settled: float) -> Floats:
    """Of temperature and power."""
    (warmth, power), (warmth_before, power_before) = new, past
    burns = power_before > 0.0
    share = np.divide(power, power_before, out=np.full(power.shape, np.nan), where=burns)
    expected = (warmth_before - _AIR_CELSIUS) * (share - 1.0) * settled
    beyond: Floats = warmth - warmth_before - expected
    return beyond


def _beyond_peers(now: Floats) -> Floats:
    """Of temperature and power, long after a change: how much warmer than the peers' warmth a watt
    explains."""
    usual_warmth, usual_power = median(now)
    warmth, power = now.T
    share = np.divide(power, usual_power, out=np.full(power.shape, np.nan), where=usual_power > 0.0)
    beyond: Floats = warmth - _AIR_CELSIUS - (usual_warmth - _AIR_CELSIUS) * share
    return beyond


def _settled(begin: int, end: int) -> float:
    """How much of a change of warmth has come, in the mean between two ages.

    >>> round(_settled(0, 25), 2), round(_settled(100, 130), 2)
    (0.37, 0.99)
    """
    begun, ended = (math.exp(-age / _DELAY_SECONDS) for age in (begin, end))
    return 1.0 - _DELAY_SECONDS * (begun - ended) / (end - begin)
