"""Straggler traces: in every window of ten steps, which workers are slow, compared with whom?

Peers are the workers of the same stage: that a stage has more to do is nobody's fault. A worker is
named when it takes steadily longer than the median of its peers, by much more than workers of this
job differ from step to step; so uneven work, which falls on another worker each step, names nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
from paramedic.diagnosis.benchmark.real_sets.straggler_reading import Worker, read_trace
from paramedic.models.circles import Circles
from paramedic.models.leave_one_out import (
    deviation_over_time,
    leave_one_out_median,
    median_over_time,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from paramedic.diagnosis.benchmark.real_sets.straggler_reading import StragglerTrace

WINDOW_STEPS = 10
_FOLDER = "bytedance_straggler"
_MEDIAN_TO_MEAN_ERROR = 1.2533
"""The standard error of a median is so many times that of a mean, for normal noise."""
_FLOOR_SHARE = 0.005
"""Clocks and caches: nobody computes more evenly than this."""

EXPECTED: Mapping[str, frozenset[Worker]] = {
    "AR": frozenset({Worker(stage=0, data_rank=0)}),
    "SE": frozenset(),
    "ST": frozenset(),
}
"""Who was slowed on purpose; uneven sequences (SE) and a heavy last stage (ST) are no machine's."""


@dataclass(frozen=True, slots=True)
class NamingSettings:
    """When a worker is called slow."""

    least_slowdown: float = 0.10
    """As a share of what the peers take: less costs less than an exchange of a machine."""
    least_errors: float = 6.0
    """In standard errors of the window's median."""


def slow_workers(
    trace: StragglerTrace, first: int, settings: NamingSettings | None = None
) -> frozenset[Worker]:
    """The workers that are slow in the ten steps that begin at a position."""
    settings = settings or NamingSettings()
    seconds = trace.compute_seconds[first : first + WINDOW_STEPS]
    stages = Circles.of([worker.stage for worker in trace.workers])
    peers = stages.median_of_others(seconds)
    lag = seconds / peers - 1.0
    steady = median_over_time(np.ascontiguousarray(lag.T))
    errors = _scatter(lag, steady) * _MEDIAN_TO_MEAN_ERROR / np.sqrt(len(seconds))
    slow = (steady > settings.least_slowdown) & (steady > settings.least_errors * errors)
    return frozenset(trace.workers[at] for at in np.flatnonzero(slow))


def windows_as_expected(trace: StragglerTrace, expected: frozenset[Worker]) -> tuple[int, int]:
    """In how many windows exactly these are named, and how many windows there are."""
    windows = range(max(0, len(trace.steps) - WINDOW_STEPS + 1))
    return sum(slow_workers(trace, first) == expected for first in windows), len(windows)


def evaluate(folder: Path) -> RealSetRow:
    """Judge all three jobs. Raises RealSetError."""
    figures: dict[str, float | int | str] = {}
    holds = True
    for name, expected in EXPECTED.items():
        right, windows = windows_as_expected(read_trace(folder / _FOLDER, name), expected)
        figures[f"{name.lower()}_right"] = right
        figures[f"{name.lower()}_windows"] = windows
        holds = holds and right == windows > 0
    promise = "AR names (dp 0, stage 0) alone, SE and ST name nobody, in every window"
    return RealSetRow("straggler_traces", figures, promise, holds)


def _scatter(lag: NDArray[np.float64], steady: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much the other workers of the job vary from step to step; the own noise if more."""
    own = deviation_over_time(np.ascontiguousarray((lag - steady).T))
    usual = np.nan_to_num(leave_one_out_median(own))
    return np.maximum(np.maximum(own, usual), _FLOOR_SHARE)
