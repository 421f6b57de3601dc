"""Looking lasts as long as it was asked to, and until the past of a Prometheus has been read."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from ingest.doctor.looked import START, Exporters, examination, seen_after
from paramedic.ingest.collect.errors import NoSourceLeftError
from paramedic.ingest.doctor.checks import Level
from paramedic.ingest.doctor.looking import behind_seconds, is_over, look
from paramedic.ingest.doctor.report import report_of
from paramedic.ingest.sources.port import Sink, SourceError, StopSignal


class FastClock:
    """A second passes whenever it is asked."""

    def __init__(self) -> None:
        self.now = 0.0

    def wall_seconds(self) -> float:
        return START + self.now

    def monotonic_seconds(self) -> float:
        self.now += 1.0
        return self.now


class Telling:
    """A source that gives some pages and waits to be told to end."""

    name = "telling"

    def __init__(self, tell: Callable[[Sink], None]) -> None:
        self._tell = tell
        self.is_ended = False

    def run(self, sink: Sink, stop: StopSignal) -> None:
        self._tell(sink)
        stop.wait()
        self.is_ended = True


@pytest.mark.long
def test_everything_that_comes_is_examined_and_the_source_is_ended() -> None:
    seen = examination()
    source = Telling(lambda sink: sink.page(Exporters().gpus()))
    looked = look([source], seen, FastClock(), threading.Event(), 3.0)
    assert (seen.pages, source.is_ended) == (1, True)
    assert looked >= 3.0


@pytest.mark.long
def test_a_source_that_ends_beside_another_is_told_as_silent() -> None:
    def refuse(_sink: Sink) -> None:
        raise SourceError("no such topic")

    seen = examination()
    sources = [Telling(lambda sink: sink.page(Exporters().gpus())), Telling(refuse)]
    look(sources, seen, FastClock(), threading.Event(), 3.0)
    assert [one.reason for one in seen.silent.values()] == ["no such topic"]


def test_a_signal_ends_it_at_once() -> None:
    stop = threading.Event()
    stop.set()
    assert look([Telling(lambda _sink: None)], examination(), FastClock(), stop, 1e9) < 10


def test_a_source_that_can_never_work_is_an_error() -> None:
    def refuse(_sink: Sink) -> None:
        raise SourceError("no such token")

    with pytest.raises(NoSourceLeftError, match="no such token"):
        look([Telling(refuse)], examination(), FastClock(), threading.Event(), 1e9)


@pytest.mark.parametrize(
    ("behind_seconds", "overtime_seconds", "over"),
    [(0.0, 0.0, True), (6.0, 0.0, True), (60.0, 0.0, False), (60.0, 45.0, True)],
)
def test_the_past_is_read_to_its_end_within_patience(
    behind_seconds: float, overtime_seconds: float, over: bool
) -> None:
    exporters = Exporters()
    seen = seen_after(*(exporters.gpus(second=START + at) for at in range(3)))
    assert is_over(seen, START + 2 + behind_seconds, overtime_seconds) is over


def test_what_could_not_be_read_in_time_is_told() -> None:
    exporters = Exporters()
    seen = seen_after(*(exporters.gpus(second=START + at) for at in range(3)))
    behind = behind_seconds(seen, START + 62)
    (check,) = [one for one in report_of(seen, 60.0, behind).checks if "ago" in one.text]
    assert (check.level, behind) == (Level.WARNING, 60.0)
    assert "--matchers" in str(check.remedies)
    assert behind_seconds(examination(), START) == 0.0


def test_where_nothing_comes_nothing_is_waited_for() -> None:
    assert is_over(examination(), START, 0.0)
