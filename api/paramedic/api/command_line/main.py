"""Entry point: the promise that an interrupt is one line and never a traceback.

Everything is imported inside `main`, so that the promise holds while Python still imports.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes as long to import as all the rest of this module
    from collections.abc import Callable

INTERRUPTED = 130
TERMINATED = 143
_INTERRUPTED = "interrupted"
_TERMINATED = "ended by a signal"


class Interrupted(KeyboardInterrupt):
    """SIGINT arrived. A class of its own, and for one reason.

    Python remembers a bare `KeyboardInterrupt` that leaves an `exec` of text (each dataclass and
    each named tuple is made by one), and ends the process by SIGINT at its exit even when the
    exception was caught long before: the exit code of ours would be lost. It forgets subclasses.
    """


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived: the same way out as Ctrl-C, with the exit code of SIGTERM."""


def main(arguments: list[str] | None = None) -> int:
    """Run one verb and return the exit code of the process."""
    try:
        _answer_signals_with(_leave_at_once)
        from paramedic.api.command_line.dispatch import dispatch

        _answer_signals_with(_raise)
        return dispatch(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt as interrupt:
        return _say_goodbye(interrupt)
    except RuntimeError as error:
        # Python up to 3.11 wraps what arrives while a class is being made.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        return _say_goodbye(error.__cause__)


def _answer_signals_with(handler: Callable[[int, object], None]) -> None:
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Under nohup a closed terminal ends nothing; in a script's background Ctrl-C does not.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _leave_at_once(number: int, _frame: object) -> None:
    """While nothing has been started: an exception could be lost in somebody's import."""
    import os
    import signal

    is_interrupt = number == signal.SIGINT
    os.write(2, f"paramedic: {_INTERRUPTED if is_interrupt else _TERMINATED}\n".encode())
    os._exit(INTERRUPTED if is_interrupt else TERMINATED)


def _raise(number: int, _frame: object) -> None:
    import signal

    raise Interrupted if number == signal.SIGINT else Terminated


def _say_goodbye(interrupt: KeyboardInterrupt) -> int:
    import signal

    # A second Ctrl-C while the interpreter closes down would print a traceback after all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    is_told = isinstance(interrupt, Terminated)
    sys.stderr.write(f"paramedic: {_TERMINATED if is_told else _INTERRUPTED}\n")
    return TERMINATED if is_told else INTERRUPTED
