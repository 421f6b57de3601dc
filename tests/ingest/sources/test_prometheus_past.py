"""Of a past with very many samples only the newest part is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paramedic.ingest.sources.port import SourceAwayError
from paramedic.ingest.sources.prometheus.client import Entry, QueryError
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.past import affordable_past_seconds
from paramedic.ingest.sources.prometheus.plan import QueryPlan
from servers.scripted_prometheus import ScriptedPrometheus, every_second

pytestmark = pytest.mark.long


SETTINGS = PrometheusSettings(
    "http://p:9090", ("DCGM_.*",), past_seconds=900, past_sample_limit=12_000
)


def scripted(series: int) -> ScriptedPrometheus:
    metrics = [every_second({"instance": str(number)}, 0, 0) for number in range(series)]
    return ScriptedPrometheus(lambda: 1000.0, lambda: metrics)


@pytest.mark.parametrize(
    ("series", "scrapes_a_minute", "past_seconds"),
    [
        (10, 60, 900),  # 9,000 samples
        (100, 60, 120),  # 12,000 in two minutes
        (100, 4, 900),  # every 15 s: 6,000
        (100_000, 60, 60),  # never less than a window
        (0, 60, 900),
    ],
)
def test_the_past_is_as_long_as_its_samples_allow(
    series: int, scrapes_a_minute: int, past_seconds: float
) -> None:
    api = scripted(series)
    api.scrapes_a_minute = scrapes_a_minute
    assert affordable_past_seconds(SETTINGS, api) == past_seconds


def test_a_past_that_is_asked_for_to_be_short_stays_short() -> None:
    assert affordable_past_seconds(replace(SETTINGS, past_seconds=5), scripted(100_000)) == 5


class DoesNotCount(ScriptedPrometheus):
    def query(self, expression: str, at_seconds: float | None = None) -> list[Entry]:
        raise QueryError(f"no aggregations here: {expression} at {at_seconds}")


def test_a_server_that_does_not_count_is_read_as_asked() -> None:
    assert affordable_past_seconds(SETTINGS, DoesNotCount(lambda: 0.0, list)) == 900


def test_a_server_that_is_away_is_asked_again_later() -> None:
    api = scripted(1)
    api.is_away = True
    with pytest.raises(SourceAwayError):
        affordable_past_seconds(SETTINGS, api)


def test_an_empty_past_does_not_make_the_first_answer_with_samples_too_large() -> None:
    plan = QueryPlan(sample_limit=1000)
    for _ in range(50):
        plan.answered(0)
    assert plan.chunk_seconds == 10.0
