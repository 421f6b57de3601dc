"""Compares what arrives with training, in windows of hours; small, whatever the cluster's size.

Values are counted on a grid: a few hundred numbers for each metric. A look is made when a window
closes, and at no other time, so that the stated rate of false alarms holds: `false_alarm` for all
metrics of a look together, a hundredth of a false alarm in a day of four looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.drift.distance import distance, margin
from paramedic.models.drift.reference import Quantity, Reference, reference_of
from paramedic.models.drift.report import DriftReport, MetricDrift
from paramedic.models.pattern.tails import TailCounter
from paramedic.models.registry.fit import fit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from paramedic.models.pattern.artifact import PatternArtifact


@dataclass(frozen=True, slots=True)
class DriftConfig:
    """When something counts as drift."""

    window_seconds: int = 21_600
    """One look for each."""
    every_slots: int = 600
    """Each row is looked at so often: after that long its departures have forgotten their past, so
    that values count as independent."""
    tolerated_share: float = 0.1
    """No two clusters are alike; so large a share of values may lie elsewhere without a word."""
    false_alarm: float = 0.0025
    """The chance that a look says anything where nothing more than that is different."""

    def __post_init__(self) -> None:
        if self.window_seconds < 1 or self.every_slots < 1:
            raise ValueError("window_seconds and every_slots must be 1 or more")
        if not 0 <= self.tolerated_share < 1 or not 0 < self.false_alarm < 1:
            raise ValueError("tolerated_share must be in 0..1, false_alarm between 0 and 1")

    def build(self, artifact: PatternArtifact) -> DriftWatch:
        """A watch that has seen nothing."""
        return DriftWatch(self, artifact)


class DriftWatch:
    """Takes in numbers as they come; for one thread."""

    def __init__(self, config: DriftConfig, artifact: PatternArtifact) -> None:
        self._config = config
        self._artifact = artifact
        self._lines = {name: line for line, name in enumerate(artifact.fingerprint)}
        self._references = {
            (name, quantity): reference
            for name, quantiles in artifact.fingerprint.items()
            for quantity in Quantity
            if (reference := reference_of(quantiles, quantity)) is not None
        }
        self._begun: int | None = None
        self._last = 0
        self.latest: DriftReport | None = None
        """Of the last window that has closed."""
        self._forget()

    def saw(self, second: int, arriving: Iterable[str]) -> DriftReport | None:
        """Time has come to this second (Unix), and these metrics had values in it.

        The report of the window that closes with it, if one does.
        """
        closed = None
        if self._begun is not None and second - self._begun >= self._config.window_seconds:
            closed = self.latest = self.look()
            self._begun = None
            self._forget()
        self._begun = second if self._begun is None else self._begun
        self._last = max(self._last, second)
        self._arrived.update(arriving)
        return closed

    def count(
        self, quantity: Quantity, metrics: Sequence[str], values: NDArray[np.floating]
    ) -> None:
        """Take in values, (metrics, any number); NaN where nothing is known."""
        at = np.array([self._lines.get(name, -1) for name in metrics], np.intp)
        known = at >= 0
        self._counts[quantity].count(at[known, None], np.asarray(values)[known])

    def look(self) -> DriftReport:
        """What the window says that is still open."""
        config = self._config
        alone = config.false_alarm / max(1, len(self._references))
        found = (
            self._drift(name, quantity, reference, alone)
            for (name, quantity), reference in self._references.items()
        )
        begun = self._last if self._begun is None else self._begun
        return DriftReport(
            first_second=begun,
            seconds=self._last - begun + 1,
            metrics=tuple(one for one in found if one.samples),
            fit=fit_of(self._artifact, self._arrived),
        )

    def _drift(
        self, name: str, quantity: Quantity, reference: Reference, false_alarm: float
    ) -> MetricDrift:
        counts = self._counts[quantity].counts[self._lines[name]]
        samples = int(counts.sum())
        return MetricDrift(
            metric=name,
            quantity=quantity,
            distance=distance(counts, reference),
            margin=margin(samples, false_alarm),
            samples=samples,
            tolerated=self._config.tolerated_share,
        )

    def _forget(self) -> None:
        self._counts = {quantity: TailCounter(len(self._lines)) for quantity in Quantity}
        self._arrived: set[str] = set()
