"""Reads an answer of the Prometheus API that was saved: `query` and `query_range`.

A live Prometheus is read by its source; this is for answers in files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from paramedic.ingest.contract import ContractError
from paramedic.ingest.exposition.moments import is_moment
from paramedic.ingest.sources.port import RawPage, Series

_NAME = "__name__"
_PAIR = 2


class _Moment:
    """What the answer says of one moment."""

    def __init__(self) -> None:
        self.series: list[Series] = []
        self.values: list[float] = []
        self.unreadable: Counter[str] = Counter()

    def add(self, series: Series, said: object) -> None:
        value = _number(said)
        if value is None:
            self.unreadable["not_a_number"] += 1
        else:
            self.series.append(series)
            self.values.append(value)


def pages_of_answer(text: str, origin: str) -> list[RawPage]:
    """The answer as one page a moment, oldest first.

    Samples whose time is none are counted as `bad_time`, on the oldest page. Raises ContractError
    when it is no answer with series in it, or none of its samples has a time.
    """
    try:
        moments, undated = _moments(_entries(text))
    except _ShapeError as error:
        raise ContractError(f"{origin}: {error}") from error
    pages = sorted(moments.items())
    if undated and pages:
        pages[0][1].unreadable["bad_time"] += undated
    return [
        RawPage(origin, seconds, of.series, of.values, dict(of.unreadable), is_whole=False)
        for seconds, of in pages
    ]


class _ShapeError(ValueError):
    """The answer says something else than series; the message is for people."""


def _not_an_answer(why: str) -> _ShapeError:
    return _ShapeError(f"not an answer of the Prometheus API: {why}")


def _entries(text: str) -> list[Any]:
    """The series of the answer."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise _not_an_answer(f"its JSON cannot be read{at}") from error
    if not isinstance(answer, dict):
        raise _not_an_answer("it is no JSON object")
    if answer.get("status") == "error":
        kind = f" ({answer['errorType']})" if answer.get("errorType") else ""
        raise _ShapeError(f"Prometheus answered with the error {answer.get('error')!s:.200}{kind}")
    data = answer.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("result"), list):
        raise _not_an_answer("it has no list of series as data.result")
    if data.get("resultType") in ("scalar", "string"):
        raise _not_an_answer(f"its result is a {data['resultType']}, and not series")
    return list(data["result"])


def _moments(entries: list[Any]) -> tuple[dict[float, _Moment], int]:
    """What is said of each moment, and how many samples have no time."""
    moments: dict[float, _Moment] = {}
    undated = 0
    for number, entry in enumerate(entries, 1):
        series = _series(entry, number)
        for time, said in _samples(entry, number):
            seconds = _number(time)
            if seconds is None or not is_moment(seconds):
                undated += 1
            else:
                moments.setdefault(seconds, _Moment()).add(series, said)
    if undated and not moments:
        raise _not_an_answer("none of its samples has a time that can be one")
    return moments, undated


def _series(entry: Any, number: int) -> Series:
    metric = entry.get("metric") if isinstance(entry, dict) else None
    if not isinstance(metric, dict):
        raise _not_an_answer(f"series {number} has no labels as metric")
    labels = {str(label): str(value) for label, value in metric.items()}
    return Series(labels.pop(_NAME, ""), labels)


def _samples(entry: Mapping[str, Any], number: int) -> Iterator[tuple[Any, Any]]:
    """Times and texts; native histograms have neither `value` nor `values` and are left out."""
    single = [entry["value"]] if "value" in entry else []
    samples = entry.get("values", single)
    if not isinstance(samples, list):
        raise _not_an_answer(f"series {number} has no list as values")
    for sample in samples:
        if not isinstance(sample, list) or len(sample) != _PAIR:
            raise _not_an_answer(f"a sample of series {number} is no pair of a time and a value")
        yield sample[0], sample[1]


def _number(said: object) -> float | None:
    try:
        return float(said) if isinstance(said, str | int | float) else None
    except (ValueError, OverflowError):
        return None
