"""Sources run in threads of their own, and how each of them ends is known."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from paramedic.ingest.collect.errors import NoSourceLeftError
from paramedic.ingest.collect.inbox import Inbox
from paramedic.ingest.collect.sourcing import SourceThreads
from paramedic.ingest.sources.port import Sink, SourceError, StopSignal


class Scripted:
    def __init__(self, name: str, script: Callable[[StopSignal], None]) -> None:
        self.name = name
        self._script = script

    def run(self, _sink: Sink, stop: StopSignal) -> None:
        self._script(stop)


def waits(stop: StopSignal) -> None:
    stop.wait(30)


def ends(_stop: StopSignal) -> None:
    """At once."""


def cannot(_stop: StopSignal) -> None:
    raise SourceError("no such host")


def is_broken(_stop: StopSignal) -> None:
    raise ZeroDivisionError


def started(*sources: Scripted) -> SourceThreads:
    threads = SourceThreads(sources, Inbox(1000, 0.0))
    threads.start()
    return threads


def until_ended(threads: SourceThreads, count: int) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    turn = threading.Event()
    for _ in range(1000):
        found += threads.take_ended()
        if len(found) >= count:
            break
        turn.wait(0.01)
    return found


def test_sources_that_are_told_to_stop_have_not_ended_by_themselves() -> None:
    threads = started(Scripted("one", waits), Scripted("two", waits))
    assert threads.is_any_left()
    threads.close(10.0)
    assert threads.take_ended() == []


def test_a_source_that_can_never_work_is_told_and_the_others_go_on() -> None:
    threads = started(Scripted("bad", cannot), Scripted("good", waits))
    assert until_ended(threads, 1) == [("bad", "no such host")]
    assert threads.is_any_left()
    threads.close(10.0)


def test_when_all_have_come_to_their_end_nothing_is_wrong() -> None:
    threads = started(Scripted("one", ends), Scripted("two", ends))
    until_ended(threads, 2)
    assert not threads.is_any_left()
    threads.close(10.0)


def test_when_none_is_left_because_of_trouble_the_reasons_are_told() -> None:
    threads = started(Scripted("one", ends), Scripted("two", cannot))
    until_ended(threads, 2)
    with pytest.raises(NoSourceLeftError, match=r"^no such host$"):
        threads.is_any_left()
    threads.close(10.0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_ours_in_a_source_is_noted_too() -> None:
    threads = started(Scripted("broken", is_broken), Scripted("good", waits))
    ((name, reason),) = until_ended(threads, 1)
    assert name == "broken"
    assert "please report it" in reason
    threads.close(10.0)
