"""What drift says about a stretch of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.models.drift.reference import Quantity

if TYPE_CHECKING:
    from paramedic.models.registry.fit import Fit


@dataclass(frozen=True, slots=True)
class MetricDrift:
    """One quantity of one metric."""

    metric: str
    quantity: Quantity
    distance: float
    """The share of values that have gone somewhere else since training, at least; 0 to 1."""
    margin: float
    """How much of it may be chance."""
    samples: int
    """Values that were looked at, far enough apart to be independent."""
    tolerated: float
    """So much may be different without a word."""

    @property
    def has_drifted(self) -> bool:
        """Whether more than is tolerated is different, chance aside."""
        return self.distance - self.margin > self.tolerated


@dataclass(frozen=True, slots=True)
class DriftReport:
    """All metrics over a stretch of time."""

    first_second: int
    """Unix seconds, UTC."""
    seconds: int
    metrics: tuple[MetricDrift, ...]
    """By metric and quantity; those without a single value are left out."""
    fit: Fit
    """Metrics that are missing or new."""

    @property
    def drifted(self) -> tuple[MetricDrift, ...]:
        """What has drifted, the most moved first."""
        moved = (one for one in self.metrics if one.has_drifted)
        return tuple(sorted(moved, key=lambda one: (-one.distance, one.metric, one.quantity)))
