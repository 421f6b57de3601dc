"""Asks whether a Kafka broker answers, without a client library: one ApiVersions request."""

from __future__ import annotations

import socket
import struct
from urllib.parse import urlsplit

from paramedic.api.wiring.errors import PreflightError

_API_VERSIONS = 18
_CORRELATION = 0x50415241
_CLIENT = b"paramedic"
# Source: Kafka protocol guide, request header version 1.
_REQUEST = struct.pack(">hhih", _API_VERSIONS, 0, _CORRELATION, len(_CLIENT)) + _CLIENT


def require_kafka_broker(address: str, timeout_seconds: float) -> None:
    """Raise PreflightError when no Kafka broker answers at `kafka://HOST:PORT` in time."""
    parts = urlsplit(address)
    remedy = "start the broker or name another with --bus kafka://HOST:PORT"
    try:
        answer = _ask(parts.hostname or "", parts.port or 0, timeout_seconds)
    except OSError as error:
        why = error.strerror or str(error)
        raise PreflightError(f"no Kafka broker at {address} ({why}): {remedy}") from error
    if answer != _CORRELATION:
        raise PreflightError(f"what answers at {address} is no Kafka broker: {remedy}")


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
