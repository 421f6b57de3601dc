"""What crosses from the thread that judges to the one that scores: every slot once, or counted."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.pattern_watch.makings import FIRST, JOB, SLOTS, Clock, windows_at
from diagnosis.playing import tell
from diagnosis.synthetic import JOB as PLAYED
from diagnosis.synthetic import Scene
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.pattern_watch.feed import ROOM_SLOTS, Handover, JobFeed
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName


def full_feed(clock: Clock | None = None) -> JobFeed:
    """A feed that is asked and has seen one window's worth of slots; the last is number 5."""
    feed = JobFeed(JOB, clock or Clock())
    feed.ask()
    for at in range(SLOTS):
        feed.offer(windows_at(at))
    return feed


def numbers(handover: Handover) -> list[int]:
    """The slots of a handover, by what its values say."""
    return [int(value) for value in handover.windows[Entity.GPU].values[0, 0]]


def test_before_anybody_asks_nothing_is_copied() -> None:
    feed = JobFeed(JOB, Clock())
    for at in range(20):
        feed.offer(windows_at(at))
    assert (feed.take(), feed.skipped, feed.is_full) == ((), 0, True)


def test_nothing_is_handed_over_before_the_window_is_full() -> None:
    feed = JobFeed(JOB, Clock())
    feed.ask()
    for at in range(SLOTS - 1):
        feed.offer(windows_at(at))
    assert (feed.take(), feed.is_full) == ((), False)


def test_first_comes_the_whole_window_then_every_slot_once() -> None:
    feed = full_feed()
    (whole,) = feed.take()
    assert (whole.is_whole, numbers(whole)) == (True, [0, 1, 2, 3, 4, 5])
    for at in (6, 7):
        feed.offer(windows_at(at))
    assert [(one.is_whole, numbers(one), one.second) for one in feed.take()] == [
        (False, [6], FIRST + 6),
        (False, [7], FIRST + 7),
    ]
    assert feed.take() == ()


@pytest.mark.parametrize(
    "change", [{"nodes": 4}, {"metrics": ("gpu_power_watts",)}, {"nodes": 4, "generation": 1}]
)
def test_with_other_rows_or_metrics_the_whole_window_comes_again(change: dict[str, int]) -> None:
    feed = full_feed()
    feed.take()
    feed.offer(windows_at(6))
    feed.offer(windows_at(7, **change))  # type: ignore[arg-type]
    feed.offer(windows_at(8, **change))  # type: ignore[arg-type]
    whole, newest = feed.take()
    assert (whole.is_whole, numbers(whole)) == (True, [2, 3, 4, 5, 6, 7])
    assert (newest.is_whole, numbers(newest)) == (False, [8])
    assert feed.skipped == 0


@pytest.mark.parametrize(("generation", "width", "at"), [(0, 2, 6), (0, 1, 0)])
def test_another_run_or_width_begins_with_a_full_window_of_its_own(
    generation: int, width: int, at: int
) -> None:
    feed = full_feed()
    for step in range(SLOTS - 1):
        feed.offer(windows_at(at + step, generation=generation, width=width))
    assert (feed.take(), feed.is_full) == ((), False)
    feed.offer(windows_at(at + SLOTS - 1, generation=generation, width=width))
    (whole,) = feed.take()
    assert (whole.is_whole, whole.windows[Entity.GPU].slot_seconds) == (True, width)


def test_a_role_that_is_told_later_has_the_job_begun_anew() -> None:
    feed = full_feed()
    feed.take()
    feed.hear(
        Event(
            datetime.fromtimestamp(FIRST, UTC),
            EventKind.MEMBERSHIP,
            JOB,
            NodeName("n1"),
            details={"change": "joined", "pipeline_stage": 1},
        )
    )
    feed.offer(windows_at(6))
    (whole,) = feed.take()
    assert whole.description is not None
    assert [(one.name, one.pipeline_stage) for one in whole.description.nodes] == [("n1", 1)]


def test_what_was_handed_over_is_not_written_to_any_more() -> None:
    feed = full_feed()
    feed.take()
    windows = windows_at(6)
    feed.offer(windows)
    windows[Entity.GPU].values[:] = np.nan
    assert numbers(feed.take()[0]) == [6]


def test_a_detector_shows_its_onlooker_every_slot_and_says_the_same() -> None:
    scene = Scene(seconds=90, slow={2: 2.0}).batches()
    feed = JobFeed(PLAYED, Clock())
    feed.ask()
    seen = tell(DetectorConfig().build(PLAYED, feed), scene)
    assert seen == tell(DetectorConfig().build(PLAYED), scene)
    whole, *newest = feed.take()
    assert whole.is_whole
    assert set(whole.windows) == {Entity.NODE, Entity.RANK}
    assert len(newest) == ROOM_SLOTS
    assert whole.second + ROOM_SLOTS + feed.skipped == newest[-1].second


@given(st.lists(st.sampled_from(["slot", "slot", "slot", "take", "ask", "row"]), max_size=60))
def test_every_slot_is_handed_over_in_order_once_or_counted_or_held_by_a_whole_window(
    steps: list[str],
) -> None:
    feed, at, nodes, missed = full_feed(), SLOTS - 1, 3, 0
    newest = FIRST + at
    feed.take()
    for step in [*steps, "slot", "take"]:
        nodes += step == "row"
        if step in ("slot", "row"):
            at += 1
            feed.offer(windows_at(at, nodes=nodes))
        elif step == "ask":
            feed.ask()
        else:
            for handover in feed.take():
                begins = handover.windows[Entity.GPU].first_second
                missed += 0 if handover.is_whole else begins - newest - 1
                assert handover.second > newest
                newest = handover.second
    assert newest == FIRST + at
    if {"ask", "row"}.isdisjoint(steps):
        assert missed == feed.skipped
    else:  # what was let go and counted may come with a whole window after all
        assert missed <= feed.skipped
