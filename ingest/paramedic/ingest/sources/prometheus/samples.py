"""From answers to pages: each sample once, in the second it belongs to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paramedic.ingest.sources.port import RawPage, Series
from paramedic.ingest.sources.prometheus.client import Entry
from paramedic.ingest.sources.prometheus.scrape_clock import ScrapeClock

_NAME = "__name__"
_FORGOTTEN_AFTER_SECONDS = 900.0

Instance = tuple[str, str]
"""The labels `job` and `instance` of a target."""


@dataclass(slots=True)
class _Known:
    """A series and how far it has been read."""

    series: Series
    clock: ScrapeClock
    last_seconds: float = -math.inf


@dataclass(slots=True)
class _Growing:
    """A page in the making."""

    series: list[Series]
    values: list[float]
    unreadable: int = 0


class SampleLedger:
    """Which samples have been passed on, of every series."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._known: dict[tuple[tuple[str, str], ...], _Known] = {}
        self._previous: list[Series] = []
        self.clocks: dict[Instance, ScrapeClock] = {}
        """How each target is scraped."""

    @property
    def newest_seconds(self) -> float:
        """The newest sample of all; minus infinity before the first."""
        return max((clock.last_seconds for clock in self.clocks.values()), default=-math.inf)

    @property
    def cadence_seconds(self) -> float | None:
        """How often the most often scraped target is scraped; None while that is not known."""
        cadences = [clock.cadence_seconds for clock in self.clocks.values()]
        return min((one for one in cadences if one is not None), default=None)

    def pages(self, entries: Iterable[Entry]) -> list[RawPage]:
        """What is new in an answer, one page a second, oldest first; each sample only once.

        A histogram's samples have no `values` and are left out.
        """
        growing: dict[int, _Growing] = {}
        for entry in entries:
            known = self._known_of(entry["metric"])
            last = known.last_seconds
            for time_seconds, text in entry.get("values", ()):
                if time_seconds > last:
                    last = time_seconds
                    _add(growing, known, time_seconds, text)
            known.last_seconds = last
        return [self._page(growing[second], second) for second in sorted(growing)]

    def forget(self, now_seconds: float) -> None:
        """Let go of series and targets that have ended long ago."""
        before = now_seconds - _FORGOTTEN_AFTER_SECONDS
        self._known = {key: one for key, one in self._known.items() if one.last_seconds >= before}
        self.clocks = {key: one for key, one in self.clocks.items() if one.last_seconds >= before}

    def _page(self, grown: _Growing, second: int) -> RawPage:
        """The very same list while the series stay the same, so that a cleaner sees it at once."""
        if grown.series == self._previous:
            grown.series = self._previous
        self._previous = grown.series
        reasons = {"not_a_number": grown.unreadable} if grown.unreadable else {}
        return RawPage(
            self._origin, float(second), grown.series, grown.values, reasons, is_whole=False
        )

    def _known_of(self, metric: Mapping[str, str]) -> _Known:
        key = tuple(metric.items())
        known = self._known.get(key)
        if known is None:
            labels = {name: value for name, value in key if name != _NAME}
            target = (metric.get("job", ""), metric.get("instance", ""))
            clock = self.clocks.setdefault(target, ScrapeClock())
            known = self._known[key] = _Known(Series(metric.get(_NAME, ""), labels), clock)
        return known


def _add(growing: dict[int, _Growing], known: _Known, time_seconds: float, text: str) -> None:
    second = known.clock.second_of(time_seconds)
    page = growing.get(second)
    if page is None:
        page = growing[second] = _Growing([], [])
    try:
        value = float(text)
    except (ValueError, TypeError):
        page.unreadable += 1
        return
    page.series.append(known.series)
    page.values.append(value)
