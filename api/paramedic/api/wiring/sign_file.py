"""A service's signs of life for another process: the age of a file in the run's folder."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.wiring.liveness import LIMIT_SECONDS, BeatingStop

if TYPE_CHECKING:
    import threading

_LOG = logging.getLogger(__name__)
_EVERY_SECONDS = 1.0


class SignFile:
    """Gives signs by touching the file, at most once a second."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        """`clock` gives Unix seconds."""
        self._path = path
        self._clock = clock
        self._beaten_at: float | None = None
        self._is_failing = False

    def beat(self) -> None:
        """Give a sign. A folder that cannot be written is said once in the log."""
        now = self._clock()
        if self._beaten_at is not None and 0 <= now - self._beaten_at < _EVERY_SECONDS:
            return
        self._beaten_at = now
        try:
            self._path.touch()
            os.utime(self._path, (now, now))
        except OSError as error:
            if not self._is_failing:
                _LOG.warning("no sign of life can be given in %s: %s", self._path, error.strerror)
            self._is_failing = True
        else:
            self._is_failing = False


class SignReader:
    """Tells how old the last sign is; before the first one it counts from its own beginning."""

    def __init__(
        self, path: Path, clock: Callable[[], float], limit_seconds: float = LIMIT_SECONDS
    ) -> None:
        """`clock` gives Unix seconds."""
        self._path = path
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._began_at = clock()

    def silent_seconds(self) -> float:
        """Seconds since the last sign."""
        try:
            signed_at = self._path.stat().st_mtime
        except OSError:  # not there yet, or not to be read: nothing is known but our own age
            signed_at = self._began_at
        return max(0.0, self._clock() - signed_at)

    def is_alive(self) -> bool:
        """Whether the last sign is no older than the limit."""
        return self.silent_seconds() <= self._limit_seconds


def signed(stop: threading.Event, path: Path | None) -> threading.Event | BeatingStop:
    """The stop signal, which gives a sign in this file at every look where there is one."""
    return stop if path is None else BeatingStop(stop, SignFile(path, time.time))
