"""Other tools' topics: their JSON, their poison, and pages made of single samples."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.sources.kafka_topics.adapter_json import read_adapter_message
from paramedic.ingest.sources.kafka_topics.consumer import Record
from paramedic.ingest.sources.kafka_topics.samples import (
    Poison,
    PoisonError,
    ReadMessage,
    Sample,
    time_of,
)
from paramedic.ingest.sources.kafka_topics.seconds import SecondPages
from paramedic.ingest.sources.kafka_topics.source import KafkaTopicsSource, MessageFormat
from paramedic.ingest.sources.kafka_topics.telegraf_json import read_telegraf_message
from servers.telemetry_sink import running

MOMENT = 1767225600.0  # 2026-01-01T00:00:00Z
ADAPTER = {
    "timestamp": "2026-01-01T00:00:00Z",
    "value": "412.5",
    "name": "DCGM_FI_DEV_POWER_USAGE",
    "labels": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "gpu": "3", "instance": "node-7:9400"},
}
TELEGRAF = {
    "name": "nvidia_smi",
    "tags": {"host": "node-7", "index": "3"},
    "fields": {"utilization_gpu": 97, "power_draw": 412.5, "pstate": "P0"},
    "timestamp": 1767225600,
}


def adapter(**changes: Any) -> bytes:
    return json.dumps({**ADAPTER, **changes}).encode()


def telegraf(**changes: Any) -> bytes:
    return json.dumps({**TELEGRAF, **changes}).encode()


def poison_of(read: ReadMessage, payload: bytes) -> Poison:
    with pytest.raises(PoisonError) as caught:
        read(payload)
    return caught.value.poison


def test_an_adapters_message_is_one_sample() -> None:
    (sample,) = read_adapter_message(adapter())
    labels = {"gpu": "3", "instance": "node-7:9400"}
    assert sample == Sample(MOMENT, "DCGM_FI_DEV_POWER_USAGE", labels, 412.5)


@pytest.mark.parametrize(
    ("value", "read"), [("NaN", math.nan), ("+Inf", math.inf), (7, 7.0), ("1e3", 1000.0)]
)
def test_an_adapters_value_is_a_number_or_its_text(value: object, read: float) -> None:
    (sample,) = read_adapter_message(adapter(value=value))
    assert sample.value == pytest.approx(read, nan_ok=True)


@pytest.mark.parametrize(
    ("payload", "poison"),
    [
        (b"\xff\xfe", Poison.NOT_JSON),
        (b"[1]", Poison.NOT_JSON),
        (b"[" * 100_000, Poison.NOT_JSON),
        (adapter(value="ERROR - FAILED TO CONVERT TO STRING"), Poison.NO_VALUE),
        (adapter(value=None), Poison.NO_VALUE),
        (adapter(value=True), Poison.NO_VALUE),
        (adapter(timestamp="yesterday"), Poison.NO_TIME),
        (adapter(timestamp=None), Poison.NO_TIME),
        (adapter(timestamp=10**400), Poison.NO_TIME),
        (adapter(timestamp=-1), Poison.NO_TIME),
        (adapter(labels=[1]), Poison.NO_LABELS),
        (adapter(name=None, labels={}), Poison.NO_NAME),
    ],
)
def test_what_is_no_adapters_message_is_poison(payload: bytes, poison: Poison) -> None:
    assert poison_of(read_adapter_message, payload) is poison


def test_a_telegraf_measurement_is_a_sample_for_each_number() -> None:
    samples = read_telegraf_message(telegraf())
    assert {(sample.name, sample.value) for sample in samples} == {
        ("nvidia_smi_utilization_gpu", 97.0),
        ("nvidia_smi_power_draw", 412.5),
    }
    assert {sample.seconds for sample in samples} == {MOMENT}
    assert samples[0].labels == {"host": "node-7", "index": "3"}


@pytest.mark.parametrize(
    ("name", "field"),
    [("DCGM_FI_DEV_GPU_TEMP", "gauge"), ("prometheus", "DCGM_FI_DEV_GPU_TEMP")],
)
def test_what_telegrafs_prometheus_input_read_keeps_its_name(name: str, field: str) -> None:
    (sample,) = read_telegraf_message(telegraf(name=name, fields={field: 61}))
    assert (sample.name, sample.value) == ("DCGM_FI_DEV_GPU_TEMP", 61.0)


def test_a_telegraf_batch_is_read_whole() -> None:
    payload = json.dumps({"metrics": [TELEGRAF, {**TELEGRAF, "tags": {"host": "b"}}]}).encode()
    assert len(read_telegraf_message(payload)) == 4


@pytest.mark.parametrize(
    ("payload", "poison"),
    [
        (b"", Poison.NOT_JSON),
        (b"3", Poison.NOT_JSON),
        (b'{"metrics": 3}', Poison.NOT_JSON),
        (b'{"metrics": [3]}', Poison.NOT_JSON),
        (telegraf(name=""), Poison.NO_NAME),
        (telegraf(fields=None), Poison.NO_VALUE),
        (telegraf(tags=3), Poison.NO_LABELS),
        (telegraf(timestamp=None), Poison.NO_TIME),
    ],
)
def test_what_is_no_telegraf_message_is_poison(payload: bytes, poison: Poison) -> None:
    assert poison_of(read_telegraf_message, payload) is poison


@pytest.mark.parametrize("factor", [1, 1e3, 1e6, 1e9])
def test_times_are_read_in_any_unit(factor: float) -> None:
    assert time_of(int(MOMENT * factor)) == pytest.approx(MOMENT)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["name", "value", "timestamp", "labels", "tags", "fields", "metrics"]
                ),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_samples_or_poison(message: object) -> None:
    for read in (read_adapter_message, read_telegraf_message):
        try:
            samples = read(json.dumps(message).encode())
        except PoisonError:
            continue
        assert all(math.isfinite(sample.seconds) for sample in samples)


def sample(seconds: float, value: float = 1.0, **labels: str) -> Sample:
    return Sample(seconds, "a", labels, value)


def test_a_page_is_whole_when_a_newer_second_begins() -> None:
    pages = SecondPages("metrics", 1.0)
    pages.add([sample(100.2, gpu="0"), sample(100.9, gpu="1")], now_seconds=101.0)
    assert pages.ready(101.1) == []
    pages.add([sample(101.0)], now_seconds=101.2)
    (page,) = pages.ready(101.2)
    assert (page.taken_seconds, len(page.series), page.is_whole) == (100.0, 2, False)


def test_a_page_is_given_after_a_while_when_nothing_follows() -> None:
    pages = SecondPages("metrics", 1.0)
    pages.add([sample(100.2)], now_seconds=101.0)
    assert [page.taken_seconds for page in pages.ready(102.0)] == [100.0]
    assert pages.ready(103.0) == []


def test_a_late_sample_makes_another_page_of_its_second() -> None:
    pages = SecondPages("metrics", 1.0)
    pages.add([sample(100.0), sample(101.0)], 101.0)
    pages.ready(101.0)
    pages.add([sample(100.5, 2.0)], 101.1)
    assert [(page.taken_seconds, list(page.values)) for page in pages.ready(101.1)] == [
        (100.0, [2.0])
    ]


def test_one_clock_that_is_ahead_does_not_end_the_others_pages() -> None:
    pages = SecondPages("metrics", 1.0)
    pages.add([sample(9e9), sample(100.0)], now_seconds=100.1)
    assert pages.ready(100.2) == []


def test_series_are_the_same_objects_in_the_same_order_whatever_order_they_come_in() -> None:
    pages = SecondPages("metrics", 1.0)
    pages.add([sample(100, gpu="0"), sample(100, gpu="1")], 100.0)
    pages.add([sample(101, gpu="1"), sample(101, gpu="0")], 101.0)
    first, second = pages.ready(200.0)
    assert first.series == second.series


def test_series_that_are_no_longer_in_use_are_forgotten() -> None:
    pages = SecondPages("metrics", 1.0, known_limit=2)
    pages.add([sample(100, gpu=str(n)) for n in range(5)], 100.0)
    pages.add([sample(101, 7.0, gpu="4")], 101.0)
    pages.ready(101.0)
    assert len(pages._series) == 1
    (page,) = pages.ready(103.0)
    assert (page.series[0].labels, list(page.values)) == ({"gpu": "4"}, [7.0])


@given(st.lists(st.tuples(st.integers(100, 106), st.integers(0, 3)), max_size=40))
def test_every_sample_comes_out_once_with_its_second(story: list[tuple[int, int]]) -> None:
    pages = SecondPages("metrics", 1.0)
    given_out: Counter[tuple[float, str]] = Counter()
    for second, gpu in story:
        pages.add([sample(second, gpu=str(gpu))], float(second))
        for page in pages.ready(float(second)):
            given_out.update((page.taken_seconds, one.labels["gpu"]) for one in page.series)
    for page in pages.ready(1e6):
        given_out.update((page.taken_seconds, one.labels["gpu"]) for one in page.series)
    assert set(given_out) == {(float(second), str(gpu)) for second, gpu in story}


class Scripted:
    """A topic that holds some messages."""

    def __init__(self, payloads: list[bytes]) -> None:
        self._records = [Record("metrics", 0, n, one) for n, one in enumerate(payloads)]

    def poll(self, _timeout_seconds: float, /) -> list[Record]:
        taken, self._records = self._records, []
        return taken

    def close(self) -> None:
        """Nothing is open."""


def test_poison_is_put_away_and_counted_and_costs_no_other_message() -> None:
    put_away: list[tuple[int, str]] = []
    times = iter(range(1000, 100_000))
    topic = Scripted([adapter(), b"poison", adapter(value="none"), adapter(value="5", name="b")])
    source = KafkaTopicsSource(
        "metrics",
        MessageFormat.PROMETHEUS_KAFKA_ADAPTER,
        lambda: topic,
        lambda record, reason: put_away.append((record.offset, reason)),
        lambda: float(next(times)),
    )
    with running(source) as run:
        assert run.sink.wait_for(lambda: bool(run.sink.pages))
    page = run.sink.pages[0]
    assert (list(page.values), dict(page.unreadable)) == (
        [412.5, 5.0],
        {"not_json": 1, "no_value": 1},
    )
    assert [offset for offset, _ in put_away] == [1, 2]
    assert "poison" in put_away[0][1]


def test_a_topic_that_falls_silent_is_told() -> None:
    times = iter(range(1000, 100_000))
    source = KafkaTopicsSource(
        "metrics", MessageFormat.TELEGRAF, lambda: Scripted([]), print, lambda: float(next(times))
    )
    with running(source) as run:
        assert run.sink.wait_for(lambda: bool(run.sink.silences))
    assert "no message for 30 s" in run.sink.silences[0][2]
