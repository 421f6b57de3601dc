"""A real Prometheus that scrapes real exporters once a second: all that they said arrives, once."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from paramedic.ingest.sources.prometheus.client import PrometheusApi, QueryError
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.prometheus.source import PrometheusSource
from servers.exporters import SCRAPE, Exporter, exporter
from servers.prometheus import PrometheusServer, prometheus
from servers.telemetry_sink import KeepingSink, running

pytestmark = [pytest.mark.connected, pytest.mark.timeout(180)]

GPUS = 4
PAST_SCRAPES = 8
PAGE = "".join(f'DCGM_FI_DEV_GPU_TEMP{{gpu="{gpu}"}} {SCRAPE}\n' for gpu in range(GPUS))


@contextmanager
def scraped(folder: Path, count: int = 3) -> Iterator[tuple[PrometheusServer, list[Exporter]]]:
    """A Prometheus that has scraped its exporters for some seconds."""
    with ExitStack() as open_things:
        served = [open_things.enter_context(exporter(PAGE)) for _ in range(count)]
        server = open_things.enter_context(prometheus(folder, [one.address for one in served]))
        deadline = time.monotonic() + 30
        while min(one.requests for one in served) < PAST_SCRAPES and time.monotonic() < deadline:
            time.sleep(0.2)
        yield server, served


def settings(server: PrometheusServer, **changes: object) -> PrometheusSettings:
    return PrometheusSettings(server.url, ("DCGM_FI_.*",), **changes)  # type: ignore[arg-type]


def stored(server: PrometheusServer) -> Counter[tuple[str, str, float]]:
    """Every raw sample that Prometheus holds: instance, GPU, value."""
    query = "DCGM_FI_DEV_GPU_TEMP%5B10m%5D"
    with urllib.request.urlopen(f"{server.url}/api/v1/query?query={query}") as answer:
        result = json.load(answer)["data"]["result"]
    return Counter(
        (one["metric"]["instance"], one["metric"]["gpu"], float(value))
        for one in result
        for _, value in one["values"]
    )


def received(sink: KeepingSink) -> Counter[tuple[str, str, float]]:
    return Counter(
        (series.labels["instance"], series.labels["gpu"], value)
        for page in sink.pages
        for series, value in zip(page.series, page.values, strict=True)
    )


def test_every_sample_arrives_once_in_a_second_of_its_own(tmp_path: Path) -> None:
    with scraped(tmp_path) as (server, _):
        began = time.time()
        with running(PrometheusSource(settings(server), time.time)) as run:
            assert run.sink.wait_for(
                lambda: any(page.taken_seconds >= began + 5 for page in run.sink.pages), 30
            )
        held = stored(server)
    got = received(run.sink)
    newest = min(max(value for one, _, value in got if one == instance) for instance, _, _ in got)
    assert newest > PAST_SCRAPES
    assert _until(got, newest) == _until(held, newest)
    for origin in {page.origin for page in run.sink.pages}:
        seconds = [page.taken_seconds for page in run.sink.pages if page.origin == origin]
        assert seconds == sorted(set(seconds))
        assert seconds[0] < began - 3


def test_limits_of_the_server_are_kept_within(tmp_path: Path) -> None:
    with ExitStack() as open_things:
        served = [open_things.enter_context(exporter(PAGE)) for _ in range(6)]
        limit = ("--query.max-samples=30",)  # all in a second with what is read again: 72
        targets = [one.address for one in served]
        server = open_things.enter_context(prometheus(tmp_path, targets, options=limit))
        source = PrometheusSource(settings(server, past_seconds=10.0), time.time)
        with running(source) as run:
            assert run.sink.wait_for(
                lambda: len({page.origin for page in run.sink.pages}) == 6, 60
            ), run.sink.silences


def test_a_target_that_goes_away_is_told_and_its_series_end_at_once(tmp_path: Path) -> None:
    with (
        scraped(tmp_path, 2) as (server, (_, gone)),
        running(PrometheusSource(settings(server), time.time)) as run,
    ):
        assert run.sink.wait_for(lambda: bool(run.sink.pages), 20)
        gone.status = 500
        left = time.time()

        def told() -> int:
            return sum(gone.address in origin for origin, _, _ in run.sink.silences)

        assert run.sink.wait_for(lambda: told() >= 3, 20)
    reasons = [reason for origin, _, reason in run.sink.silences if gone.address in origin]
    assert "server returned HTTP status 500" in reasons[-1]
    last = [page.taken_seconds for page in run.sink.pages if gone.address in page.origin][-1]
    assert last <= left + 1


def test_a_server_that_restarts_loses_nothing_of_what_it_holds(tmp_path: Path) -> None:
    with ExitStack() as open_things:
        one = open_things.enter_context(exporter("DCGM_FI_DEV_GPU_TEMP 1\n"))
        with prometheus(tmp_path, [one.address]) as first:
            source = PrometheusSource(settings(first), time.time)
            port = int(first.url.rpartition(":")[2])
            run = open_things.enter_context(running(source))
            assert run.sink.wait_for(lambda: bool(run.sink.pages), 30)
        before = len(run.sink.pages)
        assert run.sink.wait_for(lambda: bool(run.sink.silences), 20)
        with prometheus(tmp_path, [one.address], port=port):
            assert run.sink.wait_for(lambda: len(run.sink.pages) > before + 2, 40)
        assert run.end() < 5


def test_a_query_that_it_refuses_is_named(tmp_path: Path) -> None:
    with ExitStack() as open_things:
        server = open_things.enter_context(prometheus(tmp_path, []))
        source = PrometheusSource(settings(server, matchers='cluster=~"("'), time.time)
        with pytest.raises(QueryError, match="missing closing"):
            source.run(KeepingSink(), threading.Event())
        api = PrometheusApi(settings(server))
        assert abs(api.now_seconds() - time.time()) < 1
        api.close()


def _until(
    samples: Counter[tuple[str, str, float]], newest: float
) -> Counter[tuple[str, str, float]]:
    return Counter({key: count for key, count in samples.items() if key[2] <= newest})
