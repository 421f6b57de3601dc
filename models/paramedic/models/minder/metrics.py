"""The seven metrics that Minder looks at, and the limits by which they are scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.rivals.machine_level import machine_level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from paramedic.models.history import JobHistory
    from paramedic.models.rivals.machine_level import MachineLevel


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
    """The upper limit of each metric."""

    high: tuple[float, ...] = tuple(metric.high or 1.0 for metric in SEVEN)

    @classmethod
    def seen_in(cls, levels: Iterable[MachineLevel]) -> Limits:
        """Fixed where the metric has a limit by nature, otherwise the largest that was seen."""
        highest = np.zeros(len(SEVEN))
        for level in levels:
            highest = np.fmax(highest, _upper(level.values))
        seen = np.where(highest > 0, highest, 1.0)
        pairs = zip(SEVEN, seen, strict=True)
        return cls(tuple(float(top if one.high is None else one.high) for one, top in pairs))

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Into 0..1; what is beyond a limit stays at it."""
        shares: NDArray[np.float64] = np.clip(values / np.array(self.high), 0.0, 1.0)
        return shares.astype(np.float32)


def _upper(values: NDArray[np.float64]) -> NDArray[np.float64]:
    columns = (values[:, :, at] for at in range(values.shape[2]))
    known = (column[~np.isnan(column)] for column in columns)
    return np.array([np.quantile(one, _SEEN_SHARE) if one.size else 0.0 for one in known])
