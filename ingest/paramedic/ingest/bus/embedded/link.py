"""One connection to the embedded broker, in frames, with a bound on every wait."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from paramedic.ingest.bus.embedded.address import checked_path
from paramedic.ingest.bus.embedded.frames import Frame, FrameReader
from paramedic.ingest.contract import BusUnavailableError

_CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client waits for its broker."""

    connect_seconds: float = 5.0
    """For a broker that does not answer at the start."""
    reconnect_seconds: float = 30.0
    """For a broker that has gone away to come back."""
    retry_seconds: float = 0.05
    """Between two attempts."""


@dataclass(frozen=True, slots=True)
class Timing:
    """A client's patience and its clock."""

    patience: Patience = Patience()
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


class Link:
    """A connected socket. Every failure is an OSError, after which the link is of no use."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._reader = FrameReader()
        self._frames: deque[Frame] = deque()

    @classmethod
    def open(cls, path: Path, timeout_seconds: float) -> Self:
        """Connect. Raises OSError when no broker answers there."""
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connected.settimeout(max(timeout_seconds, 0.001))
            connected.connect(str(path))
        except OSError:
            connected.close()
            raise
        return cls(connected)

    def send(self, data: bytes, timeout_seconds: float) -> None:
        """Send all of it within the time-out."""
        self._socket.settimeout(max(timeout_seconds, 0.001))
        self._socket.sendall(data)

    def receive(self, timeout_seconds: float) -> list[Frame]:
        """Frames that have arrived, waiting at most the time-out; empty when there are none.

        Raises FrameError when the peer does not speak the protocol.
        """
        self._socket.settimeout(max(timeout_seconds, 0.0))
        try:
            data = self._socket.recv(_CHUNK_BYTES)
        except (TimeoutError, BlockingIOError):
            return []
        if not data:
            raise ConnectionResetError("the broker closed the connection")
        return self._reader.feed(data)

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()


def open_patiently(path: Path, timing: Timing, timeout_seconds: float) -> Link:
    """Connect, trying again until the time-out.

    Raises BusAddressError when the path can hold no socket, BusUnavailableError when nothing
    answered in time.
    """
    checked_path(path)
    deadline = timing.clock() + timeout_seconds
    while True:
        remaining = deadline - timing.clock()
        try:
            return Link.open(path, remaining)
        except OSError as error:
            if remaining <= timing.patience.retry_seconds:
                raise unavailable(path, timeout_seconds, error) from error
        timing.pause(timing.patience.retry_seconds)


def unavailable(path: Path, waited_seconds: float, reason: object) -> BusUnavailableError:
    """The one line that says who does not answer and what to do."""
    return BusUnavailableError(
        f"no broker answers at {path} (after {waited_seconds:g} s, {reason}): is the supervisor"
        " of that run still alive?"
    )
