"""One step of reading a Prometheus: the next span of time, all series, every sample once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.sources.port import RawPage
from paramedic.ingest.sources.prometheus.client import AnswerTooLargeError, Entry, QueryApi
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.plan import QueryPlan
from paramedic.ingest.sources.prometheus.queries import (
    over,
    parts_of_instances,
    quoted,
    selectors,
    with_matcher,
)
from paramedic.ingest.sources.prometheus.samples import SampleLedger

_SHORTEST_OVERLAP_SECONDS = 2.0
_LONGEST_OVERLAP_SECONDS = 10.0
_WAITED_FOR_SECONDS = 60.0
_LONGEST_POLL_SECONDS = 5.0
_EDGE_SECONDS = 0.001  # Prometheus' resolution; a range includes its end


@dataclass(frozen=True, slots=True)
class Step:
    """What one step gave."""

    pages: Sequence[RawPage]
    is_live: bool
    """Whether everything up to now has been read."""


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

    def step(self, now_seconds: float) -> Step:
        """Read the next span, whole seconds only.

        Raises SourceAwayError, QueryError, and AnswerTooLargeError when even the smallest question
        is too large; nothing is lost by any of them, the span is read again.
        """
        live_end = math.floor(now_seconds - self._settings.settle_seconds) - _EDGE_SECONDS
        self._position = max(self._position, now_seconds - max(self._settings.past_seconds, 1.0))
        entries, end = self._entries(live_end)
        pages = self.ledger.pages(entries)
        self._advance(end, live_end)
        return Step(pages, is_live=end >= live_end)

    def down(self, now_seconds: float) -> Mapping[str, str]:
        """The instances that Prometheus could not scrape, with the reason; only of jobs that have
        given samples, since others are none of our business."""
        jobs = sorted({job for job, _ in self.ledger.clocks})
        mine = f"job=~{quoted('|'.join(_escaped(job) for job in jobs))}" if jobs else ""
        matchers = ",".join(part for part in (mine, self._settings.matchers.strip(", ")) if part)
        entries = self._api.query(f"up{{{matchers}}} == 0", now_seconds)
        instances = sorted({entry["metric"].get("instance", "") for entry in entries})
        reasons = self._api.scrape_errors() if instances else {}
        return {one: reasons.get(one) or "the scrape failed" for one in instances}

    def _entries(self, live_end: float) -> tuple[list[Entry], float]:
        """The answers about the longest span that the server gives at once, and the span's end."""
        while True:
            end = min(live_end, self._position + self._plan.chunk_seconds)
            try:
                return self._asked(self._position - self._overlap(), end), end
            except AnswerTooLargeError:
                self._instances = self._known_instances()
                if not self._plan.too_large(len(self._instances)):
                    raise

    def _asked(self, start: float, end: float) -> list[Entry]:
        entries: list[Entry] = []
        largest = 0
        for selector in self._selectors:
            for part in parts_of_instances(self._instances, self._plan.parts):
                query = over(with_matcher(selector, part), end - start)
                answer = self._api.query(query, end)
                largest = max(largest, sum(len(one.get("values", ())) for one in answer))
                entries += answer
        self._plan.answered(largest)
        return entries

    def _advance(self, end: float, live_end: float) -> None:
        """Up to the newest sample: what is stored late (remote write, Thanos) is waited for."""
        if end >= live_end - _WAITED_FOR_SECONDS:
            newest = max(self._position, self.ledger.newest_seconds)
            end = max(min(end, newest), end - _WAITED_FOR_SECONDS)
        self._position = max(self._position, end)

    def _overlap(self) -> float:
        """So much is asked for again: a scrape is stored when it ends, under the time it began."""
        cadence = self.ledger.cadence_seconds or 0.0
        return min(max(cadence, _SHORTEST_OVERLAP_SECONDS), _LONGEST_OVERLAP_SECONDS)

    def _known_instances(self) -> list[str]:
        if self.ledger.clocks:
            return sorted({instance for _, instance in self.ledger.clocks})
        counts = (
            self._api.query(f"count by (instance) ({selector})", None)
            for selector in self._selectors
        )
        return sorted({one["metric"].get("instance", "") for answer in counts for one in answer})


def _escaped(text: str) -> str:
    return "".join(c if c.isalnum() or c in "_-/ " else f"\\{c}" for c in text)
