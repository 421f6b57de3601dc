"""SIGTERM and Ctrl-C as a request that a service, or a piece of work, takes when it comes to it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_NUMBERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that is set when the process is asked to end. For the main thread."""
    stop = threading.Event()
    before = {number: signal.getsignal(number) for number in _NUMBERS}
    try:
        for number in _NUMBERS:
            signal.signal(number, lambda _number, _frame: stop.set())
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(slots=True)
class HeldSignals:
    """What has come while signals were held."""

    numbers: list[int] = field(default_factory=list)

    def have_come(self) -> bool:
        """Whether the process was asked to end."""
        return bool(self.numbers)


@contextmanager
def signals_held() -> Iterator[HeldSignals]:
    """A stretch that no signal tears: the first that came takes effect when it is over.

    Whoever works in it asks now and then, and ends early by himself. A signal that is ignored stays
    so. For the main thread.
    """
    held = HeldSignals()
    before = {number: signal.getsignal(number) for number in _NUMBERS}
    heeded = {number: one for number, one in before.items() if one is not signal.SIG_IGN}
    try:
        for number in heeded:
            signal.signal(number, lambda number, _frame: held.numbers.append(number))
        yield held
    finally:
        for number, handler in heeded.items():
            signal.signal(number, handler)
        if held.numbers:
            signal.raise_signal(signal.Signals(held.numbers[0]))
