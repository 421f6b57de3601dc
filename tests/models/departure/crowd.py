"""Rows that do the same work with some noise, and what a model of departures says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.circles import Circles
from paramedic.models.departure.model import DepartureConfig, DepartureModel, Departures

Cells = NDArray[np.float64]
Change = Callable[[int, Cells], None]
"""What befalls a slot's (metric, row) values, by its number; changes them in place."""

WORK = ("gpu_power_watts", "gpu_sm_clock_hertz", "gpu_tensor_active_ratio")
LEVELS = {
    "gpu_power_watts": 400.0,
    "gpu_sm_clock_hertz": 1.4e9,
    "gpu_tensor_active_ratio": 0.4,
    "gpu_dram_active_ratio": 0.3,
    "gpu_temperature_celsius": 60.0,
    "gpu_ecc_correctable_total": 1000.0,
}


def named(rows: int) -> tuple[EntityKey, ...]:
    return tuple(EntityKey(Entity.GPU, NodeName(f"node-{at:04d}"), 0) for at in range(rows))


def nothing(_slot: int, _values: Cells) -> None:
    """Healthy."""


@dataclass
class Crowd:
    """A model, and the machines that it follows."""

    rows: tuple[EntityKey, ...]
    metrics: tuple[str, ...] = WORK
    noise: float = 0.03
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))
    model: DepartureModel = field(default_factory=lambda: DepartureConfig().build())
    circles: Circles | None = None
    slots: int = 0

    def values(self) -> Cells:
        """Of a healthy slot."""
        level = np.array([LEVELS[metric] for metric in self.metrics])[:, None]
        drawn = self.random.standard_normal((len(self.metrics), len(self.rows)))
        return level * (1 + self.noise * drawn)

    def tell(self, values: Cells) -> Departures:
        """Score a slot."""
        self.slots += 1
        return self.model.score(values, self.rows, self.metrics, self.circles, 1)

    def live(self, slots: int, change: Change = nothing) -> list[Departures]:
        """Go on for so many slots."""
        found = []
        for _ in range(slots):
            values = self.values()
            change(self.slots, values)
            found.append(self.tell(values))
        return found


def crowd(rows: int, seed: int = 7, noise: float = 0.03) -> Crowd:
    return Crowd(named(rows), noise=noise, random=np.random.default_rng(seed))


def times(factor: float, row: int | slice = 0, metric: int | slice = 0) -> Change:
    """A row's metric is so many times what it would be."""

    def change(_slot: int, values: Cells) -> None:
        values[metric, row] *= factor

    return change


def oddest(found: list[Departures], row: int = 0) -> float:
    """The most nats that a row has at any pace, in any metric and slot."""
    return max(float(one.nats[:, :, row].max()) for one in found)


def lasting(found: list[Departures], row: int = 0, metric: int = 0, pace: int = -1) -> float:
    """What a row shows in the middle of these slots."""
    return float(np.median([one.nats[pace, metric, row] for one in found]))


def deviations(found: Departures) -> Cells:
    """At all paces, (pace, metric, row)."""
    return np.array([found.deviation(pace) for pace in range(len(found.nats))])
