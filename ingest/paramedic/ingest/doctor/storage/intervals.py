"""From a place's speed to save times, and from these and failures to the best interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.ingest.doctor.storage.measuring import StorageSpeed

_DAY_SECONDS = 86400.0
_THOUSAND = 1000.0
_GIGABYTE = 1e9
WRITERS_SHARE = 4
"""At most one node in so many writes at one moment."""
USUAL_FAILURES = 3.8
"""A thousand node-days: 419 unexpected interruptions of 2,048 nodes in 54 days (Llama 3,
arXiv 2407.21783, table 5); 2.3 to 6.5 in two clusters of Meta (arXiv 2410.21680)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a state of one size."""

    state_gigabytes: float
    layout: str
    """`own disks`: each node writes its share; `one store`: all share what was measured."""
    save_seconds: float
    load_seconds: float
    interval_seconds: float
    lost_ratio: float
    """Of the time: saving, and doing again what a failure undid."""


def plans(
    speed: StorageSpeed, states: Sequence[float], nodes: int, failures: float
) -> Iterator[Plan]:
    """One a state size (gigabytes) and layout; `failures` a thousand node-days."""
    mean_seconds = mean_time_between_failures(nodes, failures)
    layouts = {"own disks": waves(nodes) / nodes, "one store": 1.0} if nodes > 1 else {"disk": 1.0}
    for state in states:
        for layout, share in layouts.items():
            save = share * state * _GIGABYTE / speed.write_bytes_per_second
            load_share = 1 / nodes if layout == "own disks" else 1.0
            load = load_share * state * _GIGABYTE / speed.read_bytes_per_second
            interval = best_interval(save, mean_seconds)
            lost = lost_ratio(save, interval, mean_seconds)
            yield Plan(state, layout, save, load, interval, lost)


def waves(nodes: int) -> int:
    """How many times as long as one node's share all shares take, a quarter writing at a time.

    >>> waves(1), waves(4), waves(6), waves(1024)
    (1, 4, 3, 4)
    """
    return math.ceil(nodes / math.ceil(nodes / WRITERS_SHARE))


def mean_time_between_failures(nodes: int, failures: float) -> float:
    """Of the job, in seconds: any node's failure stops it.

    >>> round(mean_time_between_failures(1000, 4.0) / 3600)
    6
    """
    return _THOUSAND * _DAY_SECONDS / (failures * nodes)


def best_interval(save_seconds: float, mean_seconds: float) -> float:
    """Seconds of work between two checkpoints that lose the least.

    Young (CACM 17(9), 1974): T = √(2 δ M), with δ the save time and M the mean time between
    failures. Daly (FGCS 22(3), 2006) for δ < 2 M, which is used here:
    T = √(2 δ M) · (1 + ⅓ √(δ / 2M) + ⅑ δ / 2M) − δ; otherwise T = M.

    >>> round(best_interval(20, 86400)), round(best_interval(300, 100))
    (1846, 100)
    """
    if save_seconds >= 2 * mean_seconds:
        return mean_seconds
    root = math.sqrt(save_seconds / (2 * mean_seconds))
    first_order = math.sqrt(2 * save_seconds * mean_seconds)
    return first_order * (1 + root / 3 + root * root / 9) - save_seconds


def lost_ratio(save_seconds: float, interval_seconds: float, mean_seconds: float) -> float:
    """The share of the time that goes into saving and into half an interval done again at every
    failure (first order, at most 1); saving that does not hold the training up costs less."""
    cycle = interval_seconds + save_seconds
    return min(1.0, save_seconds / cycle + cycle / (2 * mean_seconds))
