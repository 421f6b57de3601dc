"""From answers to pages: each sample once, in the second it belongs to, one page a target.

A page is what one target said in one scrape, so that a GPU that is not on it was not there, and so
that its list of series stays the same from scrape to scrape, however the targets are spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import RawPage, Series
from paramedic.ingest.sources.prometheus.client import Entry
from paramedic.ingest.sources.prometheus.scrape_clock import ScrapeClock

_NAME = "__name__"
_FORGOTTEN_AFTER_SECONDS = 900.0

Sample = Sequence[Any]
"""Time (Unix seconds) and the value's text."""
TargetKey = tuple[str, str]
"""The labels `job` and `instance` of a target."""


@dataclass(slots=True, eq=False)
class ScrapedTarget:
    """One exporter as Prometheus scrapes it."""

    origin: str
    node: NodeName
    """The host in its address."""
    clock: ScrapeClock = field(default_factory=ScrapeClock)
    series: list[Series] = field(default_factory=list)
    """Those of its newest page."""


@dataclass(slots=True)
class _Known:
    """A series and how far it has been read."""

    series: Series
    target: ScrapedTarget
    last_seconds: float = -math.inf


@dataclass(slots=True)
class _Growing:
    """A page in the making."""

    target: ScrapedTarget
    series: list[Series] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    unreadable: int = 0

    def page(self, second: int) -> RawPage:
        """The very same list while the series stay the same, so that a cleaner sees it at once."""
        target = self.target
        if self.series != target.series:
            target.series = self.series
        reasons = {"not_a_number": self.unreadable} if self.unreadable else {}
        return RawPage(
            target.origin, float(second), target.series, self.values, reasons, target.node
        )


class SampleLedger:
    """Which samples have been passed on, of every series."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._known: dict[tuple[tuple[str, str], ...], _Known] = {}
        self.targets: dict[TargetKey, ScrapedTarget] = {}

    @property
    def newest_seconds(self) -> float:
        """The newest sample of all; minus infinity before the first."""
        return max((one.clock.last_seconds for one in self.targets.values()), default=-math.inf)

    @property
    def cadence_seconds(self) -> float | None:
        """How often the most often scraped target is scraped; None while that is not known."""
        cadences = [one.clock.cadence_seconds for one in self.targets.values()]
        return min((one for one in cadences if one is not None), default=None)

    def pages(self, entries: Iterable[Entry]) -> list[RawPage]:
        """What is new in an answer, one page a target and second, oldest first.

        Each sample comes only once. A histogram's samples have no `values` and are left out.
        """
        growing: dict[tuple[int, int], _Growing] = {}
        news = [(known, samples) for known, samples in map(self._news, entries) if samples]
        seconds = _seconds_of_scrapes(news)
        for known, samples in news:
            of_target = seconds[id(known.target)]
            for time_seconds, text in samples:
                _add(growing, known, of_target[time_seconds], text)
        in_order = sorted(growing.items(), key=lambda item: item[0][0])
        return [page.page(second) for (second, _), page in in_order]

    def _news(self, entry: Entry) -> tuple[_Known, Sequence[Sample]]:
        """A series and the samples of it that have not been passed on; now they are."""
        known = self._known_of(entry["metric"])
        samples: Sequence[Sample] = entry.get("values", ())
        if samples and samples[0][0] <= known.last_seconds:
            samples = [sample for sample in samples if sample[0] > known.last_seconds]
        if samples:
            known.last_seconds = samples[-1][0]
        return known, samples

    def origin(self, key: TargetKey) -> str:
        """How pages of a target name it."""
        job, instance = key
        return f"{instance} (job {job}) at {self._url}"

    def forget(self, now_seconds: float) -> None:
        """Let go of series and targets that have ended long ago."""
        before = now_seconds - _FORGOTTEN_AFTER_SECONDS
        self._known = {key: one for key, one in self._known.items() if one.last_seconds >= before}
        alive = {id(one.target) for one in self._known.values()}
        self.targets = {key: one for key, one in self.targets.items() if id(one) in alive}

    def _known_of(self, metric: Mapping[str, str]) -> _Known:
        key = tuple(metric.items())
        known = self._known.get(key)
        if known is None:
            labels = {name: value for name, value in key if name != _NAME}
            target = self._target((metric.get("job", ""), metric.get("instance", "")))
            known = self._known[key] = _Known(Series(metric.get(_NAME, ""), labels), target)
        return known

    def _target(self, key: TargetKey) -> ScrapedTarget:
        target = self.targets.get(key)
        if target is None:
            target = self.targets[key] = ScrapedTarget(self.origin(key), host_of(key[1]))
        return target


def host_of(instance: str) -> NodeName:
    """The host of an instance label, which mostly is `host:port`.

    >>> host_of("node-7:9400"), host_of("node-7")
    ('node-7', 'node-7')
    """
    return NodeName(instance.rpartition(":")[0] or instance)


def _seconds_of_scrapes(
    news: Iterable[tuple[_Known, Sequence[Sample]]],
) -> Mapping[int, Mapping[float, int]]:
    """The second of every scrape in an answer, by target."""
    targets: dict[int, ScrapedTarget] = {}
    times: dict[int, set[float]] = {}
    for known, samples in news:
        key = id(known.target)
        targets[key] = known.target
        times.setdefault(key, set()).update([sample[0] for sample in samples])
    return {key: target.clock.seconds_of(times[key]) for key, target in targets.items()}


def _add(growing: dict[tuple[int, int], _Growing], known: _Known, second: int, text: str) -> None:
    target = known.target
    key = (second, id(target))
    page = growing.get(key)
    if page is None:
        page = growing[key] = _Growing(target)
    try:
        value = float(text)
    except (ValueError, TypeError):
        page.unreadable += 1
        return
    page.series.append(known.series)
    page.values.append(value)
