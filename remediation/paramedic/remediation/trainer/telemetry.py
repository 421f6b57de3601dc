"""The heart-beat: a thread that sends one datagram a second, whatever the step is doing."""

from __future__ import annotations

import math
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.remediation.trainer.telemetry_wire import RankBatch, encode_batch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paramedic.remediation.trainer.step_times import SecondOfSteps

_EARLY_SECONDS = 0.05
"""A wait can end a little before the second does."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which row the telemetry belongs to."""

    generation: int
    rank: int


class DatagramChannel:
    """A Unix datagram socket that never blocks and never raises; what it cannot send it counts."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self.dropped = 0

    def send(self, datagram: bytes) -> None:
        """Send, or count one dropped: nobody listens, or the listener's queue is full."""
        try:
            self._socket.sendto(datagram, self._path)
        except OSError:
            self.dropped += 1

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()


class Telemetry:
    """Sends what was measured in the last second, and the heart-beat in any case."""

    def __init__(
        self,
        job: str,
        node: str,
        second: SecondOfSteps,
        channel: DatagramChannel,
        clock: Callable[[], float],
    ) -> None:
        self._job = job
        self._node = node
        self._second = second
        self._channel = channel
        self._clock = clock
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="paramedic-telemetry", daemon=True)
        self._sent_second: int | None = None
        self.place: Place | None = None
        """None until the worker has a rank: a spare has no row."""

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> None:
        """End the thread and close the channel."""
        self._ended.set()
        self._thread.join(timeout_seconds)
        self._channel.close()

    def _run(self) -> None:
        while not self._ended.wait(seconds_to_next(self._clock())):
            self.send(self._clock())

    def send(self, now: float) -> None:
        """One datagram for the second that has just closed; `now` is Unix time."""
        place = self.place
        second = math.floor(now + _EARLY_SECONDS) - 1
        if place is None or second == self._sent_second:
            return
        self._sent_second = second
        values = self._second.drain()
        values["heartbeat"] = now
        values["telemetry_dropped_total"] = float(self._channel.dropped)
        batch = RankBatch(
            job=self._job,
            generation=place.generation,
            second=second,
            node=self._node,
            rank=place.rank,
            values=values,
        )
        self._channel.send(encode_batch(batch))


def seconds_to_next(now: float) -> float:
    """How long until the next full second, and never nothing."""
    return max(0.01, math.floor(now) + 1 - now)
