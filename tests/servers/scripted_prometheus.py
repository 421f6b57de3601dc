"""A Prometheus by script: series with samples at known times, limits, absence; no server needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.sources.port import SourceAwayError
from paramedic.ingest.sources.prometheus.client import AnswerTooLargeError, Entry

_RANGE = re.compile(r"(\{.*\})\[(\d+)ms\]")
_INSTANCE = re.compile(r'instance(=~|!~)"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Scraped:
    """One series: its labels and its samples' times and values."""

    metric: Mapping[str, str]
    samples: Sequence[tuple[float, str]]


class ScriptedPrometheus:
    """Answers as the API does: a range holds its end and its beginning."""

    def __init__(self, clock: Callable[[], float], series: Callable[[], Sequence[Scraped]]) -> None:
        self._clock = clock
        self._series = series
        self.is_away = False
        self.sample_limit: int | None = None
        """As `--query.max-samples`."""
        self.down: dict[str, str] = {}
        """Why instances cannot be scraped."""
        self.stored_after_seconds = 0.0
        """How long after its time a sample can be queried."""
        self.scrapes_a_minute = 60
        self.asked: list[str] = []
        self.is_closed = False

    def query(self, expression: str, at_seconds: float | None = None) -> list[Entry]:
        if self.is_away:
            raise SourceAwayError("Connection refused")
        self.asked.append(expression)
        at = self._clock() if at_seconds is None else at_seconds
        if expression.startswith("up{"):
            return [{"metric": {"instance": one, "job": "dcgm"}} for one in self.down]
        if expression.startswith("count("):
            return [_scalar(len(self._series()))]
        if expression.startswith("max(count_over_time(up"):
            return [_scalar(self.scrapes_a_minute)]
        if expression.startswith("count by (instance)"):
            return [{"metric": {"instance": one}} for one in self._instances()]
        return self._range(expression, at)

    def now_seconds(self) -> float:
        if self.is_away:
            raise SourceAwayError("Connection refused")
        return self._clock()

    def scrape_errors(self) -> Mapping[str, str]:
        return self.down

    def close(self) -> None:
        self.is_closed = True

    def _instances(self) -> list[str]:
        return sorted({one.metric["instance"] for one in self._series()})

    def _range(self, expression: str, end: float) -> list[Entry]:
        match = _RANGE.fullmatch(expression)
        assert match is not None, expression
        start = end - int(match[2]) / 1000
        stored = self._clock() - self.stored_after_seconds
        answer: list[Entry] = []
        for one in self._series():
            if _is_meant(match[1], one.metric["instance"]):
                held = [[t, v] for t, v in one.samples if start <= t <= min(end, stored)]
                answer += [{"metric": dict(one.metric), "values": held}] if held else []
        self._limit(answer)
        return answer

    def _limit(self, answer: Sequence[Entry]) -> None:
        samples = sum(len(one["values"]) for one in answer)
        if self.sample_limit is not None and samples > self.sample_limit:
            raise AnswerTooLargeError("query processing would load too many samples into memory")


def _scalar(value: float) -> Entry:
    return {"metric": {}, "value": [0.0, str(value)]}


def _is_meant(selector: str, instance: str) -> bool:
    match = _INSTANCE.search(selector)
    if match is None:
        return True
    pattern = match[2].replace("\\\\", "\\")
    return (re.fullmatch(pattern, instance) is not None) == (match[1] == "=~")


def every_second(metric: Mapping[str, str], first: int, last: int, phase: float = 0.5) -> Scraped:
    """A series scraped once a second; each value is the second."""
    samples = [(second + phase, str(second)) for second in range(first, last + 1)]
    return Scraped(metric, samples)
