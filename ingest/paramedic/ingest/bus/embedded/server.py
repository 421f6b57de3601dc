"""The sockets of the embedded broker: a selector loop that accepts, reads, writes and drops."""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from paramedic.ingest.bus.embedded.address import checked_path
from paramedic.ingest.bus.embedded.connection import ClientConnection
from paramedic.ingest.bus.embedded.frames import FrameError
from paramedic.ingest.bus.store import MessageStore
from paramedic.ingest.contract import BusUnavailableError, ContractError

_LOG = logging.getLogger(__name__)
_CHUNK_BYTES = 256 * 1024
_TICK_SECONDS = 5.0
_SOCKET_MODE = 0o600


def listen(path: Path) -> socket.socket:
    """A listening Unix socket that only this user can reach.

    Raises BusAddressError when the path can hold no socket, BusUnavailableError when a living
    broker answers there or the socket cannot be made.
    """
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(checked_path(path))
        server.bind(str(path))
        # Nobody can connect between the two: the socket does not listen yet.
        path.chmod(_SOCKET_MODE)
        server.listen()
        server.setblocking(False)
    except OSError as error:
        server.close()
        raise BusUnavailableError(f"bus socket {path} cannot be made: {error}") from error
    except BaseException:
        server.close()
        raise
    return server


def _remove_stale(path: Path) -> None:
    if not path.exists():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        # Where the queue of a broker that stands still is full, connecting would wait for ever.
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except BlockingIOError:
            pass
    raise BusUnavailableError(f"bus socket {path}: another broker answers there: stop it first")


@dataclass(frozen=True, slots=True)
class ServerCounts:
    """What went wrong so far; each was logged before it was counted."""

    clients_dropped: int = 0
    messages_missed: int = 0


class ClientServer:
    """Runs in the broker's thread; only `wake` and `stop` are called from others."""

    def __init__(
        self, listener: socket.socket, store: MessageStore, epoch: int, client_limit: int
    ) -> None:
        self._listener = listener
        self._store = store
        self._epoch = epoch
        self._client_limit = client_limit
        self._clients: dict[socket.socket, ClientConnection] = {}
        self._selector = selectors.DefaultSelector()
        self._waker, self._wakened = socket.socketpair()
        self._wake_pending = False
        self._accepting = True
        self._stopping = False
        self.counts = ServerCounts()
        self._waker.setblocking(False)
        self._wakened.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wakened, selectors.EVENT_READ, self._drain_wakes)

    def wake(self) -> None:
        """Tell the loop that there is something to send. Never blocks."""
        if self._wake_pending:
            return
        self._wake_pending = True
        # A closed socket has no loop left to wake.
        with contextlib.suppress(OSError):
            self._waker.send(b"w")

    def stop(self) -> None:
        """Make `serve` return."""
        self._stopping = True
        self.wake()

    def serve(self) -> None:
        """Move messages until `stop`, then close every socket."""
        try:
            while not self._stopping:
                events = self._selector.select(_TICK_SECONDS)
                self._resume_accepting()
                for key, _ in events:
                    action: Callable[[], None] = key.data
                    action()
                self._store.expire()
                self._send_to_all()
        finally:
            self._close_all()

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError as error:
            self._pause_accepting(error)
            return
        if len(self._clients) >= self._client_limit:
            client.close()
            self._count_dropped(f"{self._client_limit} clients are connected already")
            return
        client.setblocking(False)
        self._clients[client] = ClientConnection(self._store, self._epoch)
        self._selector.register(client, selectors.EVENT_READ, lambda: self._receive(client))

    def _pause_accepting(self, error: OSError) -> None:
        """Out of descriptors, the waiting client would wake the loop for ever; so look later."""
        _LOG.warning("bus: a client could not be accepted: %s", error)
        self._selector.unregister(self._listener)
        self._accepting = False

    def _resume_accepting(self) -> None:
        if not self._accepting:
            self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
            self._accepting = True

    def _drain_wakes(self) -> None:
        self._wakened.recv(_CHUNK_BYTES)
        # Before the log is read: what is appended from here on wakes the loop again.
        self._wake_pending = False

    def _receive(self, client: socket.socket) -> None:
        connection = self._clients.get(client)
        if connection is None:
            return
        try:
            data = client.recv(_CHUNK_BYTES)
            connection.receive(data)
        except BlockingIOError:
            return
        except (OSError, FrameError, ContractError) as error:
            self._drop(client, str(error))
        else:
            if not data:
                self._forget(client)

    def _send_to_all(self) -> None:
        for client, connection in list(self._clients.items()):
            missed_before = connection.missed_messages
            connection.refill()
            self._count_missed(connection.missed_messages - missed_before)
            if connection.outgoing:
                self._send(client, connection)

    def _send(self, client: socket.socket, connection: ClientConnection) -> None:
        try:
            sent = client.send(connection.outgoing)
            del connection.outgoing[:sent]
        except BlockingIOError:
            pass
        except OSError as error:
            self._drop(client, str(error))
            return
        self._watch(client, writing=connection.has_more())

    def _watch(self, client: socket.socket, *, writing: bool) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        key = self._selector.get_key(client)
        if key.events != events:
            self._selector.modify(client, events, key.data)

    def _count_missed(self, count: int) -> None:
        if count:
            _LOG.warning("bus: a slow subscriber missed %d messages", count)
            total = self.counts.messages_missed + count
            self.counts = replace(self.counts, messages_missed=total)

    def _drop(self, client: socket.socket, reason: str) -> None:
        self._forget(client)
        self._count_dropped(reason)

    def _count_dropped(self, reason: str) -> None:
        _LOG.warning("bus: a client was dropped: %s", reason)
        self.counts = replace(self.counts, clients_dropped=self.counts.clients_dropped + 1)

    def _forget(self, client: socket.socket) -> None:
        self._selector.unregister(client)
        del self._clients[client]
        client.close()

    def _close_all(self) -> None:
        self._selector.close()
        for opened in (*self._clients, self._listener, self._waker, self._wakened):
            opened.close()
        self._clients.clear()
