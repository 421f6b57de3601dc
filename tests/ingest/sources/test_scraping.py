"""Scraping real HTTP servers: pages, sizes, compression, refusals, connections kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from paramedic.ingest.sources.access import AccessError, HttpAccess
from paramedic.ingest.sources.port import SourceError
from paramedic.ingest.sources.scraping.source import ScrapeSettings, ScrapeSource
from paramedic.ingest.sources.scraping.targets import targets_of_lines
from servers.exporters import Exporter, exporter
from servers.telemetry_sink import KeepingSink, running

pytestmark = pytest.mark.long


PAGE = 'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1"} 61\nnode_load1 3.5\nbroken{ 1\n'
QUICK = ScrapeSettings(0.05, timeout_seconds=1, retry_limit_seconds=0.1)


@pytest.fixture
def served() -> Iterator[Exporter]:
    with exporter(PAGE) as one:
        yield one


def scraper(served: Exporter, settings: ScrapeSettings = QUICK) -> ScrapeSource:
    return ScrapeSource(targets_of_lines([served.address], "test"), settings, time.time)


def heard(source: ScrapeSource, count: int = 1) -> KeepingSink:
    """What it gave until so much had come."""
    with running(source) as run:
        run.sink.wait_for(lambda: len(run.sink.pages) + len(run.sink.silences) >= count)
    return run.sink


def reason_given(source: ScrapeSource) -> str:
    sink = heard(source)
    assert sink.pages == []
    return sink.silences[0][2]


def test_a_page_names_its_exporter_its_node_and_its_moment(served: Exporter) -> None:
    before = time.time()
    page = heard(scraper(served)).pages[0]
    assert page.origin == f"http://{served.address}/metrics"
    assert page.default_node == "127.0.0.1"
    assert before <= page.taken_seconds <= time.time()
    assert [(one.name, value) for one, value in zip(page.series, page.values, strict=True)] == [
        ("DCGM_FI_DEV_GPU_TEMP", 61.0),
        ("node_load1", 3.5),
    ]
    assert sum(page.unreadable.values()) == 1
    assert page.is_whole


def test_the_connection_is_kept_and_series_stay_the_same_objects(served: Exporter) -> None:
    pages = heard(scraper(served), 4).pages
    assert served.connections == 1
    assert pages[0].series is pages[3].series


def test_a_page_that_is_under_way_at_the_end_is_taken(served: Exporter) -> None:
    served.delay_seconds = 0.2
    with running(scraper(served)) as run:
        run.sink.wait_for(lambda: len(run.sink.pages) >= 2)
        while served.requests == len(run.sink.pages):  # until the next is under way
            time.sleep(0.01)
        run.end()
    assert len(run.sink.pages) == served.requests


def test_pages_belong_to_different_intervals(served: Exporter) -> None:
    pages = heard(scraper(served), 5).pages
    slots = [int(page.taken_seconds / QUICK.interval_seconds) for page in pages]
    assert slots == sorted(set(slots))


def test_a_compressed_page_is_read(served: Exporter) -> None:
    served.is_compressed = True
    assert len(heard(scraper(served)).pages[0].series) == 2
    assert "gzip" in served.seen_headers["Accept-Encoding"]


def test_a_page_that_is_too_large_even_if_only_after_decompression_is_refused(
    served: Exporter,
) -> None:
    served.is_compressed = True
    served.page = "# " + "a" * 3_000_000
    settings = replace(QUICK, page_limit_bytes=1_000_000)
    assert "page_limit_bytes" in reason_given(scraper(served, settings))


def test_an_exporter_that_does_not_answer_in_time_is_told(served: Exporter) -> None:
    served.delay_seconds = 0.3
    settings = replace(QUICK, timeout_seconds=0.05)
    assert "did not answer in 0.05 s" in reason_given(scraper(served, settings))


@pytest.mark.parametrize(
    ("status", "told"), [(503, "HTTP 503"), (401, "give a token"), (403, "not allowed")]
)
def test_a_refusal_is_told_with_its_remedy(served: Exporter, status: int, told: str) -> None:
    served.status = status
    assert told in reason_given(scraper(served))


def test_a_refused_connection_is_told_plainly() -> None:
    source = ScrapeSource(targets_of_lines(["127.0.0.1:1"], "test"), QUICK, time.time)
    assert reason_given(source) == "http://127.0.0.1:1/metrics: Connection refused"


def test_one_exporter_that_hangs_holds_up_no_other(served: Exporter) -> None:
    with exporter(PAGE) as hanging:
        hanging.delay_seconds = 0.5
        targets = targets_of_lines([hanging.address, served.address], "test")
        with running(ScrapeSource(targets, QUICK, time.time)) as run:
            run.sink.wait_for(lambda: len(run.sink.pages) >= 4)
    assert {page.origin for page in run.sink.pages[:4]} == {f"http://{served.address}/metrics"}


def test_the_token_is_sent(served: Exporter, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    heard(scraper(served, replace(QUICK, access=HttpAccess(bearer_token_file=token))))
    assert served.seen_headers["Authorization"] == "Bearer s3cret"


def test_a_token_file_that_is_absent_stops_the_start(served: Exporter, tmp_path: Path) -> None:
    access = HttpAccess(bearer_token_file=tmp_path / "absent")
    with pytest.raises(AccessError, match="absent"):
        scraper(served, replace(QUICK, access=access)).run(KeepingSink(), threading.Event())


def test_times_that_cannot_work_are_refused() -> None:
    with pytest.raises(SourceError, match="spread"):
        ScrapeSettings(spread=1.0)
    with pytest.raises(SourceError, match="interval_seconds"):
        ScrapeSettings(interval_seconds=0)
