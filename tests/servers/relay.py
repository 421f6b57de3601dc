"""A TCP relay in front of a server, which can be cut as a cable can, and mended."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK_BYTES = 1 << 16
_WAIT_SECONDS = 0.2


class Relay:
    """Passes bytes on while it is whole; cut, nobody answers at its port and everything breaks."""

    def __init__(self, target: tuple[str, int], port: int) -> None:
        self.port = port
        self._target = target
        self._is_over = threading.Event()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.mend()
        self._thread.start()

    def mend(self) -> None:
        """Let connections through."""
        with self._lock:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            self._listener.setblocking(False)
            self._selector.register(self._listener, selectors.EVENT_READ)

    def cut(self) -> None:
        """Break every connection and refuse new ones."""
        with self._lock:
            if self._listener is not None:
                self._selector.unregister(self._listener)
                self._listener.close()
                self._listener = None
            for one in list(self._pairs):
                self._drop(one)

    def close(self) -> None:
        """End."""
        self._is_over.set()
        self._thread.join()
        self.cut()
        self._selector.close()

    def _run(self) -> None:
        while not self._is_over.is_set():
            for key, _ in self._selector.select(_WAIT_SECONDS):
                with self._lock, suppress(OSError, KeyError):
                    if key.fileobj is self._listener:
                        self._accept()
                    else:
                        self._pass_on(key.fileobj)  # type: ignore[arg-type]  # ours are sockets

    def _accept(self) -> None:
        assert self._listener is not None
        client, _ = self._listener.accept()
        server = socket.create_connection(self._target)
        for one, other in ((client, server), (server, client)):
            self._pairs[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, source: socket.socket) -> None:
        target = self._pairs[source]
        try:
            data = source.recv(_CHUNK_BYTES)
            if data:
                target.sendall(data)
                return
        except OSError:
            data = b""
        self._drop(source)

    def _drop(self, one: socket.socket) -> None:
        """Let go of a connection and of its other half."""
        other = self._pairs.pop(one, None)
        if other is None:
            return
        self._selector.unregister(one)
        one.close()
        self._drop(other)


@contextmanager
def relay(target: tuple[str, int], port: int) -> Iterator[Relay]:
    """A relay for as long as the context lasts."""
    found = Relay(target, port)
    try:
        yield found
    finally:
        found.close()
