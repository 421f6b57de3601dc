"""Turns counters into rates: what grew since the page before, over the time between.

A counter that shrank has begun anew: there is no rate for that moment, and the next one counts from
there. Nothing is known before a counter's second reading, nor after it was away for long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.cleaning.lanes import LaneKey
from paramedic.ingest.cleaning.units import Booleans, Floats


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of a page's counters."""

    values: Floats
    """NaN where there is none."""
    restarted: Booleans
    """Counters that shrank."""


class CounterReadings:
    """The last reading of each counter of a page's plan."""

    def __init__(self, keys: Sequence[LaneKey], gap_seconds: float) -> None:
        self._keys = tuple(keys)
        self._gap_seconds = gap_seconds
        self._values = np.full(len(keys), np.nan)
        self._seconds = np.full(len(keys), np.nan)

    def continue_from(self, before: CounterMemory) -> None:
        """Take over what was remembered of these counters."""
        for at, key in enumerate(self._keys):
            value, seconds = before.get(key)
            self._values[at] = value
            self._seconds[at] = seconds

    def remember_in(self, memory: CounterMemory) -> None:
        """Hand the readings over to whoever plans the next page."""
        memory.put(self._keys, self._values.tolist(), self._seconds.tolist())

    def rates(self, totals: Floats, now_seconds: float) -> Rates:
        """Rates since each counter's last reading; NaN totals are not readings."""
        passed = now_seconds - self._seconds
        grown = totals - self._values
        with np.errstate(divide="ignore", invalid="ignore"):
            values = grown / passed
        usable = (passed > 0) & (passed <= self._gap_seconds)
        restarted = usable & (grown < 0)
        values[~(usable & (grown >= 0))] = np.nan
        # A page that is older than the last one is no reading; one from long ago is a set clock.
        is_reading = ~np.isnan(totals) & ~((passed <= 0) & (passed >= -self._gap_seconds))
        self._values[is_reading] = totals[is_reading]
        self._seconds[is_reading] = now_seconds
        return Rates(values, restarted)


class CounterMemory:
    """Readings of counters that are between two plans, or away for a while."""

    def __init__(self, gap_seconds: float) -> None:
        self._gap_seconds = gap_seconds
        self._readings: dict[LaneKey, tuple[float, float]] = {}

    def get(self, key: LaneKey) -> tuple[float, float]:
        """Value and time (Unix seconds) of a counter's last reading; NaN without one."""
        return self._readings.get(key, (np.nan, np.nan))

    def put(self, keys: Sequence[LaneKey], values: Sequence[float], times: Sequence[float]) -> None:
        """Remember readings; those of counters that are away for too long are forgotten."""
        for key, value, seconds in zip(keys, values, times, strict=True):
            if not np.isnan(value):
                self._readings[key] = (value, seconds)

    def forget_before(self, now_seconds: float) -> None:
        """Forget what is older than the longest gap."""
        oldest = now_seconds - self._gap_seconds
        self._readings = {key: one for key, one in self._readings.items() if one[1] >= oldest}
