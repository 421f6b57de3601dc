"""A service is told to stop by a signal, and the handlers of before come back."""

from __future__ import annotations

import os
import signal

import pytest

from paramedic.api.wiring.stopping import signals_held, stop_on_signals

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


def test_work_is_not_torn_and_the_first_signal_takes_effect_when_it_is_over() -> None:
    told: list[bool] = []

    def work() -> None:
        with signals_held() as held:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGHUP)
            told.append(held.have_come())

    with pytest.raises(KeyboardInterrupt):
        work()
    assert told == [True]
    with signals_held() as held:
        assert not held.have_come()


def test_a_signal_that_is_ignored_is_no_reason_to_end() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_held() as held:
            signal.raise_signal(signal.SIGHUP)
        assert not held.have_come()
    finally:
        signal.signal(signal.SIGHUP, before)
