"""Entry point: nothing here but the promise that an interrupt is one line and never a traceback."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

INTERRUPTED = 130
TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived: the same way out as Ctrl-C, with the exit code of SIGTERM."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code of the process."""
    try:
        signal.signal(signal.SIGTERM, _terminate)
        signal.signal(signal.SIGHUP, _terminate)
        from paramedic.api.command_line.dispatch import dispatch

        return dispatch(sys.argv[1:] if arguments is None else arguments)
    except Terminated:
        return _say_goodbye("ended by a signal", TERMINATED)
    except KeyboardInterrupt:
        return _say_goodbye("interrupted", INTERRUPTED)


def _terminate(_number: int, _frame: object) -> None:
    raise Terminated


def _say_goodbye(word: str, code: int) -> int:
    # A second Ctrl-C while the interpreter closes down would print a traceback after all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr.write(f"paramedic: {word}\n")
    return code
