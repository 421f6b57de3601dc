"""The timeline says in a line what was seen, decided and done."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from paramedic.api.demo.observations import Observed
from paramedic.api.demo.pulse import Pulse
from paramedic.api.demo.screen import PlainScreen, RichScreen, open_screen
from paramedic.api.demo.timeline import describe, format_line
from paramedic.api.wiring.narration import Line, Theme
from paramedic.ingest.contract import (
    Event,
    EventKind,
    JobName,
    NodeName,
    TelemetryBatch,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def event(kind: EventKind, **details: str | int | bool | None) -> Observed:
    said = Event(
        NOON, kind, JobName("demo"), NodeName("node-0002"), rank=2, generation=1, details=details
    )
    return Observed(1.0, said)


@pytest.mark.parametrize(
    ("observed", "theme", "words"),
    [
        (event(EventKind.PROCESS_EXIT, signal=9), Theme.EVENT, "rank 2 on node-0002 ended with"),
        (event(EventKind.PROCESS_EXIT, exit_code=3), Theme.EVENT, "exit code 3"),
        (
            event(EventKind.PROCESS_EXIT, signal=9, ended_by="launcher", reason="no answer"),
            Theme.EVENT,
            "signal 9 (ended by the launcher: no answer)",
        ),
        (
            event(EventKind.PROCESS_EXIT, exit_code=1, expected=True),
            Theme.EVENT,
            "ended with exit code 1",
        ),
        (
            event(EventKind.MEMBERSHIP, change="replaced_by", by="node-0004"),
            Theme.ACTION,
            "rank 2 moves from node-0002 to node-0004",
        ),
        (event(EventKind.JOB_STATE, state="recovering"), Theme.ACTION, "job is recovering"),
        (event(EventKind.JOB_STATE, state="starting"), Theme.EVENT, "job is starting"),
        (
            event(EventKind.JOB_STATE, state="training", step=81, steps_lost=0),
            Theme.RECOVERY,
            "job trains (generation 1, step 81, 0 steps lost)",
        ),
        (event(EventKind.JOB_STATE, state="training"), Theme.RECOVERY, "trains (generation 1)"),
        (
            event(EventKind.JOB_STATE, state="finished", result="failed", reason="rank 2 ended"),
            Theme.EVENT,
            "job has failed: rank 2 ended (generation 1)",
        ),
        (
            event(EventKind.JOB_STATE, state="finished", result="finished", reason="all done"),
            Theme.EVENT,
            "job has finished (generation 1)",
        ),
        (event(EventKind.CHECKPOINT, result="saved"), Theme.EVENT, "checkpoint saved"),
    ],
)
def test_each_event_has_its_line(observed: Observed, theme: Theme, words: str) -> None:
    entry = describe(observed)
    assert entry is not None
    assert entry.theme is theme
    assert words in entry.text


def test_what_only_fills_the_screen_has_no_line() -> None:
    assert describe(event(EventKind.MEMBERSHIP, change="joined")) is None
    assert describe(Observed(1.0, TelemetryBatch(JobName("demo"), 0, 3, ()))) is None


def test_a_line_before_the_injection_has_no_time() -> None:
    line = Line(Theme.DEMO, "settling")
    assert format_line(line, None).strip().startswith("demo")
    assert format_line(line, -2.5).lstrip().startswith("-2.50 s")


def test_a_pipe_gets_plain_lines() -> None:
    out = io.StringIO()
    screen = open_screen(out)
    assert isinstance(screen, PlainScreen)
    screen.status("step 3")
    screen.line(Line(Theme.INJECTION, "SIGKILL to rank 2"), 0.0)
    screen.close()
    assert out.getvalue() == " +0.00 s  injection  SIGKILL to rank 2\n"


@given(
    st.lists(
        st.tuples(st.floats(0.0, 1.0), st.sampled_from(["status", "status", "status", "line"])),
        max_size=100,
    )
)
def test_a_pipe_is_never_quiet_for_ten_seconds_and_never_flooded(
    said: list[tuple[float, str]],
) -> None:
    now = [100.0]
    out = io.StringIO()
    screen = PlainScreen(out, lambda: now[0])
    written, spoke_at = 0, now[0]
    for seconds, what in said:
        now[0] += seconds
        if what == "line":
            screen.line(Line(Theme.EVENT, "job is starting"), None)
        else:
            screen.status("undisturbed reference run: step 3 of 400")
        lines = out.getvalue().count("\n")
        if lines > written:
            assert what == "line" or now[0] - spoke_at >= 9.0
            written, spoke_at = lines, now[0]
        assert now[0] - spoke_at < 10.0


def test_a_terminal_gets_the_same_words() -> None:
    out = io.StringIO()
    screen = RichScreen(Console(file=out, force_terminal=True, width=100))
    screen.status("step 3")
    screen.line(Line(Theme.VERDICT, "firing [P1] hang"), 3.0)
    screen.close()
    screen.close()
    assert "firing [P1] hang" in out.getvalue()


def test_the_pulse_tells_step_and_speed() -> None:
    pulse = Pulse()
    assert (pulse.step, pulse.steps_a_second(), pulse.trained_seconds(9.0)) == (None, 0.0, 0.0)
    for second in range(30):
        pulse.add(float(second), second * 4)
    assert pulse.step == 116
    assert pulse.steps_a_second() == pytest.approx(4.0)
    assert pulse.trained_seconds(31.0) == 30.0


def test_a_slow_rank_does_not_turn_the_pulse_back() -> None:
    pulse = Pulse()
    pulse.add(1.0, 10)
    pulse.add(1.1, 8)
    assert pulse.step == 10
