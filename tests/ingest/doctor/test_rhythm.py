"""The cadence of the data is that of values that are new, not that of scrapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.doctor.looked import START, Exporters
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.contract import NodeName
from paramedic.ingest.doctor.rhythm import Rhythm, Rhythms, middle


def rhythm_of(pages: list[tuple[int, bool]]) -> Rhythm:
    rhythm = Rhythm("o", NodeName("n"), has_gpus=True)
    for second, is_repeat in pages:
        rhythm.beat(second, is_repeat=is_repeat)
    return rhythm


@given(st.integers(1, 20), st.integers(1, 6), st.integers(3, 8))
def test_an_exporter_that_is_asked_too_often_shows_its_own_interval(
    scraped_every: int, times: int, collections: int
) -> None:
    pages = [(at * scraped_every, at % times != 0) for at in range(times * collections)]
    rhythm = rhythm_of(pages)
    assert rhythm.page_interval == scraped_every
    assert rhythm.cadence == scraped_every * times
    assert rhythm.repeat_share == pytest.approx(1 - 1 / times)
    assert rhythm.is_stale is (times > 1)
    assert not rhythm.is_at_least


def test_an_exporter_that_says_nothing_new_is_no_faster_than_it_was_watched() -> None:
    rhythm = rhythm_of([(0, False), *((at, True) for at in range(1, 16))])
    assert (rhythm.cadence, rhythm.is_at_least) == (15, True)


def test_an_exporter_that_has_come_to_a_stand_is_as_slow_as_its_silence() -> None:
    rhythm = rhythm_of([(0, False), (1, False), *((at, True) for at in range(2, 30))])
    assert (rhythm.cadence, rhythm.is_at_least) == (28, False)


def test_one_page_tells_no_cadence() -> None:
    assert rhythm_of([(0, False)]).cadence is None
    assert Rhythm("o", NodeName("n"), has_gpus=False).repeat_share == 0
    assert middle([]) is None


def test_pages_are_counted_by_origin_node_and_kind() -> None:
    exporters, cleaner, rhythms = Exporters(), TelemetryCleaner(), Rhythms()
    for at in range(8):
        gpus = exporters.gpus("n1", START + at, said=START + at - at % 2)
        for page in (gpus, exporters.host("n1", START + at)):
            rhythms.page(cleaner.clean(page))
    (gpu,), (host,) = rhythms.of(gpus=True), rhythms.of(gpus=False)
    assert (gpu.origin, gpu.pages, gpu.repeats, gpu.cadence) == ("n1:9400", 8, 4, 2)
    assert (host.origin, host.pages, host.repeats, host.cadence) == ("n1:9100", 8, 0, 1)
