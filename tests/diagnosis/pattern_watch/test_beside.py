"""The thread of pattern scoring ends with what it stands beside, and never takes it along."""

from __future__ import annotations

import logging
import threading

import pytest

from diagnosis.pattern_watch.makings import JOB, SLOTS, Access, windows_at
from paramedic.diagnosis.pattern_watch.beside import scoring_beside
from paramedic.diagnosis.pattern_watch.errors import MissingPackagesError
from paramedic.diagnosis.pattern_watch.feed import JobFeed
from paramedic.diagnosis.pattern_watch.serving import ModelAccess
from paramedic.diagnosis.pattern_watch.watch import PatternWatch, PatternWatchConfig

PATIENCE_SECONDS = 60.0


def full(watch: PatternWatch) -> JobFeed:
    """A job whose window is full; the watch forgets it when this is let go."""
    feed = watch.follow(JOB)
    for at in range(SLOTS):
        feed.offer(windows_at(at))
    return feed


def test_it_turns_until_it_is_told_to_end() -> None:
    access, asked = Access(), threading.Event()

    def source() -> Access:
        asked.set()
        return access

    watch = PatternWatch(
        PatternWatchConfig(pause_seconds=0.0), ModelAccess(source, access.open_model), access.clock
    )
    kept = full(watch)
    with scoring_beside(watch) as thread:
        assert asked.wait(PATIENCE_SECONDS)
        assert thread.is_alive()
    assert not thread.is_alive()
    assert kept is not None


def test_without_the_packages_it_ends_by_itself_with_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def source() -> Access:
        raise MissingPackagesError("torch is not installed")

    access = Access()
    watch = PatternWatch(PatternWatchConfig(), ModelAccess(source, access.open_model), access.clock)
    kept = full(watch)
    with caplog.at_level(logging.WARNING), scoring_beside(watch) as thread:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
    (line,) = [record.message for record in caplog.records]
    assert line.endswith("verdicts go on without: torch is not installed")
    assert kept is not None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_failure_of_it_is_told_and_is_nobody_elses(caplog: pytest.LogCaptureFixture) -> None:
    def source() -> Access:
        raise ZeroDivisionError

    access = Access()
    access_that_fails = ModelAccess(source, access.open_model)
    watch = PatternWatch(PatternWatchConfig(), access_that_fails, access.clock)
    kept = full(watch)
    kept.ask()
    with scoring_beside(watch) as thread:
        thread.join(PATIENCE_SECONDS)
    kept.offer(windows_at(SLOTS))
    assert (kept.take(), watch.report.jobs) == ((), {})
    assert [record.message for record in caplog.records] == [
        "pattern scoring has failed and is over; verdicts go on"
    ]
