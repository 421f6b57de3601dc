"""Whether a Kafka broker answers at an address, found out before the library is started.

kafka-python tries a dead address for ever in threads of its own and leaves sockets behind; one
request over a plain connection says the same at once, says why, and sees who is no broker.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

from paramedic.ingest.bus.kafka_settings import KafkaSettings, no_broker

_RETRY_SECONDS = 0.1
_CORRELATION = 0x50415241
_CLIENT = b"paramedic"
# ApiVersions (18), version 0. Source: Kafka protocol guide, request header version 1.
_HEADER = struct.pack(">hhih", 18, 0, _CORRELATION, len(_CLIENT)) + _CLIENT
_REQUEST = struct.pack(">i", len(_HEADER)) + _HEADER
_ANSWER = struct.Struct(">ii")

Ask = Callable[[str, int, float], None]
"""Host, port and time-out in seconds; raises OSError unless a broker answers."""


def require_broker(
    settings: KafkaSettings,
    clock: Callable[[], float],
    pause: Callable[[float], None],
    ask: Ask | None = None,
) -> None:
    """Return as soon as one of the servers answers as a broker does.

    Raises BusUnavailableError when none did within `connect_seconds`, BusSettingError for
    certificates that cannot be used.
    """
    question = ask or partial(ask_for_versions, tls=settings.security.tls_context())
    deadline = clock() + settings.connect_seconds
    while True:
        remaining = max(deadline - clock(), _RETRY_SECONDS)
        reason = _first_failure(settings.servers, remaining, question)
        if reason is None:
            return
        if deadline - clock() <= _RETRY_SECONDS:
            raise no_broker(settings, reason)
        pause(_RETRY_SECONDS)


def ask_for_versions(
    host: str, port: int, timeout_seconds: float, tls: ssl.SSLContext | None = None
) -> None:
    """Send the one request that every broker answers. Raises OSError when it does not."""
    with closing(_connect(host, port, timeout_seconds, tls)) as connection:
        connection.sendall(_REQUEST)
        answer = _answer(connection)
    if len(answer) < _ANSWER.size or _ANSWER.unpack(answer)[1] != _CORRELATION:
        secure = "" if tls else ", or one that speaks TLS (kafka.security_protocol = ssl)"
        raise ConnectionError(f"what answers there is no Kafka broker{secure}")


def _answer(connection: socket.socket) -> bytes:
    """The beginning of what comes back; less than that when the other side hangs up."""
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while len(answer) < _ANSWER.size:
            piece = connection.recv(_ANSWER.size - len(answer))
            if not piece:
                break
            answer += piece
    return answer


def _connect(
    host: str, port: int, timeout_seconds: float, tls: ssl.SSLContext | None
) -> socket.socket:
    connection = socket.create_connection((host, port), timeout=timeout_seconds)
    if tls is None:
        return connection
    try:
        return tls.wrap_socket(connection, server_hostname=host)
    except OSError:
        connection.close()
        raise


def _first_failure(servers: Sequence[str], timeout_seconds: float, ask: Ask) -> str | None:
    """None if a server answers, else why the first one does not."""
    reasons = []
    for server in servers:
        host, _, port = server.rpartition(":")
        try:
            ask(host.strip("[]"), int(port), timeout_seconds / len(servers))
        except OSError as error:
            reasons.append(error.strerror or str(error))
        else:
            return None
    return reasons[0]
