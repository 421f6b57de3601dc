"""Stretches of a history: views of its windows, with what was known by then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.ingest.contract import Window
    from paramedic.models.history import JobHistory


def cut(history: JobHistory, first: int, end: int) -> JobHistory:
    """The slots that begin in `first` or later and before `end` (Unix seconds).

    Earlier events stay: they tell what the job was doing when the stretch began.
    """
    seconds = history.seconds
    begin, stop = (sum(one < limit for one in seconds) for limit in (first, end))
    last = seconds[stop - 1] if stop else first - 1
    known = history.until(last)
    windows = {kind: _from(window, begin, seconds) for kind, window in known.windows.items()}
    return replace(known, windows=windows)


def stretches(history: JobHistory, seconds: int, stride: int | None = None) -> Iterator[JobHistory]:
    """Whole stretches of so many seconds, a stride apart (their length where none is given).

    What is left at the end and is no whole stretch is not given. Raises ValueError when either is
    not positive.
    """
    stride = seconds if stride is None else stride
    if seconds < 1 or stride < 1:
        raise ValueError(f"seconds is {seconds} and stride {stride}: both must be at least 1")
    known = history.seconds
    if not known:
        return
    end = known[-1] + known.step
    for first in range(known[0], end - seconds + 1, stride):
        yield cut(history, first, first + seconds)


def _from(window: Window, begin: int, seconds: range) -> Window:
    return replace(
        window,
        first_second=seconds[begin] if begin < len(seconds) else window.first_second,
        values=window.values[:, :, begin:],
        observed=window.observed[:, :, begin:],
    )
