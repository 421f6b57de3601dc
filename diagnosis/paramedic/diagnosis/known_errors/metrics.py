"""What the newest slot of a job's GPUs shows of known errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.known_errors.entry import Rule
from paramedic.diagnosis.known_errors.report import (
    RECOVERY_METRIC,
    Place,
    Report,
    report_of_metric,
    report_of_recovery,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from numpy.typing import NDArray

    from paramedic.diagnosis.known_errors.entry import KnownError, KnownErrors
    from paramedic.ingest.contract import Window

    Column = NDArray[np.float32 | np.float64]

_SLOTS_BACK = 10
"""A counter is compared with its largest value in so many slots: so many may be missing."""


class MetricRules:
    """The rules of the known errors, by metric."""

    def __init__(self, known_errors: KnownErrors) -> None:
        self._known_errors = known_errors
        self._reaching = _by_metric(known_errors, Rule.REACHES)
        self._growing = _by_metric(known_errors, Rule.GROWS)

    def shown(self, window: Window) -> Iterator[Report]:
        """States that are not zero, as reports that last until they are seen to be over."""
        at = moment(window.last_second)
        for metric, rules in self._reaching.items():
            for place, value in _above_zero(window, metric):
                rule = _highest(rules, value)
                if rule is not None:
                    yield report_of_metric(place, rule, value, at, is_held=True)
        for place, value in _above_zero(window, RECOVERY_METRIC):
            yield report_of_recovery(place, int(value), at, self._known_errors, is_held=True)

    def over(self, window: Window, held: Mapping[Place, set[str]]) -> Iterator[tuple[Place, str]]:
        """Which of the states that lasted are seen to be zero now."""
        rows = {
            Place(row.node, row.index): at
            for at, row in enumerate(window.rows if held else ())
            if (row.node, row.index) in held
        }
        for place, metrics in held.items():
            for metric in sorted(metrics.intersection(window.metrics)):
                row = rows.get(place)
                if row is not None and _newest(window, metric)[row] == 0:
                    yield place, metric

    def growths(self, window: Window) -> Iterator[tuple[Place, str, float]]:
        """Counters that have grown in the newest slot, and by how much."""
        for metric in self._growing:
            if metric not in window.metrics:
                continue
            column = window.values[:, window.metrics.index(metric), :]
            counted = np.flatnonzero((column[:, -1] > 0) & np.isfinite(column[:, -1]))
            if not counted.size:
                continue
            recent = column[counted, -1 - _SLOTS_BACK :]
            before = np.fmax.reduce(recent[:, :-1], axis=1, initial=np.nan)
            grown = recent[:, -1] - before
            for at in np.flatnonzero(grown > 0).tolist():
                yield _place(window, int(counted[at])), metric, float(grown[at])

    def grown(self, place: Place, metric: str, growth: float, at: datetime) -> Report | None:
        """What so much growth tells, if it is enough for a rule."""
        rule = _highest(self._growing.get(metric, []), growth)
        return None if rule is None else report_of_metric(place, rule, growth, at, is_held=False)


def _by_metric(known_errors: KnownErrors, how: Rule) -> dict[str, list[KnownError]]:
    found: dict[str, list[KnownError]] = {}
    for rule in known_errors.rules():
        if rule.rule is how and rule.metric is not None:
            found.setdefault(rule.metric, []).append(rule)
    return {metric: sorted(rules, key=lambda r: r.at_least) for metric, rules in found.items()}


def _highest(rules: list[KnownError], value: float) -> KnownError | None:
    reached = [rule for rule in rules if value >= rule.at_least]
    return reached[-1] if reached else None


def _above_zero(window: Window, metric: str) -> Iterator[tuple[Place, float]]:
    if metric in window.metrics:
        newest = _newest(window, metric)
        for row in np.flatnonzero(newest > 0).tolist():
            yield _place(window, row), float(newest[row])


def _newest(window: Window, metric: str) -> Column:
    """NaN where nothing was observed, or no number that a state or a counter could be."""
    newest = window.values[:, window.metrics.index(metric), -1]
    return np.where(np.isfinite(newest), newest, np.nan)


def _place(window: Window, row: int) -> Place:
    return Place(window.rows[row].node, window.rows[row].index)
