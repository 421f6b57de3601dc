"""Runs sources for a while and has everything examined that they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.ingest.collect.inbox import Inbox, Silence
from paramedic.ingest.collect.sourcing import SourceThreads
from paramedic.ingest.doctor.rhythm import middle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.ingest.agent.clock import Clock
    from paramedic.ingest.doctor.examination import Examination
    from paramedic.ingest.sources.port import Source, StopSignal

_QUEUE_VALUES = 4_000_000
_WAIT_FOR_ROOM_SECONDS = 10.0
_TURN_SECONDS = 0.2
_CLOSE_SECONDS = 2.0
_PATIENCE_SECONDS = 45.0
"""So much longer than asked for it is looked, while only the past of a Prometheus has been read."""
_NEAR_SECONDS = 5.0
_UNKNOWN_INTERVAL_SECONDS = 30.0


def look(
    sources: Sequence[Source],
    examination: Examination,
    clock: Clock,
    stop: StopSignal,
    seconds: float,
) -> float:
    """Look for so long, or until told to stop; how long it really was (seconds).

    Raises NoSourceLeftError when every source has ended by itself because of trouble.
    """
    inbox = Inbox(_QUEUE_VALUES, _WAIT_FOR_ROOM_SECONDS)
    threads = SourceThreads(sources, inbox)
    began = clock.monotonic_seconds()
    threads.start()
    try:
        while not stop.is_set() and threads.is_any_left():
            for item in inbox.take(_TURN_SECONDS):
                examination.take(item)
            for name, reason in threads.take_ended():
                examination.take(Silence(name, None, reason))
            looked = clock.monotonic_seconds() - began
            if looked >= seconds and is_over(examination, clock.wall_seconds(), looked - seconds):
                break
    finally:
        threads.close(_CLOSE_SECONDS)
    for item in inbox.take(0.0):
        examination.take(item)
    return clock.monotonic_seconds() - began


def is_over(examination: Examination, now_seconds: float, overtime_seconds: float) -> bool:
    """Whether what was read is of now, or patience is over."""
    if overtime_seconds >= _PATIENCE_SECONDS:
        return True
    return behind_seconds(examination, now_seconds) == 0.0


def behind_seconds(examination: Examination, now_seconds: float) -> float:
    """How far what was read is behind now; 0 where that is no more than the usual interval."""
    newest = examination.newest_seconds
    if newest is None:
        return 0.0
    rhythms = [*examination.rhythms.of(gpus=True), *examination.rhythms.of(gpus=False)]
    intervals = [one.page_interval for one in rhythms]
    usual = middle([one for one in intervals if one is not None]) or _UNKNOWN_INTERVAL_SECONDS
    behind = now_seconds - newest
    return behind if behind > _NEAR_SECONDS + 2 * usual else 0.0
