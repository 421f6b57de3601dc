"""Serves the API with uvicorn, in a thread of its own, until it is told to stop."""

from __future__ import annotations

import contextlib
import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import uvicorn

from paramedic.api.rest.errors import ApiStartError
from paramedic.api.rest.loopback import (
    address_of,
    inherited_socket,
    loopback_socket,
    require_listening,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from fastapi import FastAPI

_log = logging.getLogger(__name__)

_START_TIMEOUT_SECONDS = 10.0
_STOP_TIMEOUT_SECONDS = 5.0
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """Everything that can be set about `serve`."""

    host: str = "127.0.0.1"
    port: int = 8370
    """0 takes any free one."""
    listen_fd: int | None = None
    """A listening socket that the supervisor opened; host and port are then not used."""
    graceful_seconds: float = 2.0
    """How long a request that is under way may take when the server stops."""


class StopSignal(Protocol):
    """Says when to end; `threading.Event` is one."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most the time-out in seconds; True when it has come."""
        ...


@contextlib.contextmanager
def serving(
    config: ServeConfig, app: FastAPI, listener: socket.socket | None = None
) -> Iterator[ApiServer]:
    """Serve while the block runs, so that the block can do other work in this thread.

    `listener` is a listening socket, which is closed at the end; without one the config says where.
    Raises ApiAddressError and ApiStartError.
    """
    chosen = _listener(config) if listener is None else listener
    require_listening(chosen)
    server = ApiServer(config, app, chosen)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class ApiServer:
    """One uvicorn server on one socket, in one thread."""

    def __init__(self, config: ServeConfig, app: FastAPI, listener: socket.socket) -> None:
        self.address = address_of(listener)
        """Where it is reached, such as `http://127.0.0.1:8370`."""
        self._listener = listener
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                lifespan="off",
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=max(1, round(config.graceful_seconds)),
            )
        )
        self._thread = threading.Thread(target=self._run, name="rest", daemon=True)

    def start(self) -> None:
        """Returns when requests are answered. Raises ApiStartError when that does not happen."""
        self._thread.start()
        waited_seconds = 0.0
        while not self._server.started:
            self.require_alive()
            if waited_seconds > _START_TIMEOUT_SECONDS:
                self.stop()
                raise ApiStartError(f"{self.address}: no answer; the log says more")
            self._thread.join(_LOOK_SECONDS / 10)
            waited_seconds += _LOOK_SECONDS / 10
        _log.info("serving %s", self.address)

    def stop(self) -> None:
        """Finish what is under way and end. Stopping twice is harmless."""
        self._server.should_exit = True
        self._thread.join(_STOP_TIMEOUT_SECONDS)
        self._listener.close()

    def wait_for(self, stop: StopSignal) -> None:
        """Serve until `stop` is set. Raises ApiStartError when the server ends before."""
        while not stop.wait(_LOOK_SECONDS):
            self.require_alive()

    def is_alive(self) -> bool:
        """Whether it serves."""
        return self._thread.is_alive()

    def require_alive(self) -> None:
        """Raises ApiStartError when the server has ended by itself."""
        if not self._thread.is_alive():
            raise ApiStartError(f"{self.address}: the server ended; the log says why")

    def _run(self) -> None:
        self._server.run(sockets=[self._listener])


def _listener(config: ServeConfig) -> socket.socket:
    if config.listen_fd is not None:
        return inherited_socket(config.listen_fd)
    return loopback_socket(config.host, config.port)
