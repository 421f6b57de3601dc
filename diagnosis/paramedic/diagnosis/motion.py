"""Whether a job's GPUs work, spin in a collective, rest, or have been given back, all together.

In a synchronous job that stands still everybody waits: kernels of the collective spin, so that the
cards look busy, draw little, compute nothing and send nothing. A checkpoint rests instead, and
ends. Steps have such phases, too; so a job stands when it spins or rests for longer than it ever
did while it worked. It is the measure of jobs whose ranks tell nothing of their steps.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.leave_one_out import median_of_known

if TYPE_CHECKING:
    from paramedic.ingest.contract import Window

_EFFORT = (
    "gpu_power_watts",
    "gpu_tensor_active_ratio",
    "gpu_sm_active_ratio",
    "gpu_dram_active_ratio",
)
"""What shows how hard a card works; the first that comes is used."""
_FLOWS = (
    "gpu_tensor_active_ratio",
    "gpu_nvlink_tx_bytes_per_second",
    "gpu_pcie_tx_bytes_per_second",
)
"""A job that works computes or sends."""
_FLOW_SHARE = 0.1
_FLOW_MEMORY = 0.995
_BUSY = "gpu_utilization_ratio"
_MEMORY = "gpu_memory_used_bytes"
_SLOTS_KEPT = 300
_FEWEST_SLOTS = 10
_FEWEST_SECONDS = 60
_LOW_SHARE = {True: 0.9, False: 0.7}
"""Of its median effort; noise of steady work is above it, and where nothing is told of flows, a job
that is merely slower is, too."""
_FREE_SHARE = 0.2
_LEAST_SECONDS = {"spins": 6.0, "rests": 30.0, "gone": 1.0}
_LONGEST_RUNS = 1.5
"""A job is given so many times the longest run of the kind that it has made before."""
_SLACK_SECONDS = 2.0
_WORKED_SECONDS, _WORKED_SLOTS = 60.0, 3
"""What was on its way when a process ended keeps cards busy for less."""


class Gait(StrEnum):
    """What the cards of a job do, most of them."""

    WORKS = "works"
    SPINS = "spins"
    """Busy, and hardly at work."""
    RESTS = "rests"
    """Not busy, and still in the hands of their processes."""
    GONE = "gone"
    """Their memory is free: the processes have left."""


@dataclass(slots=True)
class Motion:
    """The gait of one job, slot by slot."""

    efforts: deque[float] = field(default_factory=lambda: deque(maxlen=_SLOTS_KEPT))
    flows: dict[str, float] = field(default_factory=dict)
    """The most that each metric of flow has shown, forgotten slowly."""
    memory: float = 0.0
    """The most that the cards' memory was used, by their median."""
    gait: Gait = Gait.WORKS
    since: int = 0
    """When this gait began."""
    low_since: int = 0
    """When the cards last worked, or began not to."""
    second: int = 0
    slot_seconds: int = 1
    longest_seconds: dict[Gait, float] = field(default_factory=dict)
    """Of each gait, among the runs that are over."""
    metric: str = ""
    worked: deque[int] = field(default_factory=lambda: deque(maxlen=_SLOTS_KEPT))
    """The slots in which the cards have worked."""
    tells_flow: bool = False
    """Whether it was told in the newest slot what flows."""
    stood: int = 0
    """When the job was last known to stand."""

    def hear(self, window: Window) -> None:
        """Take the newest slot of the GPUs in."""
        effort, width = self._effort(window), window.slot_seconds
        is_known = len(self.efforts) * width >= _FEWEST_SECONDS
        if effort is None:
            return
        self.second, self.slot_seconds = window.last_second, width
        flow = self._flow(window)
        self.tells_flow = flow is not None
        if is_known and len(self.efforts) >= _FEWEST_SLOTS:
            self._turn(self._seen(effort, flow, window), window.last_second, width)
        if self.standing_since(width) is not None:
            self._stand()
            return
        self.efforts.append(effort)
        if is_known and self.gait is Gait.WORKS:
            self.worked.append(self.second)

    @property
    def is_moving(self) -> bool:
        """Whether the cards work; nobody can say so of those that do not tell."""
        return self.gait is Gait.WORKS and bool(self.efforts)

    def has_worked_since(self, second: float) -> bool:
        """Whether the cards have worked for so long since then that the job has gone on."""
        least = max(_WORKED_SECONDS, float(_WORKED_SLOTS * self.slot_seconds))
        return sum(one > second for one in self.worked) * self.slot_seconds >= least

    def standing_since(self, slot_seconds: int) -> int | None:
        """When the job came to stand; None while it may be at work."""
        if self.gait is Gait.WORKS:
            return None
        run = self.second - self.since + slot_seconds
        usual = _LONGEST_RUNS * self.longest_seconds.get(self.gait, 0.0)
        least = max(_LEAST_SECONDS[self.gait], 2.0 * slot_seconds)
        if self.gait is not Gait.GONE:
            least = max(least, usual + _SLACK_SECONDS)
        return self.low_since if run >= least else None

    def _effort(self, window: Window) -> float | None:
        metric = next((one for one in _EFFORT if one in window.metrics), None)
        if metric is None:
            return None
        if metric != self.metric:
            self.metric = metric
            self.efforts.clear()
        return _median(window, metric)

    def _flow(self, window: Window) -> float | None:
        """What flows, as a share of the most; of the metric that has the largest.

        A job that stands forgets nothing of how it worked, or what still trickles were work.
        """
        stands = self.standing_since(self.slot_seconds) is not None
        memory = 1.0 if stands else _FLOW_MEMORY
        shares = []
        for metric in _FLOWS:
            value = _median(window, metric)
            if value is not None:
                most = max(value, self.flows.get(metric, 0.0) * memory)
                self.flows[metric] = most
                shares.append(value / most if most > 0 else 0.0)
        return max(shares, default=None)

    def _seen(self, effort: float, flow: float | None, window: Window) -> Gait:
        memory = _median(window, _MEMORY)
        self.memory = max(self.memory, memory or 0.0)
        if memory is not None and memory < _FREE_SHARE * self.memory:
            return Gait.GONE
        if flow is not None and flow >= _FLOW_SHARE:
            return Gait.WORKS
        low, middle, high = np.quantile(np.array(self.efforts), (0.1, 0.5, 0.9))
        if effort >= min((low + high) / 2, _LOW_SHARE[flow is not None] * middle):
            return Gait.WORKS
        busy = _median(window, _BUSY)
        return Gait.SPINS if busy is not None and busy >= 1 / 2 else Gait.RESTS

    def _stand(self) -> None:
        """The job stands: a twitch of the cards since it last did was no work."""
        if not self.has_worked_since(self.stood):
            while self.worked and self.worked[-1] > self.stood:
                self.worked.pop()
        self.stood = self.second

    def _turn(self, gait: Gait, second: int, width: int) -> None:
        if gait is self.gait:
            return
        run = float(second - self.since)
        self.longest_seconds[self.gait] = max(self.longest_seconds.get(self.gait, 0.0), run)
        if self.gait is Gait.WORKS:
            self.low_since = second - width
        self.gait, self.since = gait, second


def _median(window: Window, metric: str) -> float | None:
    """Of the newest slot, where half of the rows have a value; None otherwise."""
    if metric not in window.metrics:
        return None
    at = window.metrics.index(metric)
    here, values = window.observed.T[-1, at], window.values.T[-1, at]
    known = np.count_nonzero(here)
    if not known or 2 * known < len(window.rows):
        return None
    if known < here.size:
        values = values[here]
    return median_of_known(values.astype(np.float64))
