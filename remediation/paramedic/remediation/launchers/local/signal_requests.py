"""Signals as requests that the loop takes when it comes to them; nothing happens in a handler."""

from __future__ import annotations

import signal
from collections import deque
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import FrameType, TracebackType


class SignalRequests:
    """While entered, SIGINT, SIGTERM and SIGHUP are collected. For the main thread only."""

    def __init__(self, wake_descriptor: int) -> None:
        """A byte is written to the descriptor by the C handler, so that no select misses it."""
        self._wake_descriptor = wake_descriptor
        self._wake_before = -1
        self._seen: deque[signal.Signals] = deque()
        self._before: list[tuple[signal.Signals, object]] = []

    def __enter__(self) -> Self:
        self._wake_before = signal.set_wakeup_fd(self._wake_descriptor, warn_on_full_buffer=False)
        self._collect(signal.SIGINT)
        self._collect(signal.SIGTERM)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup asked for
            self._collect(signal.SIGHUP)
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)  # type: ignore[arg-type] # what getsignal gave
        signal.set_wakeup_fd(self._wake_before)

    def take(self) -> signal.Signals | None:
        """The oldest signal that has not been taken, or None."""
        return self._seen.popleft() if self._seen else None

    def _collect(self, number: signal.Signals) -> None:
        self._before.append((number, signal.getsignal(number)))
        signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._seen.append(signal.Signals(number))
