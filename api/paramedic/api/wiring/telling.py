"""Writing for people, who may stop reading at any time."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TextIO

from paramedic.api.wiring.errors import OutputError


def say(stream: TextIO, *lines: str) -> None:
    """Write lines of ours, so that they can be told from the job's own."""
    tell(stream, "".join(f"paramedic: {line}\n" for line in lines))


def log_to(path: Path | None = None) -> None:
    """Have this process log to a file; without one to standard error, which a service's log is."""
    logging.basicConfig(
        filename=path, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )


def tell(stream: TextIO, text: str) -> None:
    """Write at once. When whoever read has left, the rest goes nowhere and the run goes on.

    Raises OutputError when it cannot be written for another reason.
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _let_go(stream)
    except OSError as error:
        _let_go(stream)
        raise OutputError(
            f"the output cannot be written ({error.strerror}): make room, or send it elsewhere"
        ) from error


def _let_go(stream: TextIO) -> None:
    """What is still in its buffer goes nowhere, so that Python does not fail over it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
