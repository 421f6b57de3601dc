"""From a Prometheus' answers to pages: each sample once, in its second, one page a target."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.sources.prometheus.samples import SampleLedger
from paramedic.ingest.sources.prometheus.scrape_clock import ScrapeClock

URL = "http://prometheus:9090"
GPU = {"__name__": "DCGM_FI_DEV_GPU_TEMP", "gpu": "0", "instance": "n1:9400", "job": "dcgm"}


def entry(*samples: tuple[float, str], **labels: str) -> dict[str, Any]:
    return {"metric": {**GPU, **labels}, "values": [list(sample) for sample in samples]}


def test_a_page_is_what_one_target_said_in_one_second() -> None:
    ledger = SampleLedger(URL)
    pages = ledger.pages(
        [
            entry((100.2, "61"), (101.2, "62")),
            entry((100.2, "71"), gpu="1"),
            entry((100.7, "50"), instance="n2:9400"),
        ]
    )
    shown = [(page.taken_seconds, page.default_node, list(page.values)) for page in pages]
    assert shown == [(100.0, "n1", [61.0, 71.0]), (100.0, "n2", [50.0]), (101.0, "n1", [62.0])]
    assert pages[0].origin == f"n1:9400 (job dcgm) at {URL}"
    assert all(page.is_whole for page in pages)


def test_a_scrape_off_the_beat_does_not_tear_the_pages_before_it() -> None:
    times = (56.994, 58.332, 59.006, 60.016)
    series = [entry(*((at, "1") for at in times), gpu=str(gpu)) for gpu in range(3)]
    pages = SampleLedger(URL).pages(series)
    assert [(page.taken_seconds, len(page.series)) for page in pages] == [
        (56.0, 3), (58.0, 3), (59.0, 3), (60.0, 3)
    ]  # fmt: skip


def test_a_series_that_comes_late_lies_in_the_second_of_its_scrape_and_changes_no_other() -> None:
    ledger = SampleLedger(URL)
    ledger.pages([entry((56.994, "1"), (58.332, "1"))])
    (late, next_one) = ledger.pages(
        [entry((56.994, "1"), gpu="1"), entry((58.332, "1"), (59.332, "1"))]
    )
    assert (late.taken_seconds, next_one.taken_seconds) == (56.0, 59.0)


def test_labels_are_those_of_the_answer_without_the_name() -> None:
    (page,) = SampleLedger(URL).pages([entry((100.0, "61"))])
    (series,) = page.series
    assert series.name == "DCGM_FI_DEV_GPU_TEMP"
    assert series.labels == {"gpu": "0", "instance": "n1:9400", "job": "dcgm"}


def test_a_sample_that_is_answered_again_comes_only_once() -> None:
    ledger = SampleLedger(URL)
    ledger.pages([entry((100.2, "61"), (101.2, "62"))])
    (page,) = ledger.pages([entry((101.2, "62"), (102.2, "63"))])
    assert (page.taken_seconds, list(page.values)) == (102.0, [63.0])
    assert ledger.pages([entry((101.2, "62"), (102.2, "63"))]) == []


def test_a_target_whose_series_stay_the_same_gives_the_very_same_list() -> None:
    ledger = SampleLedger(URL)
    (first,) = ledger.pages([entry((100.2, "61")), entry((100.2, "1"), gpu="1")])
    (second,) = ledger.pages([entry((101.2, "62")), entry((101.2, "1"), gpu="1")])
    assert second.series is first.series
    (third,) = ledger.pages([entry((102.2, "62"))])
    assert len(third.series) == 1


@pytest.mark.parametrize("text", ["NaN", "+Inf", "-Inf", "9.223372036854776e+18"])
def test_odd_values_are_passed_on_for_the_cleaner_to_judge(text: str) -> None:
    (page,) = SampleLedger(URL).pages([entry((100.2, text))])
    assert str(page.values[0]) == str(float(text))


def test_text_that_is_no_number_costs_itself_and_is_counted() -> None:
    (page,) = SampleLedger(URL).pages([entry((100.2, "none")), entry((100.2, "5"), gpu="1")])
    assert (list(page.values), dict(page.unreadable)) == ([5.0], {"not_a_number": 1})


def test_histograms_are_left_out() -> None:
    assert SampleLedger(URL).pages([{"metric": GPU, "histograms": [[100.0, {}]]}]) == []


def test_what_has_ended_long_ago_is_forgotten() -> None:
    ledger = SampleLedger(URL)
    ledger.pages([entry((100.0, "1")), entry((900.0, "1"), instance="n2:9400")])
    ledger.forget(1100.0)
    assert list(ledger.targets) == [("dcgm", "n2:9400")]
    assert ledger.newest_seconds == 900.0


def test_the_cadence_is_that_of_the_most_often_scraped_target() -> None:
    ledger = SampleLedger(URL)
    slow = entry(*[(100.0 + 15 * n, "1") for n in range(4)], instance="n2:9400")
    ledger.pages([slow])
    assert ledger.cadence_seconds == 15.0
    ledger.pages([entry(*[(100.1 + 5 * n, "1") for n in range(4)])])
    assert ledger.cadence_seconds == pytest.approx(5.0)


def test_scrapes_that_tremble_around_the_full_second_keep_a_second_each() -> None:
    clock = ScrapeClock()
    times = [99.999, 101.002, 101.998, 103.001, 103.997]
    assert [clock.second_of(time) for time in times] == [99, 100, 101, 102, 103]


def test_a_scrape_that_moves_for_good_is_followed() -> None:
    clock = ScrapeClock()
    assert [clock.second_of(time) for time in (100.1, 101.1, 102.6, 103.6)] == [100, 101, 102, 103]


def test_a_hole_stays_a_hole() -> None:
    clock = ScrapeClock()
    assert [clock.second_of(time) for time in (100.5, 101.5, 105.5)] == [100, 101, 105]


def test_the_cadence_is_not_disturbed_by_one_hole() -> None:
    clock = ScrapeClock()
    for time in (100.0, 101.0, 102.0, 110.0, 111.0):
        clock.second_of(time)
    assert clock.cadence_seconds == 1.0


@given(
    st.floats(0, 1, exclude_max=True),
    st.sampled_from([1, 2, 5, 15]),
    st.lists(st.floats(-0.1, 0.1), min_size=2, max_size=30),
)
def test_every_scrape_has_a_second_of_its_own(
    phase: float, cadence: int, tremble: list[float]
) -> None:
    clock = ScrapeClock()
    times = [1e9 + cadence * n + phase + shift for n, shift in enumerate(tremble)]
    seconds = [clock.second_of(time) for time in times]
    steps = [after - before for before, after in pairwise(seconds)]
    assert steps == [cadence] * len(steps)
    assert all(abs(time - second) < 1.3 for time, second in zip(times, seconds, strict=True))


@given(st.data())
def test_whatever_spans_are_asked_for_each_sample_comes_exactly_once(data: st.DataObject) -> None:
    samples = [(1000.0 + n + 0.3, str(n)) for n in range(30)]
    ledger = SampleLedger(URL)
    seen: Counter[float] = Counter()
    position = 1000.0
    while position < 1031:
        overlap = data.draw(st.floats(0, 5))
        end = position + data.draw(st.floats(0.5, 10))
        held = [(t, v) for t, v in samples if position - overlap <= t <= end]
        for page in ledger.pages([entry(*held)] if held else []):
            seen.update(page.values)
        position = end
    assert seen == Counter({float(n): 1 for n in range(30)})
    assert not math.isinf(ledger.newest_seconds)
