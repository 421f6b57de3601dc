"""Pages that are parts of an answer, spread over all series that their source has shown lately.

The seconds of a Prometheus' answer differ in who was scraped in them. Working each list of series
out anew would cost far more than the values; so a part is laid over the list of all, and what is
not there is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.cleaning.units import Booleans, Floats, Indices
from paramedic.ingest.sources.port import RawPage, Series


@dataclass(frozen=True, slots=True)
class SpreadPage:
    """A page as values of a list of series."""

    series: Sequence[Series]
    values: Floats
    is_there: Booleans | None
    """Which of them the page really has; None for all."""


class Parts:
    """All series that a source of parts has shown lately."""

    def __init__(self, forget_after_seconds: float) -> None:
        self._forget_after_seconds = forget_after_seconds
        self._series: list[Series] = []
        self._position: dict[Series, int] = {}
        self._seen_seconds = np.zeros(0)
        self._last: Sequence[Series] = ()
        self._last_at: Indices = np.zeros(0, np.intp)

    def spread(self, page: RawPage) -> SpreadPage:
        """The page over all series; series that are new are added, old ones forgotten."""
        # Series are equal only to themselves, so comparing two lists compares addresses.
        if page.series != self._last:
            self._last_at = self._find(page)
            self._last = page.series
        values = np.full(len(self._series), np.nan)
        is_there = np.zeros(len(self._series), np.bool_)
        values[self._last_at] = page.values
        is_there[self._last_at] = True
        self._seen_seconds[self._last_at] = page.taken_seconds
        return SpreadPage(self._series, values, is_there)

    def _find(self, page: RawPage) -> Indices:
        if not all(map(self._position.__contains__, page.series)):
            self._add(page)
        return np.array([self._position[one] for one in page.series], np.intp)

    def _add(self, page: RawPage) -> None:
        """A new list, so that whoever planned for the one before notices."""
        oldest = page.taken_seconds - self._forget_after_seconds
        kept = {
            one: seconds
            for one, seconds in zip(self._series, self._seen_seconds.tolist(), strict=True)
            if seconds >= oldest
        }
        seen = kept | dict.fromkeys(page.series, page.taken_seconds)
        self._series = list(seen)
        self._seen_seconds = np.array(list(seen.values()))
        self._position = {one: at for at, one in enumerate(self._series)}


def whole(page: RawPage) -> SpreadPage:
    """A page that has everything there is."""
    return SpreadPage(page.series, np.asarray(page.values, np.float64), None)
