"""Scores all jobs that are judged, within a budget: a share of one core's time.

After each turn the thread rests as long as the budget wants. A job that is too large for its second
is scored as often as the budget allows: slots that come meanwhile wait, and of those beyond the
room for them the oldest are skipped and counted.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from paramedic.diagnosis.pattern_watch.feed import JobFeed
from paramedic.diagnosis.pattern_watch.report import PatternReport
from paramedic.diagnosis.pattern_watch.scoring import JobScoring
from paramedic.diagnosis.pattern_watch.serving import ServedModels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paramedic.diagnosis.pattern_watch.serving import ModelAccess, OpenedModel
    from paramedic.ingest.contract import JobName


@dataclass(frozen=True, slots=True)
class PatternWatchConfig:
    """How much time scoring may take."""

    budget_ratio: float = 0.5
    """Of one core's time, at most."""
    pause_seconds: float = 0.2
    """Between two turns, at least."""
    idle_seconds: float = 300.0
    """A job of which no slot has closed for so long is no longer told of. When it goes on it begins
    with what its windows hold."""

    def __post_init__(self) -> None:
        if not 0 < self.budget_ratio <= 1:
            raise ValueError(f"budget_ratio must be above 0 and at most 1, not {self.budget_ratio}")


@dataclass(slots=True, eq=False)
class _Work:
    """What is done for one feed."""

    asked: OpenedModel | None = None
    """The model for which whole windows were asked."""
    scoring: JobScoring | None = None
    skipped: int = 0
    """Of the feed's skipped slots, those that have been counted."""


class PatternWatch:
    """`follow` is for the thread that judges, `turn` for the one that scores, `report` for all."""

    def __init__(
        self, config: PatternWatchConfig, access: ModelAccess, clock: Callable[[], float]
    ) -> None:
        """`clock`: seconds, steady."""
        self._config = config
        self._clock = clock
        self._models = ServedModels(access)
        self._lock = threading.Lock()
        # A feed lives as long as the detector that it looks at.
        self._works: WeakKeyDictionary[JobFeed, _Work] = WeakKeyDictionary()
        self._counts: Counter[str] = Counter()
        self._seconds = 0.0
        self.report = PatternReport()
        """The newest."""

    def follow(self, job: JobName) -> JobFeed:
        """The onlooker of a job that is judged from now on."""
        feed = JobFeed(job, self._clock)
        with self._lock:
            self._works[feed] = _Work()
        return feed

    def turn(self) -> float | None:
        """Score what has come; so long to rest, in seconds. None: there never will be a model."""
        began = self._clock()
        with self._lock:
            works = list(self._works.items())
        if any(feed.is_full for feed, _ in works):
            self._models.look(began)
        if self._models.is_over:
            return None
        loaded = self._clock()
        for feed, work in works:
            self._follow_up(feed, work, loaded)
        self._seconds += self._clock() - loaded
        self._say_how_it_is(works)
        spent = self._clock() - began
        return max(self._config.pause_seconds, spent * (1 / self._config.budget_ratio - 1))

    def _follow_up(self, feed: JobFeed, work: _Work, now: float) -> None:
        opened = self._models.current
        if opened is None or not feed.is_full:
            return
        if now - feed.heard_at > self._config.idle_seconds:
            work.asked = work.scoring = None
            return
        if work.asked is not opened:
            work.asked = opened
            feed.ask()
        self._score(feed, work, opened)

    def _score(self, feed: JobFeed, work: _Work, opened: OpenedModel) -> None:
        """Slots come in order: whole windows first where rows, metrics or the model changed."""
        for handover in feed.take():
            if handover.is_whole:
                work.scoring = JobScoring(feed.job, opened, handover)
                self._counts["scorers_built"] += 1
            elif work.scoring is not None:
                work.scoring.take(handover)
                self._counts["slots_scored"] += 1
        skipped, work.skipped = feed.skipped - work.skipped, feed.skipped
        self._counts["slots_skipped"] += skipped

    def _say_how_it_is(self, works: Sequence[tuple[JobFeed, _Work]]) -> None:
        opened = self._models.current
        jobs: dict[JobName, JobScoring] = {
            feed.job: work.scoring for feed, work in works if work.scoring is not None
        }
        self.report = PatternReport(
            jobs={job: scoring.patterns() for job, scoring in jobs.items()},
            drift=None if opened is None else opened.watch.latest,
            scoring_seconds=self._seconds,
            counts={**self._counts, "models_refused": self._models.refused},
        )
