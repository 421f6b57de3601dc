"""From what is true to what is scraped: marks, rounding, stale and missing values, the cadence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.other_physics.influences import Mark, Mode
from benchmarks.other_physics.job import Floats
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
_STEPS: Mapping[str, float] = {
    "gpu_utilization_ratio": 0.01,
    "gpu_power_watts": 1.0,
    "gpu_temperature_celsius": 1.0,
    "gpu_memory_temperature_celsius": 1.0,
    "gpu_sm_clock_hertz": 15e6,
    "gpu_memory_used_bytes": float(2**20),
    "load_average": 0.01,
    "memory_used_ratio": 1e-4,
}
"""What a reading is rounded to."""
_SNAPSHOTS = frozenset(
    {"gpu_utilization_ratio", "gpu_power_watts", "gpu_temperature_celsius", "gpu_sm_clock_hertz"}
    | {"gpu_memory_temperature_celsius", "gpu_memory_used_bytes", "gpu_xid", "load_average"}
    | {
        "gpu_row_remap_pending",
        "gpu_throttle_reasons",
        "memory_used_ratio",
        "filesystem_used_ratio",
    }
)
"""These are read, whatever the cadence; of the others the mean since the last scrape is told."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """How this cluster's exporters behave."""

    cadence: int
    phases: NDArray[np.int64]
    """Per node, the second within the cadence in which it is scraped."""
    null_share: float
    lost_row_share: float
    stale: Mapping[str, int]
    """Metrics that are renewed only every so many seconds."""
    left_out: frozenset[str]
    """Metrics that nobody exports here."""


@dataclass(frozen=True, slots=True)
class Scraped:
    """Rows of one entity: samples × entities."""

    seconds: NDArray[np.int64]
    """Of each sample and entity, since the start."""
    present: Flags
    columns: dict[str, Floats]


def apply_marks(
    metrics: dict[str, Floats],
    marks: Sequence[Mark],
    rows_metric: str,
    dice: np.random.Generator,
) -> Flags:
    """Change the metrics that are there; returns which rows are there at all."""
    seconds, entities = next(iter(metrics.values())).shape
    times = np.arange(seconds, dtype=np.float64) + 0.5
    present = np.ones((seconds, entities), np.bool_)
    for mark in marks:
        level = mark.course.level(times)[:, None]
        if mark.metric == rows_metric:
            present[:, mark.rows] &= level == 0.0
        elif mark.metric in metrics:
            values = metrics[mark.metric]
            values[:, mark.rows] = _marked(values[:, mark.rows], mark, level, dice)
    return present


def _marked(values: Floats, mark: Mark, level: Floats, dice: np.random.Generator) -> Floats:
    if mark.mode is Mode.SCALE:
        return values * (1.0 + (mark.size - 1.0) * level)
    if mark.mode is Mode.SET:
        return np.where(level > 0.0, mark.size, values)
    if mark.mode is Mode.HOLD:
        return np.where(level > 0.0, values[np.argmax(level)], values)
    if mark.mode is Mode.RESET:
        return np.where(level > 0.0, values - values[np.argmax(level)], values)
    if mark.mode is Mode.COUNT:
        counts = dice.poisson(np.broadcast_to(mark.size * level, values.shape)).astype(np.float64)
        return values + (np.cumsum(counts, axis=0) if mark.metric.endswith("_total") else counts)
    raised = values + mark.size * level * np.exp(dice.normal(0.0, 0.04, values.shape))
    if mark.metric.endswith("_total"):
        raised = values + mark.size * level
    return np.minimum(raised, 1.0) if mark.metric.endswith("_ratio") else raised


def scrape(
    metrics: Mapping[str, Floats],
    present: Flags,
    scrape: Scrape,
    per_node: int,
    dice: np.random.Generator,
) -> Scraped:
    """What is scraped of metrics with `per_node` entities a node."""
    phases = np.repeat(scrape.phases, per_node)
    samples = present.shape[0] // scrape.cadence
    seconds = np.arange(samples)[:, None] * scrape.cadence + phases[None]
    entities = np.arange(len(phases))[None]
    there = present[seconds, entities]
    there &= dice.random(there.shape) >= scrape.lost_row_share
    columns = {
        name: _read(name, values, seconds, entities, scrape, dice)
        for name, values in metrics.items()
        if name not in scrape.left_out
    }
    return Scraped(seconds, there, columns)


def _read(
    name: str,
    values: Floats,
    seconds: NDArray[np.int64],
    entities: NDArray[np.int64],
    scrape: Scrape,
    dice: np.random.Generator,
) -> Floats:
    renewed = scrape.stale.get(name, 1)
    at = np.maximum(seconds - (seconds + 3 * entities) % renewed, 0)
    if scrape.cadence == 1 or name in _SNAPSHOTS or name.endswith("_total"):
        read = values[at, entities]
    else:
        read = _mean_before(values, at, entities, scrape.cadence)
    step = _STEPS.get(name)
    if step is not None:
        read = np.round(read / step) * step
    return np.where(dice.random(read.shape) < scrape.null_share, np.nan, read)


def _mean_before(
    values: Floats, at: NDArray[np.int64], entities: NDArray[np.int64], cadence: int
) -> Floats:
    sums = np.vstack([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    begin = np.maximum(at + 1 - cadence, 0)
    return (sums[at + 1, entities] - sums[begin, entities]) / (at + 1 - begin)
