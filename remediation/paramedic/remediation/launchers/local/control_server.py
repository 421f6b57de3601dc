"""The control socket's server: many clients, JSON lines, and none of them can hold up the loop."""

from __future__ import annotations

import logging
import selectors
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.fields import MessageError
from paramedic.remediation.launchers.local.line_protocol import LineBuffer, LineTooLongError
from paramedic.remediation.launchers.local.messages import (
    FromOperator,
    FromWorker,
    Reply,
    ToWorker,
    encode,
    read_request,
)
from paramedic.remediation.launchers.port import LauncherSetupError

if TYPE_CHECKING:
    from pathlib import Path

    from paramedic.ingest.contract import NodeName
    from paramedic.remediation.launchers.local.event_loop import EventLoop

_LOG = logging.getLogger(__name__)
_BACKLOG = 128
_MAX_CLIENTS = 256
_MAX_UNSENT_BYTES = 1024 * 1024
_READ_BYTES = 64 * 1024
_ACCEPT_PAUSE_SECONDS = 1.0
_LONGEST_SOCKET_PATH_BYTES = 107


class Client:
    """One connection. `node` and `process_id` are set once the client has said `hello`."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.node: NodeName | None = None
        self.process_id: int | None = None
        self.lines = LineBuffer()
        self.unsent = bytearray()
        self.is_open = True


OnMessage = Callable[[Client, FromWorker | FromOperator], None]
OnClosed = Callable[[Client], None]


class ControlServer:
    """Accepts clients, hands their messages on, sends answers as fast as each client reads."""

    def __init__(
        self, loop: EventLoop, path: Path, on_message: OnMessage, on_closed: OnClosed
    ) -> None:
        """Listen at once. Raises LauncherSetupError when the path cannot be used."""
        self._loop = loop
        self._path = path
        self._on_message = on_message
        self._on_closed = on_closed
        self._clients: dict[int, Client] = {}
        self._listener = _listen(path)
        self._watch_listener()

    def send(self, client: Client, message: ToWorker | Reply) -> None:
        """Send now what fits, the rest when the client reads; a client that never reads goes."""
        if not client.is_open:
            return
        client.unsent += encode(message)
        if len(client.unsent) > _MAX_UNSENT_BYTES:
            self.drop(client, "does not read what it is sent")
        else:
            self._flush(client)

    def read_now(self, node: NodeName) -> None:
        """Hand on all that a node has sent so far, its connection's opening included."""
        self._accept()
        for client in self._clients_of_or_unknown(node):
            while client.is_open and self._read(client):
                pass

    def drop(self, client: Client, reason: str) -> None:
        """Close a client's connection. Dropping twice is harmless."""
        if not client.is_open:
            return
        _LOG.warning("control client %s dropped: %s", client.node or "without a name", reason)
        self._close(client)

    def close(self) -> None:
        """Close everything and remove the socket."""
        for client in tuple(self._clients.values()):
            client.is_open = False
            self._release(client)
        self._loop.unwatch(self._listener.fileno())
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _clients_of_or_unknown(self, node: NodeName) -> tuple[Client, ...]:
        return tuple(client for client in self._clients.values() if client.node in (node, None))

    def _watch_listener(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.watch(
                self._listener.fileno(), selectors.EVENT_READ, lambda _events: self._accept()
            )

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:  # no descriptor is left: waiting must not become a busy loop
                _LOG.warning("control socket %s cannot accept: %s", self._path, error)
                self._loop.unwatch(self._listener.fileno())
                self._loop.call_after(_ACCEPT_PAUSE_SECONDS, self._watch_listener)
                return
            self._admit(connection)

    def _admit(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        if len(self._clients) >= _MAX_CLIENTS:
            nameless = [client for client in self._clients.values() if client.node is None]
            if not nameless:
                connection.close()
                return
            self.drop(nameless[0], f"more than {_MAX_CLIENTS} clients")
        client = Client(connection)
        self._clients[connection.fileno()] = client
        self._watch(client)

    def _watch(self, client: Client) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.unsent else 0)
        self._loop.watch(
            client.connection.fileno(), events, lambda ready: self._serve(client, ready)
        )

    def _serve(self, client: Client, ready: int) -> None:
        if ready & selectors.EVENT_WRITE:
            self._flush(client)
        if ready & selectors.EVENT_READ and client.is_open:
            self._read(client)

    def _read(self, client: Client) -> bool:
        """Take one piece of what was sent; False when there is nothing more now."""
        try:
            data = client.connection.recv(_READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._close(client)
            return False
        self._take(client, data)
        return True

    def _take(self, client: Client, data: bytes) -> None:
        try:
            for line in client.lines.feed(data):
                if client.is_open:
                    self._on_message(client, read_request(line))
        except (LineTooLongError, MessageError) as error:
            self.drop(client, str(error))

    def _flush(self, client: Client) -> None:
        try:
            sent = client.connection.send(client.unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._close(client)
            return
        del client.unsent[:sent]
        self._watch(client)

    def _close(self, client: Client) -> None:
        client.is_open = False
        self._release(client)
        self._on_closed(client)

    def _release(self, client: Client) -> None:
        self._loop.unwatch(client.connection.fileno())
        self._clients.pop(client.connection.fileno(), None)
        client.connection.close()


def _listen(path: Path) -> socket.socket:
    length = len(str(path).encode())
    if length > _LONGEST_SOCKET_PATH_BYTES:
        raise LauncherSetupError(
            f"control socket {path}: the path has {length} bytes, "
            f"{_LONGEST_SOCKET_PATH_BYTES} are allowed: choose a shorter folder"
        )
    _remove_if_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise LauncherSetupError(
            f"control socket {path}: {error.strerror}: check that its folder exists "
            "and can be written"
        ) from error
    listener.setblocking(False)
    return listener


def _remove_if_stale(path: Path) -> None:
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            _LOG.info("control socket %s cannot be probed: %s", path, error)
    raise LauncherSetupError(
        f"control socket {path}: another supervisor listens there: end it or choose another path"
    )
