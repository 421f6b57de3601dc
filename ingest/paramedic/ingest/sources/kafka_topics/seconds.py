"""Collects single samples to pages of one second each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from paramedic.ingest.sources.kafka_topics.samples import Poison, Sample
from paramedic.ingest.sources.port import RawPage, Series

_AHEAD_SECONDS = 60.0


class SecondPages:
    """Pages in the making. A page is whole when a newer second has begun, or after a time-out.

    What comes later makes another page of the same second.
    """

    def __init__(self, origin: str, wait_seconds: float, known_limit: int = 500_000) -> None:
        self._known_limit = known_limit
        self._origin = origin
        self._wait_seconds = wait_seconds
        self._numbers: dict[tuple[str, frozenset[tuple[str, str]]], int] = {}
        self._series: list[Series] = []
        self._growing: dict[int, dict[int, float]] = {}
        self._unreadable: Counter[str] = Counter()
        self._newest = -math.inf
        self._grown_at = -math.inf

    def add(self, samples: Iterable[Sample], now_seconds: float) -> None:
        """Some samples have arrived."""
        for sample in samples:
            second = math.floor(sample.seconds)
            self._growing.setdefault(second, {})[self._number(sample)] = sample.value
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
        """Series in the order in which they were first seen, so that pages are alike."""
        values = sorted(self._growing.pop(second).items())
        unreadable, self._unreadable = dict(self._unreadable), Counter()
        return RawPage(
            self._origin,
            float(second),
            [self._series[number] for number, _ in values],
            [value for _, value in values],
            unreadable,
            is_whole=False,
        )

    def _number(self, sample: Sample) -> int:
        key = (sample.name, frozenset(sample.labels.items()))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._series)
            self._series.append(Series(sample.name, sample.labels))
        return number

    def _forget(self) -> None:
        """Series come and go with the pods in their labels: what is in use now is kept."""
        if len(self._series) <= self._known_limit:
            return
        kept = sorted({number for page in self._growing.values() for number in page})
        renumbered = {old: new for new, old in enumerate(kept)}
        self._series = [self._series[old] for old in kept]
        self._numbers = {
            key: renumbered[old] for key, old in self._numbers.items() if old in renumbered
        }
        self._growing = {
            second: {renumbered[old]: value for old, value in page.items()}
            for second, page in self._growing.items()
        }
