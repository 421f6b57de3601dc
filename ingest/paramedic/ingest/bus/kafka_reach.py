"""Whether anything listens at a Kafka address, found out before the library is started.

kafka-python tries a dead address for ever in threads of its own and leaves sockets behind; a
plain connection says the same at once and says why.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from paramedic.ingest.bus.kafka_settings import KafkaSettings, no_broker

_RETRY_SECONDS = 0.1

Connect = Callable[[tuple[str, int], float], socket.socket]
"""As `socket.create_connection`."""


def require_listener(
    settings: KafkaSettings,
    clock: Callable[[], float],
    pause: Callable[[float], None],
    connect: Connect = socket.create_connection,
) -> None:
    """Return as soon as one of the servers takes a connection.

    Raises BusUnavailableError when none did within `connect_seconds`.
    """
    deadline = clock() + settings.connect_seconds
    while True:
        remaining = max(deadline - clock(), _RETRY_SECONDS)
        reason = _first_failure(settings.servers, remaining, connect)
        if reason is None:
            return
        if deadline - clock() <= _RETRY_SECONDS:
            raise no_broker(settings, reason)
        pause(_RETRY_SECONDS)


def _first_failure(servers: Sequence[str], timeout_seconds: float, connect: Connect) -> str | None:
    """None if a server answers, else why the first one does not."""
    reasons = []
    for server in servers:
        host, _, port = server.rpartition(":")
        try:
            connect((host.strip("[]"), int(port)), timeout_seconds / len(servers)).close()
        except OSError as error:
            reasons.append(error.strerror or str(error))
        else:
            return None
    return reasons[0]
