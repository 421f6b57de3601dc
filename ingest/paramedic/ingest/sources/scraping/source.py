"""The scraper as a source: every exporter asked once an interval, all from one thread."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import aiohttp

from paramedic.ingest.exposition.parser import ExpositionParser
from paramedic.ingest.sources.access import AccessError, HttpAccess
from paramedic.ingest.sources.port import (
    Sink,
    SourceAwayError,
    SourceError,
    StopSignal,
)
from paramedic.ingest.sources.scraping.fetching import fetch_page
from paramedic.ingest.sources.scraping.schedule import ScrapeSchedule, phase_of
from paramedic.ingest.sources.scraping.targets import Target

_HEADERS_AGE_SECONDS = 60.0
_LISTEN_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ScrapeSettings:
    """How exporters are asked."""

    interval_seconds: float = 1.0
    timeout_seconds: float = 3.0
    """A page that comes later than that would be late for its window."""
    retry_limit_seconds: float = 4.0
    """The longest pause between two tries at an exporter that is away."""
    page_limit_bytes: int = 16 * 1024 * 1024
    spread: float = 0.7
    """The share of the interval over which the exporters' moments are spread; the rest is left for
    their answers, so that a page comes in the second it belongs to."""
    access: HttpAccess = field(default_factory=HttpAccess)

    def __post_init__(self) -> None:
        times = (self.interval_seconds, self.timeout_seconds, self.retry_limit_seconds)
        if min(times) <= 0 or not math.isfinite(sum(times)) or not 0 <= self.spread < 1:
            raise SourceError(f"times must be above 0 s and spread in 0..1: {self}")


class ScrapeSource:
    """Scrapes exporters until told to stop; keeps one connection open to each."""

    def __init__(
        self,
        targets: Sequence[Target],
        settings: ScrapeSettings,
        clock: Callable[[], float],
    ) -> None:
        self.name = f"{len(targets)} exporters"
        self._settings = settings
        self._clock = clock
        self._targets = tuple(targets)
        self._parsers = {one.url: ExpositionParser(one.url, one.node) for one in targets}
        self._schedules = {target.url: self._schedule(target) for target in targets}
        self._headers: dict[str, str] = {}
        self._headers_taken = -math.inf
        self._under_way: set[str] = set()
        """URLs that are being asked now."""
        self._is_ending = False

    @property
    def missed(self) -> int:
        """Intervals in which an exporter was not asked though it was not away."""
        return sum(schedule.missed for schedule in self._schedules.values())

    def run(self, sink: Sink, stop: StopSignal) -> None:
        """Read until told to stop. Raises SourceError when the access settings cannot be used."""
        self._settings.access.request_headers()
        asyncio.run(self._run(sink, stop))

    async def _run(self, sink: Sink, stop: StopSignal) -> None:
        connector = aiohttp.TCPConnector(
            limit=0,
            ssl=self._settings.access.tls(),
            keepalive_timeout=10 * self._settings.interval_seconds,
        )
        timeout = aiohttp.ClientTimeout(total=self._settings.timeout_seconds)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
            asyncio.TaskGroup() as group,
        ):
            self._is_ending = False
            tasks = [
                (one.url, group.create_task(self._follow(session, one, sink)))
                for one in self._targets
            ]
            while not await asyncio.to_thread(stop.wait, _LISTEN_SECONDS):
                pass
            self._end(tasks)

    def _end(self, tasks: Sequence[tuple[str, asyncio.Task[None]]]) -> None:
        """Whoever is being asked may answer: asyncio loses a connection cut off in its making."""
        self._is_ending = True
        for url, task in tasks:
            if url not in self._under_way:
                task.cancel()

    async def _follow(self, session: aiohttp.ClientSession, target: Target, sink: Sink) -> None:
        schedule = self._schedules[target.url]
        while not self._is_ending:
            now = self._clock()
            await asyncio.sleep(schedule.next_start(now) - now)
            if schedule.begin(self._clock()):
                self._under_way.add(target.url)
                await self._scrape(session, target, sink)
                self._under_way.discard(target.url)

    async def _scrape(self, session: aiohttp.ClientSession, target: Target, sink: Sink) -> None:
        taken = self._clock()
        limit = self._settings.page_limit_bytes
        try:
            page = await fetch_page(session, target.url, self._fresh_headers(taken), limit)
        except (SourceAwayError, AccessError) as error:
            self._schedules[target.url].failed()
            sink.silent(target.url, target.node, str(error))
        else:
            self._schedules[target.url].succeeded()
            sink.page(self._parsers[target.url].parse(page, taken))

    def _fresh_headers(self, now: float) -> dict[str, str]:
        if not 0 <= now - self._headers_taken < _HEADERS_AGE_SECONDS:
            self._headers = self._settings.access.request_headers()
            self._headers_taken = now
        return self._headers

    def _schedule(self, target: Target) -> ScrapeSchedule:
        settings = self._settings
        phase = phase_of(target.url, settings.spread * settings.interval_seconds)
        return ScrapeSchedule(phase, settings.interval_seconds, settings.retry_limit_seconds)
