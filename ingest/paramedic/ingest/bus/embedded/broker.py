"""The embedded broker: one thread that moves messages between the log and its clients."""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from paramedic.ingest.bus.embedded.server import ClientServer, ServerCounts, listen
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.bus.retention import Retention
from paramedic.ingest.bus.store import Clock, MessageStore
from paramedic.ingest.contract import BusUnavailableError, Topic

_LOG = logging.getLogger(__name__)
_STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """How much the broker gives to messages and clients."""

    retention: Retention = field(default_factory=Retention)
    clients: int = 256


class EmbeddedBroker:
    """Serves the bus on a Unix socket (mode 0600) from a thread of its own.

    The owner's thread is never held up: `publish_local` and `bus()` go straight to the log.
    """

    def __init__(
        self, path: Path, limits: BrokerLimits | None = None, clock: Clock = time.monotonic
    ) -> None:
        self._path = path
        self._limits = limits or BrokerLimits()
        self._store = MessageStore(self._limits.retention, clock)
        self._server: ClientServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def path(self) -> Path:
        """Where clients connect."""
        return self._path

    @property
    def counts(self) -> ServerCounts:
        """What the broker had to drop or could not deliver."""
        return self._server.counts if self._server else ServerCounts()

    def start(self) -> None:
        """Listen and serve.

        Raises BusAddressError when the path can hold no socket, BusUnavailableError when another
        broker answers there or the socket cannot be made.
        """
        if self._server is not None:
            raise BusUnavailableError(f"the broker at {self._path} was started before")
        # Seven random bytes and a one: never 0, which stands for "no broker yet".
        epoch = int.from_bytes(os.urandom(7), "little") << 8 | 1
        self._server = ClientServer(listen(self._path), self._store, epoch, self._limits.clients)
        self._store.on_arrival(self._server.wake)
        self._thread = threading.Thread(
            target=self._server.serve, name="paramedic-bus", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving and remove the socket. Closing twice is harmless."""
        if self._server is None or self._thread is None or not self._thread.is_alive():
            return
        self._server.stop()
        self._thread.join(_STOP_SECONDS)
        if self._thread.is_alive():
            _LOG.error("the bus thread did not stop within %g s", _STOP_SECONDS)
        self._path.unlink(missing_ok=True)

    def publish_local(self, topic: Topic, key: str, payload: bytes) -> None:
        """Publish from the owner's process: an append and a wake-up, never a wait.

        Raises ContractError when the message is too large.
        """
        self._store.append(topic, key, payload)

    def bus(self) -> MemoryBus:
        """The bus for the owner's process, without a socket in between."""
        return MemoryBus(self._store)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
