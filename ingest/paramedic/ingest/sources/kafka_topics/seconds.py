"""Collects single samples to pages of one second each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from paramedic.ingest.sources.kafka_topics.samples import Poison, Sample
from paramedic.ingest.sources.port import RawPage, Series

_KNOWN_SERIES_LIMIT = 500_000
_AHEAD_SECONDS = 60.0


class SecondPages:
    """Pages in the making. A page is whole when a newer second has begun, or after a time-out.

    What comes later makes another page of the same second.
    """

    def __init__(self, origin: str, wait_seconds: float) -> None:
        self._origin = origin
        self._wait_seconds = wait_seconds
        self._known: dict[tuple[str, frozenset[tuple[str, str]]], Series] = {}
        self._growing: dict[int, tuple[list[Series], list[float]]] = {}
        self._unreadable: Counter[str] = Counter()
        self._newest = -math.inf
        self._grown_at = -math.inf

    def add(self, samples: Iterable[Sample], now_seconds: float) -> None:
        """Some samples have arrived."""
        for sample in samples:
            second = math.floor(sample.seconds)
            series, values = self._growing.setdefault(second, ([], []))
            series.append(self._series(sample))
            values.append(sample.value)
            if second <= now_seconds + _AHEAD_SECONDS:  # else one bad clock would end all pages
                self._newest = max(self._newest, second)
            self._grown_at = now_seconds

    def poisoned(self, poison: Poison) -> None:
        """A message could not be read."""
        self._unreadable[poison.value] += 1

    def ready(self, now_seconds: float) -> list[RawPage]:
        """Pages that are whole, oldest first."""
        is_idle = not 0 <= now_seconds - self._grown_at < self._wait_seconds
        seconds = sorted(one for one in self._growing if is_idle or one < self._newest)
        pages = [self._page(second) for second in seconds]
        self._forget()
        return pages

    def _page(self, second: int) -> RawPage:
        series, values = self._growing.pop(second)
        unreadable, self._unreadable = dict(self._unreadable), Counter()
        return RawPage(self._origin, float(second), series, values, unreadable, is_whole=False)

    def _series(self, sample: Sample) -> Series:
        key = (sample.name, frozenset(sample.labels.items()))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Series(sample.name, sample.labels)
        return known

    def _forget(self) -> None:
        """Series come and go with the pods in their labels; what is not in use is let go of."""
        if len(self._known) > _KNOWN_SERIES_LIMIT:
            alive = {one for series, _ in self._growing.values() for one in series}
            self._known = {key: one for key, one in self._known.items() if one in alive}
