"""One thread, one selector: file descriptors, a heap of deadlines and a pipe that wakes it up."""

from __future__ import annotations

import heapq
import itertools
import os
import selectors
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.clock import Clock

Callback = Callable[[], None]
_LONGEST_WAIT_SECONDS = 60.0
_WAKE_BYTES = 4096


@dataclass(order=True, slots=True)
class Timer:
    """Something that is due at a time; a cancelled one does nothing."""

    due_at: float
    number: int
    callback: Callback | None = field(compare=False)

    def cancel(self) -> None:
        """Forget about it. Cancelling twice is harmless."""
        self.callback = None


class EventLoop:
    """Calls back when a descriptor can be used or a time has come."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._timers: list[Timer] = []
        self._numbers = itertools.count()
        self._is_open = True
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.watch(self._wake_read, selectors.EVENT_READ, lambda _events: self._swallow())

    @property
    def wake_descriptor(self) -> int:
        """A byte written here wakes the loop; for `signal.set_wakeup_fd`."""
        return self._wake_write

    def wake(self) -> None:
        """Let `run_once` return soon. Safe from other threads."""
        if not self._is_open:
            return
        with suppress(BlockingIOError):  # a full pipe wakes the loop just as well
            os.write(self._wake_write, b"w")

    def watch(self, descriptor: int, events: int, callback: Callable[[int], None]) -> None:
        """Call back with the selector's events; replaces an earlier watch."""
        if descriptor in self._selector.get_map():
            self._selector.modify(descriptor, events, callback)
        else:
            self._selector.register(descriptor, events, callback)

    def unwatch(self, descriptor: int) -> None:
        """Stop watching; harmless when it is not watched."""
        with suppress(KeyError):
            self._selector.unregister(descriptor)

    def call_at(self, due_at: float, callback: Callback) -> Timer:
        """Call once at this monotonic time, or as soon after it as the loop comes to it."""
        timer = Timer(due_at, next(self._numbers), callback)
        heapq.heappush(self._timers, timer)
        return timer

    def call_after(self, delay_seconds: float, callback: Callback) -> Timer:
        """Call once after a delay."""
        return self.call_at(self._clock.monotonic() + delay_seconds, callback)

    def run_once(self) -> None:
        """Wait for the next thing to happen and do all that is due."""
        for key, events in self._selector.select(self._wait_seconds()):
            if self._still_watched(key):
                key.data(events)
        self._run_timers()

    def close(self) -> None:
        """Let go of the selector and the pipe."""
        self._is_open = False
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _still_watched(self, key: selectors.SelectorKey) -> bool:
        return self._selector.get_map().get(key.fd) == key

    def _wait_seconds(self) -> float:
        while self._timers and self._timers[0].callback is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return _LONGEST_WAIT_SECONDS
        return max(0.0, self._timers[0].due_at - self._clock.monotonic())

    def _run_timers(self) -> None:
        now = self._clock.monotonic()
        while self._timers and self._timers[0].due_at <= now:
            callback = heapq.heappop(self._timers).callback
            if callback is not None:
                callback()

    def _swallow(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake_read, _WAKE_BYTES)
