"""The seven metrics that Minder looks at, and the limits by which they are scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.rivals.machine_level import machine_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.models.history import JobHistory
    from paramedic.models.rivals.machine_level import MachineLevel


_LEAST_LIMIT = 1e-37
"""A limit below the smallest float32 has not been seen."""


@dataclass(frozen=True, slots=True)
class MinderMetric:
    """One of the seven."""

    name: str
    parts: tuple[str, ...]
    """Canonical ids that are added up."""
    high: float | None
    """The upper limit; None: what training has seen. The lower limit is zero."""


SEVEN = (
    MinderMetric("pfc_tx", ("pfc_tx_packets_per_second",), None),
    MinderMetric("cpu", ("cpu_utilization_ratio",), 1.0),
    MinderMetric("duty_cycle", ("gpu_utilization_ratio",), 1.0),
    MinderMetric("power", ("gpu_power_watts",), None),
    MinderMetric("graphics", ("gpu_graphics_active_ratio",), 1.0),
    MinderMetric("tensor", ("gpu_tensor_active_ratio",), 1.0),
    MinderMetric(
        "nvlink", ("gpu_nvlink_tx_bytes_per_second", "gpu_nvlink_rx_bytes_per_second"), None
    ),
)
"""In the order of priority that the paper learnt."""
IDS = tuple(part for metric in SEVEN for part in metric.parts)
_SEEN_SHARE = 0.9999
"""An upper limit is what all but so many of a history's values stay below; glitches are above."""


def seven(history: JobHistory) -> MachineLevel:
    """(slots, nodes, 7) in the metrics' own units, NaN where not observed."""
    level = machine_level(history, IDS)
    columns = [level.select(metric.parts).sum(axis=-1) for metric in SEVEN]
    names = tuple(metric.name for metric in SEVEN)
    return replace(level, metrics=names, values=np.stack(columns, axis=-1))


@dataclass(frozen=True, slots=True)
class Limits:
    """The upper limit of each metric; of one that never rose above zero it is zero."""

    high: tuple[float, ...]

    @classmethod
    def nothing_seen(cls) -> Limits:
        """Before any history: zero where the metric has no limit by nature."""
        return cls(tuple(metric.high or 0.0 for metric in SEVEN))

    def with_seen(self, level: MachineLevel) -> Limits:
        """Raised to what this history shows, where the metric has no limit by nature."""
        return Limits(
            tuple(
                max(high, _upper(level.values[:, :, at])) if metric.high is None else high
                for at, (metric, high) in enumerate(zip(SEVEN, self.high, strict=True))
            )
        )

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Into 0..1; what is beyond a limit stays at it."""
        shares: NDArray[np.float64] = np.clip(
            values / [high if high > _LEAST_LIMIT else 1.0 for high in self.high], 0.0, 1.0
        )
        return shares.astype(np.float32)


def _upper(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, _SEEN_SHARE)) if known.size else 0.0
