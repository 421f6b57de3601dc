"""The injector takes away the share that it was told to, and always lets go at the end."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.demo.injector import Duty, PinnedProcess, slow_down


class Sandbox:
    """A victim, a clock and a wait in one: time passes only while somebody waits."""

    def __init__(self, lives_seconds: float, ends_seconds: float, late: list[float]) -> None:
        self.now = 0.0
        self.sent: list[signal.Signals] = []
        self.stopped_seconds = 0.0
        self._stopped = False
        self._lives_seconds = lives_seconds
        self._ends_seconds = ends_seconds
        self._late = late

    def clock(self) -> float:
        return self.now

    def send(self, number: signal.Signals) -> bool:
        if self.now >= self._lives_seconds:
            return False
        self.sent.append(number)
        self._stopped = number == signal.SIGSTOP
        return True

    def wait(self, seconds: float) -> bool:
        passed = seconds + (self._late.pop() if self._late else 0.0)
        self.now += passed
        if self._stopped:
            self.stopped_seconds += passed
        return self.now >= self._ends_seconds


def run(lives: float = 1e9, ends: float = 10.0, late: list[float] | None = None) -> Sandbox:
    sandbox = Sandbox(lives, ends, late or [])
    slow_down(sandbox, Duty(), sandbox.clock, sandbox.wait)
    return sandbox


def test_half_of_the_time_is_taken_away() -> None:
    sandbox = run()
    assert sandbox.stopped_seconds == pytest.approx(5.0, abs=0.05)
    assert len(sandbox.sent) > 400


def test_it_always_ends_with_the_victim_running() -> None:
    for ends in (0.005, 0.02, 0.03, 0.041, 1.0):
        assert run(ends=ends).sent[-1] == signal.SIGCONT


def test_it_ends_when_the_victim_is_gone() -> None:
    sandbox = run(lives=1.0, ends=1e9)
    assert sandbox.now == pytest.approx(1.0, abs=0.05)


@given(st.lists(st.floats(min_value=0, max_value=0.03), max_size=200))
def test_turns_that_come_late_are_made_up_for(late: list[float]) -> None:
    sandbox = run(ends=20.0, late=late)
    assert sandbox.stopped_seconds / sandbox.now == pytest.approx(0.5, abs=0.02)


@given(st.floats(min_value=0, max_value=1e4), st.floats(min_value=0, max_value=1e4))
def test_a_pause_is_never_longer_than_a_period(elapsed: float, stopped: float) -> None:
    duty = Duty(period_seconds=0.04, stopped_share=0.5)
    assert 0.0 <= duty.next_stop_seconds(elapsed, stopped) <= 0.04


def test_a_pinned_process_takes_signals_until_it_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with PinnedProcess(child.pid) as victim:
        assert victim.send(signal.SIGKILL)
        child.wait(10)
        assert not victim.send(signal.SIGKILL)


def test_a_process_that_does_not_exist_cannot_be_pinned() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(10)
    with pytest.raises(ProcessLookupError):
        PinnedProcess(child.pid)
