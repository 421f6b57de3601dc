"""One step of reading a Prometheus: the next span of time, all series, every sample once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import RawPage, StopSignal
from paramedic.ingest.sources.prometheus.client import AnswerTooLargeError, Entry, QueryApi
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.plan import QueryPlan
from paramedic.ingest.sources.prometheus.queries import (
    alternatives,
    over,
    parts_of_instances,
    selectors,
    with_matcher,
)
from paramedic.ingest.sources.prometheus.samples import SampleLedger, TargetKey, host_of
from paramedic.ingest.sources.prometheus.scrape_clock import ScrapeClock

_SHORTEST_OVERLAP_SECONDS = 2.0
_LONGEST_OVERLAP_SECONDS = 10.0
_WAITED_FOR_SECONDS = 60.0
_LONGEST_POLL_SECONDS = 5.0
_PATIENCE_SECONDS = 3.0
_EDGE_SECONDS = 0.001  # Prometheus' resolution; a range includes its end


@dataclass(frozen=True, slots=True)
class Step:
    """What one step gave."""

    pages: Sequence[RawPage]
    is_live: bool
    """Whether everything up to now has been read."""
    was_too_large: bool = False
    """Whether the server did not answer; less is asked for in the next step."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A target that gives nothing."""

    origin: str
    node: NodeName
    reason: str


class Reading:
    """Where reading has got to, and how the next span is asked for."""

    def __init__(self, settings: PrometheusSettings, api: QueryApi, now_seconds: float) -> None:
        self._settings = settings
        self._api = api
        self._plan = QueryPlan(settings.sample_limit)
        self._selectors = selectors(settings.names, settings.matchers)
        self._instances: Sequence[str] = ()
        self._position = now_seconds - settings.past_seconds
        self.ledger = SampleLedger(settings.url)

    @property
    def poll_seconds(self) -> float:
        """How often to look: as often as something new can be there."""
        cadence = self.ledger.cadence_seconds or 1.0
        return min(max(1.0, cadence), _LONGEST_POLL_SECONDS)

    def step(self, now_seconds: float, stop: StopSignal) -> Step:
        """Read the next span, whole seconds only; nothing of it when told to stop meanwhile.

        Raises SourceAwayError, QueryError, and AnswerTooLargeError when even the smallest question
        is too large; nothing is lost by any of them, the span is read again.
        """
        live_end = math.floor(now_seconds - self._settings.settle_seconds) - _EDGE_SECONDS
        self._position = max(self._position, now_seconds - max(self._settings.past_seconds, 1.0))
        end = min(live_end, self._position + self._plan.chunk_seconds)
        try:
            entries = self._asked(self._position - self._overlap(), end, stop)
        except AnswerTooLargeError:
            self._instances = self._known_instances()
            if not self._plan.too_large(len(self._instances)):
                raise
            return Step((), is_live=False, was_too_large=True)
        if stop.is_set():
            return Step((), is_live=False)
        pages = self.ledger.pages(entries)
        self._advance(end, live_end)
        return Step(pages, is_live=end >= live_end)

    def absent(self, now_seconds: float) -> list[Absence]:
        """The targets that give nothing now, of jobs that have ever given samples: others are none
        of our business."""
        reasons = self._unscraped(now_seconds)
        told = {key: reason for key, reason in reasons.items() if key not in self.ledger.targets}
        for key, target in self.ledger.targets.items():
            silent_seconds = now_seconds - target.clock.last_seconds
            if silent_seconds > _patience(target.clock):
                told[key] = reasons.get(key, f"no new samples for {silent_seconds:.0f} s")
        return [
            Absence(self.ledger.origin(key), host_of(key[1]), f"{key[1]}: {reason}")
            for key, reason in sorted(told.items())
        ]

    def _unscraped(self, now_seconds: float) -> Mapping[TargetKey, str]:
        """The targets whose last scrape failed, with the reason where Prometheus tells it."""
        jobs = sorted({job for job, _ in self.ledger.targets})
        mine = f"job=~{alternatives(jobs)}" if jobs else ""
        matchers = ",".join(part for part in (mine, self._settings.matchers.strip(", ")) if part)
        entries = self._api.query(f"up{{{matchers}}} == 0", now_seconds)
        metrics = [entry["metric"] for entry in entries]
        reasons = self._api.scrape_errors() if metrics else {}
        found = [(one.get("job", ""), one.get("instance", "")) for one in metrics]
        return {
            key: f"Prometheus cannot scrape it: {reasons.get(key[1]) or 'it does not say why'}"
            for key in found
        }

    def _asked(self, start: float, end: float, stop: StopSignal) -> list[Entry]:
        entries: list[Entry] = []
        largest = 0
        for selector in self._selectors:
            for part in parts_of_instances(self._instances, self._plan.parts):
                if stop.is_set():
                    return []
                query = over(with_matcher(selector, part), end - start)
                answer = self._api.query(query, end)
                largest = max(largest, sum(len(one.get("values", ())) for one in answer))
                entries += answer
        self._plan.answered(largest)
        return entries

    def _advance(self, end: float, live_end: float) -> None:
        """Where all is read up to now, go back to the newest sample: what is stored late (remote
        write, Thanos) is waited for."""
        if end >= live_end:
            newest = self.ledger.newest_seconds
            end = max(min(end, newest), end - _WAITED_FOR_SECONDS)
        self._position = end

    def _overlap(self) -> float:
        """So much is asked for again: a scrape is stored when it ends, under the time it began."""
        cadence = self.ledger.cadence_seconds or 0.0
        return min(max(cadence, _SHORTEST_OVERLAP_SECONDS), _LONGEST_OVERLAP_SECONDS)

    def _known_instances(self) -> list[str]:
        if self.ledger.targets:
            return sorted({instance for _, instance in self.ledger.targets})
        counts = (
            self._api.query(f"count by (instance) ({selector})", None)
            for selector in self._selectors
        )
        return sorted({one["metric"].get("instance", "") for answer in counts for one in answer})


def _patience(clock: ScrapeClock) -> float:
    """How long a target may give nothing before that is told (seconds)."""
    return _PATIENCE_SECONDS + 2 * (clock.cadence_seconds or 0.0)
