"""Only this machine may ask until API keys exist: every other address is refused."""

from __future__ import annotations

import ipaddress
import socket

from paramedic.api.rest.errors import ApiAddressError

_BACKLOG = 128


def require_loopback(host: str) -> None:
    """Raises ApiAddressError unless `host` means this machine alone."""
    if host == "localhost":
        return
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ApiAddressError(
            f"address {host!r} can be reached from other machines, and API keys do not exist yet: "
            "use 127.0.0.1, or put a proxy that asks for a password in front of it"
        )


def loopback_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one. Raises ApiAddressError."""
    require_loopback(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ApiAddressError(
            f"port {port} on {host} cannot be used ({error.strerror}): choose another port, "
            "or 0 for any free one"
        ) from error
    return listener


def inherited_socket(descriptor: int) -> socket.socket:
    """The listening socket that another process opened. Raises ApiAddressError."""
    try:
        listener = socket.socket(fileno=descriptor)
    except OSError as error:
        raise ApiAddressError(
            f"file descriptor {descriptor} is no socket ({error.strerror}): pass an open, "
            "listening one"
        ) from error
    try:
        require_listening(listener)
    except ApiAddressError:
        # It is not ours to close: whoever opened it may still use it.
        listener.detach()
        raise
    return listener


def require_listening(listener: socket.socket) -> None:
    """Raises ApiAddressError unless the socket listens on this machine alone."""
    if listener.family not in (socket.AF_INET, socket.AF_INET6):
        raise ApiAddressError(f"socket {listener!r} is not TCP: pass a listening TCP socket")
    require_loopback(str(listener.getsockname()[0]))
    if not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        raise ApiAddressError(f"socket {listener!r} does not listen: call listen() on it first")


def address_of(listener: socket.socket) -> str:
    """The URL under which the socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
