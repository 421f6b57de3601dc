"""The launcher port over the control socket of a running supervisor."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from paramedic.remediation.launchers.local.fields import MessageError
from paramedic.remediation.launchers.local.line_protocol import LineBuffer, LineTooLongError
from paramedic.remediation.launchers.local.messages import (
    FromOperator,
    Observe,
    OutcomeReply,
    PlacementsReply,
    Replace,
    Reply,
    encode,
    read_reply,
)
from paramedic.remediation.launchers.port import (
    Capabilities,
    LauncherUnavailableError,
    Outcome,
    Placement,
    Plan,
    ReplaceRank,
)

if TYPE_CHECKING:
    from pathlib import Path

    from paramedic.ingest.contract import JobName

_READ_BYTES = 64 * 1024
_MAX_REPLY_BYTES = 4 * 1024 * 1024


class LocalLauncher:
    """Asks the supervisor of a local job; one short connection for each call."""

    name = "local"
    capabilities = Capabilities(
        can_replace_rank=True,
        can_resize=False,
        has_spares=True,
        can_cordon=False,
        supports_in_process=True,
    )

    def __init__(self, control_socket: Path, timeout_seconds: float = 5.0) -> None:
        self._control_socket = control_socket
        self._timeout_seconds = timeout_seconds

    def plan(self, request: ReplaceRank) -> Plan:
        """The line that would be sent, and where to."""
        line = encode(_message(request)).decode().strip()
        return Plan((f"{self._control_socket}: {line}",))

    def apply(self, request: ReplaceRank) -> Outcome:
        """Ask for the replacement. Raises LauncherUnavailableError: try again with the same key."""
        reply = self._ask(_message(request))
        if not isinstance(reply, OutcomeReply):
            raise self._unavailable(f"answered {reply.type} to replace")
        return Outcome(reply.effect, reply.reason)

    def observe(self, job: JobName) -> tuple[Placement, ...]:
        """Every live worker; empty when the supervisor runs another job.

        Raises LauncherUnavailableError: try again.
        """
        reply = self._ask(Observe())
        if not isinstance(reply, PlacementsReply):
            raise self._unavailable(f"answered {reply.type} to observe")
        return reply.placements if reply.job == job else ()

    def _ask(self, message: FromOperator) -> Reply:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(self._timeout_seconds)
                connection.connect(str(self._control_socket))
                connection.sendall(encode(message))
                return read_reply(_read_line(connection))
        except TimeoutError as error:
            reason = f"did not answer within {self._timeout_seconds:g} s"
            raise self._unavailable(reason) from error
        except OSError as error:
            raise self._unavailable(str(error.strerror or error)) from error
        except (MessageError, LineTooLongError) as error:
            raise self._unavailable(f"answered something else: {error}") from error

    def _unavailable(self, reason: str) -> LauncherUnavailableError:
        return LauncherUnavailableError(
            f"supervisor at {self._control_socket}: {reason}: "
            "check that the job still runs, then try again"
        )


def _message(request: ReplaceRank) -> Replace:
    return Replace(
        node=request.node,
        generation=request.generation,
        idempotency_key=request.idempotency_key,
        reason=request.reason,
        job=request.job,
    )


def _read_line(connection: socket.socket) -> bytes:
    """The first line that comes. The time-out is for each piece; a supervisor answers in one."""
    buffer = LineBuffer(_MAX_REPLY_BYTES)
    while data := connection.recv(_READ_BYTES):
        lines = buffer.feed(data)
        if lines:
            return lines[0]
    raise ConnectionResetError("closed the connection without an answer")
