"""Asks whether a Kafka broker answers, without a client library: one ApiVersions request."""

from __future__ import annotations

import logging
import socket
import struct
from collections.abc import Sequence
from urllib.parse import urlsplit

from paramedic.api.wiring.errors import PreflightError

_LOG = logging.getLogger(__name__)
_API_VERSIONS = 18
_CORRELATION = 0x50415241
_CLIENT = b"paramedic"
# Source: Kafka protocol guide, request header version 1.
_REQUEST = struct.pack(">hhih", _API_VERSIONS, 0, _CORRELATION, len(_CLIENT)) + _CLIENT


def require_kafka_broker(address: str, timeout_seconds: float) -> None:
    """Raise PreflightError when none of the servers of a `kafka://…` address answers in time.

    `address` is one that `open_bus` takes.
    """
    remedy = "start the broker or name another with --bus kafka://HOST:PORT"
    try:
        answer = _ask_any(urlsplit(address).netloc.split(","), timeout_seconds)
    except OSError as error:
        why = error.strerror or str(error)
        raise PreflightError(f"no Kafka broker at {address} ({why}): {remedy}") from error
    if answer != _CORRELATION:
        raise PreflightError(f"what answers at {address} is no Kafka broker: {remedy}")


def _ask_any(servers: Sequence[str], timeout_seconds: float) -> int | None:
    """What the first server that can be reached answers; OSError when none can."""
    *others, last = servers
    for server in others:
        try:
            return _ask(*_host_and_port(server), timeout_seconds)
        except OSError as error:
            _LOG.info("%s: %s", server, error)
    return _ask(*_host_and_port(last), timeout_seconds)


def _host_and_port(server: str) -> tuple[str, int]:
    host, _colon, port = server.rpartition(":")
    return host.strip("[]"), int(port)


def _ask(host: str, port: int, timeout_seconds: float) -> int | None:
    with socket.create_connection((host, port), timeout=timeout_seconds) as connection:
        connection.sendall(struct.pack(">i", len(_REQUEST)) + _REQUEST)
        head = b""
        while len(head) < 8:
            piece = connection.recv(8 - len(head))
            if not piece:
                return None
            head += piece
    return int(struct.unpack(">ii", head)[1])
