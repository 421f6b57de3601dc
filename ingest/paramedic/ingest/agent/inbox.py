"""Where the trainers' datagrams arrive: a Unix datagram socket, and the fake that tests use.

The kernel bounds the queue (`net.unix.max_dgram_qlen`, 10 by default) and turns a sender away when
it is full, so no trainer ever waits for the agent. That is also why the agent reads all the time.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from paramedic.ingest.agent.clock import FakeClock
from paramedic.ingest.agent.errors import AgentSetupError

_LARGEST_DATAGRAM_BYTES = 65_536
_MOST_AT_ONCE = 256
"""Datagrams read in one go, so that a flood cannot keep the agent from its ticks."""


class Inbox(Protocol):
    """Receives datagrams."""

    def receive(self, timeout_seconds: float) -> list[bytes]:
        """What has arrived, waiting at most the time-out for the first."""
        ...

    def close(self) -> None:
        """Stop receiving. Closing twice is harmless."""
        ...


class UnixInbox:
    """A Unix datagram socket, made and removed by the agent; mode 0600.

    Raises AgentSetupError when the socket cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            self._socket.bind(os.fspath(path))
            path.chmod(0o600)
        except OSError as error:
            self._socket.close()
            raise AgentSetupError(
                f"telemetry socket {path}: {error.strerror or error}; the folder must exist and"
                " nothing may lie at the path"
            ) from error
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def receive(self, timeout_seconds: float) -> list[bytes]:
        """What has arrived, at most a few hundred datagrams."""
        if not self._poll.poll(max(0.0, timeout_seconds) * 1000):
            return []
        datagrams: list[bytes] = []
        with suppress(BlockingIOError):
            while len(datagrams) < _MOST_AT_ONCE:
                datagrams.append(self._socket.recv(_LARGEST_DATAGRAM_BYTES))
        return datagrams

    def close(self) -> None:
        """Close the socket and remove its file."""
        if self._socket.fileno() >= 0:
            self._poll.unregister(self._socket)
            self._socket.close()
            self._path.unlink(missing_ok=True)


class FakeInbox:
    """Delivers datagrams at set times of a fake clock, which waiting moves on."""

    def __init__(self, clock: FakeClock, arrivals: Iterable[tuple[float, bytes]] = ()) -> None:
        self._clock = clock
        self._arrivals = sorted(arrivals)
        self.is_closed = False

    def receive(self, timeout_seconds: float) -> list[bytes]:
        """What is due within the time-out; moves the clock to the first of it, or to its end."""
        now = self._clock.wall_seconds()
        until = now + timeout_seconds
        first = min((at for at, _ in self._arrivals), default=until)
        self._clock.pass_time(max(0.0, min(first, until) - now))
        due = [payload for at, payload in self._arrivals if at <= self._clock.wall_seconds()]
        self._arrivals = self._arrivals[len(due) :]
        return due

    def close(self) -> None:
        """Note that it was closed."""
        self.is_closed = True
