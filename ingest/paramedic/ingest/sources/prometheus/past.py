"""How much of a Prometheus' past can be read without being late for the present."""

from __future__ import annotations

import logging

from paramedic.ingest.sources.prometheus.client import AnswerTooLargeError, QueryApi, QueryError
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.queries import selectors

_LOG = logging.getLogger(__name__)
_MINUTE = 60.0
_LEAST_SECONDS = 60.0
"""A window's worth is always read."""


def affordable_past_seconds(settings: PrometheusSettings, api: QueryApi) -> float:
    """The past that was asked for, or as much of it as its limit of samples allows.

    A server that does not count is believed to have few. Raises SourceAwayError.
    """
    try:
        series = sum(
            _number(api, f"count({selector})")
            for selector in selectors(settings.names, settings.matchers)
        )
        a_minute = _number(api, "max(count_over_time(up[60s]))") or _MINUTE
    except (AnswerTooLargeError, QueryError):
        return settings.past_seconds
    if not series:
        return settings.past_seconds
    affordable = settings.past_sample_limit / (series * a_minute / _MINUTE)
    past_seconds = min(settings.past_seconds, max(affordable, _LEAST_SECONDS))
    _LOG.info("%.0f series, %.0f samples a minute: %.0f s of the past are read",
              series, series * a_minute, past_seconds)  # fmt: skip
    return past_seconds


def _number(api: QueryApi, expression: str) -> float:
    """The answer's only number; 0 where there is none."""
    answer = api.query(expression)
    try:
        return float(answer[0]["value"][1]) if answer else 0.0
    except (LookupError, TypeError, ValueError):
        return 0.0
