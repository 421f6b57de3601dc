"""Whether a person who plots the right metric of a faulty machine against its peers sees the fault.

A fault that nobody could see tests nothing; episodes are drawn anew until theirs can be seen. This
looks with the truth in hand (it knows whom to look at, and when), so it is no detector.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from benchmarks.other_physics.exporters import Scraped
from benchmarks.other_physics.faults import Fault
from benchmarks.other_physics.job import Floats, Indices, Job

WINDOW_SECONDS = 15.0
_SETTLING_SECONDS = 10.0
_SHORTEST_SYMPTOMS_SECONDS = 30.0
_BEFORE_SECONDS = 270.0
_AFTER_SECONDS = 180.0
_AFTER_HALT_SECONDS = 60.0
_MOST = 99.0
_SHARE_BELOW = 0.7
"""Of the windows after the onset: what is there in one of many is chance."""
_SMALLEST_SHARE = 0.01
"""Of a metric's usual size: what is less, nobody sees in a plot."""
_TINY = 1e-9
_NOTHING = {"network_drops_per_second": 0.3, "ib_symbol_errors_per_second": 0.3}
"""What happens by itself; 0 for other metrics."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """The metric that shows a fault best, and how many spreads it departs from what is usual."""

    metric: str
    spreads: float


def visibility(job: Job, fault: Fault, entities: Mapping[str, Scraped], cadence: int) -> Visibility:
    """The best of all metrics that are exported."""
    seen = Visibility("nothing", 0.0)
    for entity, scraped in entities.items():
        groups = _groups(job, fault, entity)
        for metric, values in _readings(entity, scraped).items():
            with warnings.catch_warnings():
                # Windows without a single reading have no mean, which is what is wanted.
                warnings.simplefilter("ignore", RuntimeWarning)
                spreads = _departure(values, groups, fault, cadence, _NOTHING.get(metric, _TINY))
            if spreads > seen.spreads:
                seen = Visibility(metric, round(min(spreads, _MOST), 1))
    return seen


def _readings(entity: str, scraped: Scraped) -> dict[str, Floats]:
    """Every metric, whether there are rows being one of them; of clocks how fast they go."""
    there = scraped.present
    readings = {name: np.where(there, one, np.nan) for name, one in scraped.columns.items()}
    for name in {"step", "heartbeat"} & readings.keys():
        readings[name] = np.diff(readings[name], axis=0, prepend=readings[name][:1])
    return readings | {f"{entity} rows": there.astype(np.float64)}


def _groups(job: Job, fault: Fault, entity: str) -> list[Indices]:
    """What is compared: first what is hit, then each of its peers."""
    hit = fault.nodes[0]
    stage = job.stage_of(hit)
    others = [node for node in range(job.nodes) if node not in fault.nodes]
    peers = [node for node in others if job.stage_of(node) == stage] or others
    if entity == "node":
        return [np.array([node]) for node in (hit, *peers)]
    if fault.gpu is None:
        return [job.ranks_of(node) for node in (hit, *peers)]
    rank = hit * job.gpus + fault.gpu
    sisters = [one for one in job.ranks_of(hit) if one != rank]
    far = [one for node in peers for one in job.ranks_of(node)]
    return [np.array([one]) for one in (rank, *sisters, *far)]


def _departure(
    values: Floats, groups: list[Indices], fault: Fault, cadence: int, least: float
) -> float:
    """In spreads: what most windows after the onset stay below, and some do not."""
    if len(groups) < 2:
        return 0.0
    wide = max(round(WINDOW_SECONDS / cadence), 2)
    windows = np.stack([_windows(values[:, group], wide) for group in groups], axis=1)
    times = (np.arange(len(windows)) + 0.5) * wide * cadence
    last = fault.onset + _AFTER_SECONDS
    if fault.halted_at is not None:
        has_symptoms = fault.halted_at - fault.onset >= _SHORTEST_SYMPTOMS_SECONDS
        last = fault.halted_at + (0.0 if has_symptoms else _AFTER_HALT_SECONDS)
    if fault.end is not None:
        last = min(last, fault.end)
    before = (times < fault.onset - WINDOW_SECONDS) & (times > fault.onset - _BEFORE_SECONDS)
    after = (times > fault.onset + _SETTLING_SECONDS) & (times < last)
    if not before.any() or not after.any():
        return 0.0
    apart = windows - np.nanmedian(windows[:, 1:], axis=1, keepdims=True)
    usual = np.nanmean(apart[before], axis=0)
    return _in_spreads(apart[after] - usual, apart[before] - usual, windows[before], least)


def _in_spreads(after: Floats, before: Floats, windows: Floats, least: float) -> float:
    peers = after[:, 1:]
    among_peers = 1.4826 * float(np.nanmedian(np.abs(peers)))
    own_past = float(np.nanstd(before[:, 0]))
    size = _SMALLEST_SHARE * float(np.nanmean(np.abs(windows)))
    spread = max(among_peers, own_past, size, least)
    departure = float(np.nanquantile(np.abs(after[:, 0]), _SHARE_BELOW))
    return min(departure / spread, _MOST) if np.isfinite(departure / spread) else 0.0


def _windows(values: Floats, wide: int) -> Floats:
    """Means of adjoining windows over all entities of a group."""
    count = len(values) // wide
    cut = values[: count * wide].reshape(count, -1)
    there = np.isfinite(cut)
    sums = np.where(there, cut, 0.0).sum(axis=1)
    counts = there.sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
