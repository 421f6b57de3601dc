"""Opens the REST socket in the supervisor, so that the address outlives a restart of the server."""

from __future__ import annotations

import socket

from paramedic.api.wiring.errors import PreflightError

_BACKLOG = 128


def open_listening_socket(host: str, port: int) -> socket.socket:
    """A listening TCP socket; port 0 takes any free one.

    Raises PreflightError when the port is in use or the address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise PreflightError(
            f"port {port} on {host} cannot be used ({error.strerror}): choose another with "
            "--port, or --port 0 for any free one"
        ) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The URL under which the socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
