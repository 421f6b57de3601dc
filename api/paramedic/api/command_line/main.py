"""Entry point: the promise that an interrupt is one line and never a traceback.

Everything is imported inside `main`, so that the promise holds while Python still imports.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130
TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived: the same way out as Ctrl-C, with the exit code of SIGTERM."""


def main(arguments: list[str] | None = None) -> int:
    """Run one verb and return the exit code of the process."""
    try:
        _end_in_order_when_told()
        from paramedic.api.command_line.dispatch import dispatch

        return dispatch(sys.argv[1:] if arguments is None else arguments)
    except Terminated:
        return _say_goodbye("ended by a signal", TERMINATED)
    except KeyboardInterrupt:
        return _say_goodbye("interrupted", INTERRUPTED)


def _end_in_order_when_told() -> None:
    import signal

    signal.signal(signal.SIGTERM, _terminate)
    # Under nohup a closed terminal ends nothing.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _terminate)


def _terminate(_number: int, _frame: object) -> None:
    raise Terminated


def _say_goodbye(word: str, code: int) -> int:
    import signal

    # A second Ctrl-C while the interpreter closes down would print a traceback after all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr.write(f"paramedic: {word}\n")
    return code
