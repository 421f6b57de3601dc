"""Limits that a site would set by hand, whatever the job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.rivals.floor import NothingToLearn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.rivals.machine_level import MachineLevel

_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Limit:
    """What a metric's mean over a machine should not pass."""

    metric: str
    value: float
    is_lower: bool = False

    def excess(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many times beyond the limit: above 1 it is passed."""
        if self.is_lower:
            return self.value / np.maximum(values, _TINY)
        return values / self.value


LIMITS = (
    Limit("gpu_utilization_ratio", 0.5, is_lower=True),
    Limit("gpu_power_watts", 150.0, is_lower=True),
    Limit("gpu_sm_clock_hertz", 1.2e9, is_lower=True),
    Limit("gpu_tensor_active_ratio", 0.02, is_lower=True),
    Limit("gpu_temperature_celsius", 85.0),
    Limit("gpu_memory_temperature_celsius", 95.0),
    Limit("gpu_pcie_replays_per_second", 10.0),
    Limit("gpu_nvlink_errors_per_second", 1.0),
    Limit("gpu_ecc_uncorrectable_total", 0.1),
    Limit("gpu_xid", 1.0),
    Limit("cpu_utilization_ratio", 0.9),
    Limit("memory_used_ratio", 0.95),
    Limit("filesystem_used_ratio", 0.95),
    Limit("disk_read_latency_seconds", 0.1),
    Limit("disk_write_latency_seconds", 0.1),
    Limit("tcp_retransmits_per_second", 100.0),
    Limit("network_round_trip_seconds", 0.01),
    Limit("network_drops_per_second", 100.0),
    Limit("pfc_tx_packets_per_second", 5000.0),
    Limit("ib_symbol_errors_per_second", 1.0),
    Limit("ib_link_downed_total", 1.0),
)


class StaticLimits(NothingToLearn):
    """Scores by the limit that is passed by most."""

    def __init__(self, limits: tuple[Limit, ...] = LIMITS) -> None:
        self.limits = limits

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """How many times beyond its limit the worst metric is."""
        values = level.select([limit.metric for limit in self.limits])
        worst = np.full(values.shape[:2], np.nan)
        for at, limit in enumerate(self.limits):
            np.fmax(worst, limit.excess(values[:, :, at]), out=worst)
        return worst
