"""A service is told to stop by a signal, and the handlers of before come back."""

from __future__ import annotations

import os
import signal

import pytest

from paramedic.api.wiring.stopping import stop_on_signals

NUMBERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_becomes_a_request(number: signal.Signals) -> None:
    with stop_on_signals() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        assert stop.wait(5.0)


def test_the_handlers_of_before_come_back() -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    with stop_on_signals():
        assert [signal.getsignal(number) for number in NUMBERS] != before
    assert [signal.getsignal(number) for number in NUMBERS] == before
