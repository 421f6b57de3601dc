"""The connection to the supervisor: one thread reads, any thread writes."""

from __future__ import annotations

import socket
import sys
import threading
from typing import TYPE_CHECKING

from paramedic.remediation.trainer.control_messages import Ping, parse_message, pong
from paramedic.remediation.trainer.errors import ControlMessageError, SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from paramedic.remediation.trainer.mailbox import Mailbox


class ControlConnection:
    """Sends reports, and delivers what the supervisor says to a mailbox."""

    def __init__(self, connection: socket.socket, mailbox: Mailbox) -> None:
        self._connection = connection
        self._mailbox = mailbox
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="paramedic-control", daemon=True)

    def start(self) -> None:
        """Start to read."""
        self._reader.start()

    def send(self, line: bytes) -> None:
        """Write one line. A broken connection is told to the mailbox, not to the caller."""
        try:
            with self._lock:
                self._connection.sendall(line)
        except OSError as error:
            self._mailbox.lose(f"the supervisor does not listen any more: {error}")

    def close(self) -> None:
        """Let go of the connection; the reading thread ends."""
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            # The other end was faster.
            return

    def _read(self) -> None:
        try:
            with self._connection.makefile("rb") as lines:
                for line in lines:
                    self._deliver(line)
        except OSError as error:
            self._mailbox.lose(f"the control connection broke: {error}")
        else:
            self._mailbox.lose("the supervisor closed the control connection")

    def _deliver(self, line: bytes) -> None:
        try:
            message = parse_message(line)
        except ControlMessageError as error:
            sys.stderr.write(f"paramedic: skipped a control line: {error}\n")
            return
        if isinstance(message, Ping):
            # From this thread, so that it is answered whatever the main thread does.
            self.send(pong())
        else:
            self._mailbox.deliver(message)


def connect(path: Path, mailbox: Mailbox) -> ControlConnection:
    """Connect to the supervisor's socket.

    Raises SetupError when nobody listens there.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except OSError as error:
        connection.close()
        raise SetupError(
            f"no supervisor listens at PARAMEDIC_CONTROL_SOCKET={path} ({error}): start the "
            "script with `paramedic run --`, or unset the PARAMEDIC_ variables"
        ) from error
    return ControlConnection(connection, mailbox)
