"""Reading a Prometheus by script, in virtual time: the past, the present, limits, late stores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from threading import Event

import pytest

from paramedic.ingest.sources.port import RawPage, SourceError
from paramedic.ingest.sources.prometheus.client import AnswerTooLargeError
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.plan import QueryPlan
from paramedic.ingest.sources.prometheus.queries import (
    alternatives,
    over,
    parts_of_instances,
    quoted,
    selectors,
    with_matcher,
)
from paramedic.ingest.sources.prometheus.reading import Reading
from servers.scripted_prometheus import Scraped, ScriptedPrometheus, every_second

SETTINGS = PrometheusSettings("http://prometheus:9090", ("DCGM_.*",), past_seconds=60)
START = 1000.0


class Story:
    """A reading in virtual time."""

    def __init__(self, series: Sequence[Scraped], settings: PrometheusSettings = SETTINGS) -> None:
        self.now = START
        self.api = ScriptedPrometheus(lambda: self.now, lambda: series)
        self.reading = Reading(settings, self.api, self.now)
        self.pages: list[RawPage] = []

    def catch_up(self) -> int:
        """Read up to now; how many steps that took."""
        steps = 0
        is_live = False
        while not is_live:
            step = self.reading.step(self.now, Event())
            self.pages += step.pages
            is_live = step.is_live
            steps += 1
        return steps

    def pass_seconds(self, count: int) -> None:
        for _ in range(count):
            self.now += 1
            self.catch_up()

    @property
    def seconds(self) -> list[int]:
        return [int(page.taken_seconds) for page in self.pages]


def gpu(node: int = 1, **labels: str) -> dict[str, str]:
    return {"__name__": "DCGM_A", "instance": f"n{node}:9400", "job": "dcgm", **labels}


def test_the_past_is_read_at_once_in_order_and_then_every_second() -> None:
    story = Story([every_second(gpu(), 900, 1100)])
    story.catch_up()
    assert story.seconds[-1] == 998  # 999 has not settled
    assert story.seconds[0] in range(936, 942)
    story.pass_seconds(5)
    assert story.seconds == list(range(story.seconds[0], 1004))


def test_a_second_is_read_when_it_is_complete() -> None:
    phases = [every_second(gpu(n), 990, 1100, phase=n / 10) for n in range(10)]
    story = Story(phases)
    story.catch_up()
    story.pages.clear()
    story.pass_seconds(1)
    assert [len({page.origin for page in story.pages}), set(story.seconds)] == [10, {999}]


def test_a_series_that_ends_is_not_carried_on() -> None:
    story = Story([every_second(gpu(), 950, 1001), every_second(gpu(2), 950, 1100)])
    story.catch_up()
    story.pass_seconds(20)
    by_target = {page.origin.split(":")[0]: int(page.taken_seconds) for page in story.pages}
    assert by_target == {"n1": 1001, "n2": 1018}


def test_samples_that_are_stored_late_are_waited_for() -> None:
    story = Story([every_second(gpu(), 900, 1100)])
    story.api.stored_after_seconds = 20.0
    story.catch_up()
    story.pass_seconds(30)
    assert story.seconds == list(range(story.seconds[0], 1010))


def test_one_slow_scrape_is_found_by_reading_a_little_again() -> None:
    slow = every_second(gpu(), 990, 1100)
    story = Story([slow])
    story.catch_up()
    story.api.stored_after_seconds = 1.9
    story.pass_seconds(2)
    story.api.stored_after_seconds = 0.0
    story.pass_seconds(2)
    assert story.seconds == list(range(990, 1003))


def test_after_a_long_silence_no_more_than_the_past_is_read() -> None:
    story = Story([every_second(gpu(), 900, 2000)])
    story.catch_up()
    story.pages.clear()
    story.now += 600
    story.catch_up()
    assert story.seconds[0] >= 1600 - 60 - 2


def test_an_answer_that_is_too_large_is_asked_for_in_shorter_spans() -> None:
    story = Story([every_second(gpu(n), 900, 1100) for n in range(10)])
    story.api.sample_limit = 70
    story.catch_up()
    assert sorted(set(story.seconds)) == list(range(story.seconds[0], 999))
    assert len(story.pages) == 10 * len(set(story.seconds))


def test_where_a_second_is_too_large_instances_are_asked_for_in_parts() -> None:
    story = Story([every_second(gpu(n), 990, 1100) for n in range(40)])
    story.api.sample_limit = 60  # a second with what is read again holds 120
    story.catch_up()
    story.pass_seconds(3)
    latest = [page for page in story.pages if page.taken_seconds == 1001]
    assert len(latest) == 40
    assert any("instance=~" in asked for asked in story.api.asked)


def test_one_that_is_too_large_whatever_is_done_is_said() -> None:
    story = Story([every_second(gpu(), 900, 1100)])
    story.api.sample_limit = 0
    with pytest.raises(AnswerTooLargeError, match="too many samples"):
        story.catch_up()


def test_new_instances_are_found_while_instances_are_read_in_parts() -> None:
    series = [every_second(gpu(n), 990, 1100) for n in range(8)]
    story = Story(series)
    story.api.sample_limit = 12
    story.catch_up()
    series.append(every_second(gpu(99), 1000, 1100))
    story.pass_seconds(4)
    assert any(page.default_node == "n99" for page in story.pages)


def test_a_quiet_server_is_looked_at_as_often_as_it_scrapes_but_every_five_seconds() -> None:
    story = Story([Scraped(gpu(), [(900.0 + 15 * n, "1") for n in range(10)])])
    assert story.reading.poll_seconds == 1.0
    story.catch_up()
    assert story.reading.ledger.cadence_seconds == 15.0
    assert story.reading.poll_seconds == 5.0
    assert story.seconds == [945, 960, 975, 990]


def test_targets_that_cannot_be_scraped_are_told_with_the_reason() -> None:
    story = Story([every_second(gpu(), 900, 1100)])
    story.catch_up()
    story.api.down = {"n7:9400": "connection refused"}
    (absence,) = story.reading.absent(story.now)
    assert absence.node == "n7"
    assert absence.reason == "n7:9400: Prometheus cannot scrape it: connection refused"
    assert 'up{job=~"dcgm"} == 0' in story.api.asked


def test_a_target_that_is_no_longer_scraped_is_told_after_a_while_under_its_pages_name() -> None:
    story = Story([every_second(gpu(), 900, 1000), every_second(gpu(2), 900, 1100)])
    story.catch_up()
    story.pass_seconds(4)
    assert story.reading.absent(story.now) == []
    story.pass_seconds(4)
    (absence,) = story.reading.absent(story.now)
    assert absence.origin == next(p.origin for p in story.pages if p.default_node == "n1")
    assert "no new samples for 8 s" in absence.reason


def test_names_are_grouped_so_that_a_query_stays_short() -> None:
    names = [f"DCGM_FI_DEV_{n:04}" for n in range(900)]
    groups = selectors(names, ' cluster="a", ')
    assert all(len(group) < 4100 for group in groups)
    assert all(group.endswith(',cluster="a"}') for group in groups)
    assert re.findall(r"DCGM_FI_DEV_\d+", "".join(groups)) == names


def test_parts_and_the_rest_cover_every_instance() -> None:
    parts = parts_of_instances(["b:1", "a:1", "c:1"], 2)
    assert parts == (
        'instance=~"a:1|b:1"',
        'instance=~"c:1"',
        'instance!~"a:1|b:1|c:1"',
    )
    assert parts_of_instances(["a:1", "b:1"], 1) == ("",)


def test_values_with_special_characters_are_matched_literally() -> None:
    assert alternatives(["node-1.x:9400"]) == r'"node-1\\.x:9400"'
    assert quoted('a"b\\c') == r'"a\"b\\c"'


def test_a_query_asks_for_raw_samples_of_a_span() -> None:
    assert over(with_matcher('{a="b"}', 'c="d"'), 2.0015) == '{a="b",c="d"}[2002ms]'


def test_the_plan_grows_while_answers_are_small_and_remembers_what_was_too_large() -> None:
    plan = QueryPlan(sample_limit=1000)
    plan.answered(10)
    assert plan.chunk_seconds == 20.0
    assert plan.too_large(instances=4)
    for _ in range(10):
        plan.answered(10)
    assert plan.chunk_seconds == 10.0
    for _ in range(200):
        plan.answered(10)
    assert plan.chunk_seconds > 10.0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"url": "prometheus:9090"}, "http"),
        ({"url": "http://ops:hush@prometheus:9090"}, "take the password out"),
        ({"names": ()}, "pattern"),
        ({"timeout_seconds": 0.0}, "above 0"),
        ({"sample_limit": 0}, "sample_limit"),
    ],
)
def test_settings_that_cannot_work_are_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(SourceError, match=told):
        replace(SETTINGS, **change)  # type: ignore[arg-type]
