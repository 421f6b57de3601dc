"""The thread in which patterns are scored."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.pattern_watch.watch import PatternWatch

_LOG = logging.getLogger(__name__)
_END_SECONDS = 5.0
"""What a turn that is going on at the end may still take: less than a service has for its end."""


@contextmanager
def scoring_beside(watch: PatternWatch) -> Iterator[threading.Thread]:
    """Score in a thread of its own until this ends."""
    thread = threading.Thread(target=_turns, args=(watch,), name="patterns", daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        watch.ending.set()
        thread.join(_END_SECONDS)


def _turns(watch: PatternWatch) -> None:
    is_orderly = False
    try:
        while not watch.ending.is_set() and (rest := watch.turn()) is not None:
            watch.ending.wait(rest)
        is_orderly = True
    finally:
        if not is_orderly:
            watch.give_up()
            _LOG.warning("pattern scoring has failed and is over; verdicts go on")
