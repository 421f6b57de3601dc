"""What the catalogue says of one metric and of one exporter's name for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from paramedic.ingest.contract import Entity, IngestError


class CatalogueError(IngestError):
    """The catalogue's file contradicts itself; a person has to correct it."""


class Kind(StrEnum):
    """How the values of a metric behave in time."""

    GAUGE = "gauge"
    COUNTER = "counter"
    """Grows until it starts anew."""
    STATE = "state"
    """A code, a flag or a bit mask: its average means nothing."""


class Over(StrEnum):
    """How several series of one row become one value."""

    FIRST = "first"
    """They repeat each other: the first that is valid."""
    SUM = "sum"
    MEAN = "mean"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A metric that is computed from two inputs: `of` ÷ `by`."""

    of: str
    by: str
    over: Over
    """SUM: the sums of a row are divided. MAX: the largest quotient (before the complement, the
    smallest: the fullest file system is the one with the least left)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One canonical id."""

    id: str
    entity: Entity
    unit: str
    kind: Kind
    low: float
    high: float
    """Lowest and highest possible canonical value; of a rate, not of the raw counter."""
    is_input: bool = False
    """Only read to compute another metric, never handed on."""
    is_complement: bool = False
    """One minus what the sources give."""
    ratio: Ratio | None = None
    total: str = ""
    """The name under which a raw counter is shown."""

    @property
    def keeps_totals(self) -> bool:
        """Whether counters stay running totals instead of becoming rates."""
        return self.id.endswith("_total")


@dataclass(frozen=True, slots=True)
class Before:
    """An older meaning of an exporter's name: another factor, and what gives it away."""

    factor: float
    above: float | None = None
    """A value above this (and up to a hundred times as much) can only be the older unit."""
    below: float | None = None
    """A positive value below this can only be the older unit; one at or above it, the newer."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One exporter's name for a metric."""

    name: str
    metric: Metric
    dialect: str
    factor: float
    kind: Kind
    over: Over
    per: tuple[str, ...]
    """Labels that tell the series of one row apart."""
    only: Mapping[str, re.Pattern[str]]
    drop: Mapping[str, re.Pattern[str]]
    before: Before | None
    group: int
    """Names of one group make up one value together; two groups are never mixed."""
    rank: int
    """Position in the catalogue: the lower is preferred."""

    @property
    def is_rate(self) -> bool:
        """Whether the raw counter has to become a rate."""
        return self.kind is Kind.COUNTER and not self.metric.keeps_totals

    @property
    def parts(self) -> tuple[str, ...]:
        """Labels that name a part of the row: a device, a mode."""
        return (*self.per, *self.only, *self.drop)

    @property
    def shown_as(self) -> str:
        """The id under which the exporter's own value is shown: raw counters by their total."""
        return self.metric.total if self.is_rate else self.metric.id

    def takes(self, labels: Mapping[str, str]) -> bool:
        """Whether a series with these labels belongs to the metric."""
        for label, pattern in self.only.items():
            if pattern.fullmatch(labels.get(label, "")) is None:
                return False
        return all(
            pattern.fullmatch(labels.get(label, "")) is None for label, pattern in self.drop.items()
        )
