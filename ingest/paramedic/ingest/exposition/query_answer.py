"""Reads an answer of the Prometheus API that was saved: `query` and `query_range`.

A live Prometheus is read by its source; this is for answers in files.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from paramedic.ingest.contract import ContractError
from paramedic.ingest.sources.port import RawPage, Series

_NAME = "__name__"
_SHAPE = (KeyError, TypeError, ValueError, AttributeError)


def pages_of_answer(text: str, origin: str) -> list[RawPage]:
    """The answer as one page a moment, oldest first.

    Raises ContractError when it is no answer with series in it.
    """
    try:
        entries = json.loads(text)["data"]["result"]
        found = [(_series(entry), list(_samples(entry))) for entry in entries]
    except (*_SHAPE, RecursionError) as error:
        raise ContractError(f"{origin}: not an answer of the Prometheus API: {error!r}") from error
    moments: dict[float, tuple[list[Series], list[float], dict[str, int]]]
    moments = defaultdict(lambda: ([], [], {}))
    for series, samples in found:
        for seconds, said in samples:
            of_moment, values, unreadable = moments[seconds]
            value = _number(said)
            if value is None:
                unreadable["not_a_number"] = unreadable.get("not_a_number", 0) + 1
            else:
                of_moment.append(series)
                values.append(value)
    return [
        RawPage(origin, seconds, series, values, unreadable, is_whole=False)
        for seconds, (series, values, unreadable) in sorted(moments.items())
    ]


def _series(entry: Mapping[str, Any]) -> Series:
    labels = {str(label): str(value) for label, value in entry["metric"].items()}
    return Series(labels.pop(_NAME, ""), labels)


def _samples(entry: Mapping[str, Any]) -> Iterator[tuple[float, Any]]:
    """Times and texts; native histograms have neither `value` nor `values` and are left out."""
    single = [entry["value"]] if "value" in entry else []
    for seconds, said in entry.get("values", single):
        yield float(seconds), said


def _number(said: object) -> float | None:
    try:
        return float(said) if isinstance(said, str | int | float) else None
    except (ValueError, OverflowError):
        return None
