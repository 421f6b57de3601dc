"""SIGTERM and Ctrl-C as a request that a service takes when it comes to it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that is set when the process is asked to end. For the main thread."""
    stop = threading.Event()
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            signal.signal(number, lambda _number, _frame: stop.set())
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
