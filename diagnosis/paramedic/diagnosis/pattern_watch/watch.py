"""Scores all jobs that are judged, within a budget: a share of one core's time.

After each turn the thread rests as long as the budget wants. A job that is too large for its second
is scored as often as the budget allows: slots that come meanwhile wait, and of those beyond the
room for them the oldest are skipped and counted.

Whatever goes wrong with one job ends the scoring of that job alone, with a line and a count, until
another model is in use or the job has been silent.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from paramedic.diagnosis.pattern_watch.feed import JobFeed
from paramedic.diagnosis.pattern_watch.report import PatternReport
from paramedic.diagnosis.pattern_watch.scoring import JobScoring
from paramedic.diagnosis.pattern_watch.serving import ServedModels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paramedic.diagnosis.pattern_watch.report import JobPatterns
    from paramedic.diagnosis.pattern_watch.serving import ModelAccess, OpenedModel
    from paramedic.ingest.contract import JobName

_LOG = logging.getLogger(__name__)


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
    patterns: JobPatterns | None = None
    """What is told of the job."""
    skipped: int = 0
    """Of the feed's skipped slots, those that have been counted."""

    def stop(self) -> None:
        """The job is neither scored nor told of."""
        self.scoring = self.patterns = None


class PatternWatch:
    """`follow` is for the thread that judges, `turn` and `give_up` are for the one that scores."""

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
        self.ending = threading.Event()
        """Set by any thread, it ends a turn that is going on soon."""
        self.report = PatternReport()
        """The newest; for all threads."""

    def follow(self, job: JobName) -> JobFeed:
        """The onlooker of a job that is judged from now on."""
        feed = JobFeed(job, self._clock)
        with self._lock:
            self._works[feed] = _Work()
        return feed

    def turn(self) -> float | None:
        """Score what has come; so long to rest, in seconds. None: there never will be a model."""
        began = self._clock()
        works = self._all()
        if any(feed.is_full for feed, _ in works):
            self._models.look(began)
        if self._models.is_over:
            return None
        loaded = self._clock()
        for feed, work in works:
            if self.ending.is_set():
                break
            self._follow_up(feed, work, loaded)
        self._seconds += self._clock() - loaded
        self._say_how_it_is(works)
        spent = self._clock() - began
        return max(self._config.pause_seconds, spent * (1 / self._config.budget_ratio - 1))

    def give_up(self) -> None:
        """There will be no more turns: nothing is copied any more, and no job is told of."""
        for feed, work in self._all():
            feed.leave()
            work.stop()
        self._say_how_it_is(())

    def _all(self) -> Sequence[tuple[JobFeed, _Work]]:
        with self._lock:
            return list(self._works.items())

    def _follow_up(self, feed: JobFeed, work: _Work, now: float) -> None:
        opened = self._models.current
        if opened is None or not feed.is_full:
            return
        if now - feed.heard_at > self._config.idle_seconds:
            work.asked = None
            work.stop()
            return
        if work.asked is not opened:
            work.asked = opened
            feed.ask()
        try:
            self._score(feed, work, opened)
        except Exception as error:  # noqa: BLE001 (other jobs must not suffer from it)
            feed.leave()
            work.stop()
            self._counts["jobs_failed"] += 1
            _LOG.warning("%s", _failure(feed.job, error))

    def _score(self, feed: JobFeed, work: _Work, opened: OpenedModel) -> None:
        """Slots come in order: whole windows first where rows, metrics or the model changed."""
        taken = feed.take()
        for handover in taken:
            if handover.is_whole:
                work.scoring = JobScoring(feed.job, opened, handover, self.ending.is_set)
                self._counts["scorers_built"] += 1
            elif work.scoring is not None:
                work.scoring.take(handover)
                self._counts["slots_scored"] += 1
        skipped, work.skipped = feed.skipped - work.skipped, feed.skipped
        self._counts["slots_skipped"] += skipped
        if taken and work.scoring is not None:
            work.patterns = work.scoring.patterns()

    def _say_how_it_is(self, works: Sequence[tuple[JobFeed, _Work]]) -> None:
        opened = self._models.current
        self.report = PatternReport(
            jobs={feed.job: work.patterns for feed, work in works if work.patterns is not None},
            drift=None if opened is None else opened.watch.latest,
            scoring_seconds=self._seconds,
            counts={**self._counts, "models_refused": self._models.refused},
        )


def _failure(job: JobName, error: Exception) -> str:
    """What and where, in one line."""
    calls = traceback.extract_tb(error.__traceback__)
    where = " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in calls)
    return (
        f"job {job}: scoring has failed and is over for this job until another model is in use, "
        f"verdicts and other jobs go on: {error!r} at {where}; please report it"
    )
