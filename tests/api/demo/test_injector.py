"""The injector takes away the share that it was told to, and always lets go at the end."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.api.demo.injector import PinnedProcess, Quota, measure_share, slow_down


class Sandbox:
    """A victim, a clock and a wait in one: time passes only while somebody waits."""

    def __init__(
        self, lives_seconds: float, ends_seconds: float, late: list[float], appetite: float
    ) -> None:
        self.now = 0.0
        self.used = 0.0
        self.sent: list[signal.Signals] = []
        self._stopped = False
        self._lives_seconds = lives_seconds
        self._ends_seconds = ends_seconds
        self._late = late
        self._appetite = appetite

    def clock(self) -> float:
        return self.now

    def processor_seconds(self) -> float:
        return self.used

    def send(self, number: signal.Signals) -> bool:
        if self.now >= self._lives_seconds:
            return False
        self.sent.append(number)
        self._stopped = number == signal.SIGSTOP
        return True

    def wait(self, seconds: float) -> bool:
        passed = seconds + (self._late.pop() if self._late else 0.0)
        self.now += passed
        self.used += 0.0 if self._stopped else self._appetite * passed
        return self.now >= self._ends_seconds


def run(
    lives: float = 1e9, ends: float = 10.0, late: list[float] | None = None, appetite: float = 0.5
) -> Sandbox:
    sandbox = Sandbox(lives, ends, late or [], appetite)
    slow_down(sandbox, Quota(0.25), sandbox.clock, sandbox.wait)
    return sandbox


@pytest.mark.parametrize("appetite", [0.3, 0.5, 1.0])
def test_however_hungry_the_victim_gets_its_quota_and_no_more(appetite: float) -> None:
    assert run(appetite=appetite).used == pytest.approx(2.5, abs=0.05)


def test_a_victim_below_its_quota_is_never_stopped() -> None:
    sandbox = run(appetite=0.2)
    assert signal.SIGSTOP not in sandbox.sent
    assert sandbox.used == pytest.approx(2.0, abs=0.01)


def test_it_always_ends_with_the_victim_running() -> None:
    for ends in (0.005, 0.02, 0.03, 0.041, 1.0):
        assert run(ends=ends).sent[-1] == signal.SIGCONT


def test_it_ends_when_the_victim_is_gone() -> None:
    sandbox = run(lives=1.0, ends=1e9)
    assert sandbox.now == pytest.approx(1.0, abs=0.05)


@given(st.lists(st.floats(min_value=0, max_value=0.03), max_size=200))
def test_turns_that_come_late_do_not_change_the_quota(late: list[float]) -> None:
    sandbox = run(ends=20.0, late=late)
    assert sandbox.used / sandbox.now <= 0.25 + 0.02


@given(st.floats(0, 1), st.floats(-1, 0.02), st.floats(0, 100), st.floats(0, 100))
def test_idle_time_is_not_saved_up(share: float, left: float, passed: float, used: float) -> None:
    assert Quota(share, credit_seconds=0.02).left(left, passed, used) <= 0.02


def test_the_usual_share_is_what_the_victim_used_meanwhile() -> None:
    sandbox = Sandbox(1e9, 1e9, [], 0.4)
    assert measure_share(sandbox, 3.0, sandbox.clock, sandbox.wait) == pytest.approx(0.4)


def test_the_processor_time_of_a_real_process_grows_while_it_works() -> None:
    code = "import sys\nwhile True: sys.stdout.write('.') and sys.stdout.flush()"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child, PinnedProcess(child.pid) as victim:
        before = victim.processor_seconds()
        child.stdout.read(20_000)
        assert victim.processor_seconds() > before
        child.kill()


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
