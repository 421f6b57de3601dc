"""Xid events: changes of a gauge that sticks, and what the exporter's counters add."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning.pages import Exporter, facts, gpu
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner

XID = "DCGM_FI_DEV_XID_ERRORS"
RECENT = "DCGM_EXP_XID_ERRORS_COUNT"
TOTAL = "DCGM_EXP_XID_ERRORS_TOTAL"


def level(value: int) -> str:
    return gpu(XID, 3, value)


def recent(xid: int, count: int) -> str:
    return gpu(RECENT, 3, count, xid=str(xid), window_size_in_ms="300000")


def total(xid: int, count: int) -> str:
    return gpu(TOTAL, 3, count, xid=str(xid))


class Watched:
    """An exporter that is asked every second."""

    def __init__(self) -> None:
        self.exporter = Exporter()
        self.second = 1000.0

    def says(self, *lines: str) -> list[tuple[object, object, object]]:
        self.second += 1
        page = self.exporter.says("".join(lines) + gpu("DCGM_FI_DEV_GPU_UTIL", 3, 5), self.second)
        return [
            (one["xid"], one.get("count", 1), one.get("sticky", False))
            for one in facts(page)
            if one["kind"] == "xid"
        ]


def test_a_change_of_the_gauge_is_an_event_with_all_that_is_known() -> None:
    exporter = Exporter()
    assert facts(exporter.says(level(0), 10.0)) == []
    page = exporter.says(level(79), 11.5)
    assert facts(page) == [{"kind": "xid", "gpu": 3, "xid": 79, "uuid": "GPU-3", "source": XID}]
    assert (page.facts[0].node, page.facts[0].timestamp_seconds) == ("n1", 11.5)


def test_a_code_that_stands_is_told_once() -> None:
    watched = Watched()
    assert watched.says(level(0)) == []
    assert watched.says(level(63)) == [(63, 1, False)]
    assert watched.says(level(63)) == []
    assert watched.says(level(45)) == [(45, 1, False)]
    assert watched.says(level(0)) == []
    assert watched.says(level(45)) == [(45, 1, False)]


def test_a_code_that_stood_before_anybody_looked_is_told_as_sticky() -> None:
    watched = Watched()
    assert watched.says(level(79)) == [(79, 1, True)]
    assert watched.says(level(79)) == []
    assert watched.says(level(94)) == [(94, 1, False)]


def test_the_first_series_after_pages_without_one_is_a_new_event() -> None:
    watched = Watched()
    assert watched.says() == []
    assert watched.says(level(31)) == [(31, 1, False)]


def test_a_blank_means_that_there_was_none() -> None:
    watched = Watched()
    assert watched.says(gpu(XID, 3, 9223372036854775794)) == []
    assert watched.says(level(31)) == [(31, 1, False)]


def test_an_exporter_that_restarts_repeats_nothing() -> None:
    watched = Watched()
    watched.says(level(0))
    watched.says(level(79))
    assert watched.says() == []
    assert watched.says(level(79)) == []


def test_a_code_once_for_every_slice_is_one_event() -> None:
    watched = Watched()
    watched.says(level(0))
    slices = "".join(gpu(XID, 3, 31, GPU_I_ID=str(n)) for n in range(7))
    assert watched.says(slices) == [(31, 1, False)]


def test_two_sources_of_one_gpu_tell_an_event_once() -> None:
    cleaner = TelemetryCleaner()
    direct = Exporter("direct", cleaner=cleaner)
    federated = Exporter("federated", cleaner=cleaner)
    for exporter in (direct, federated):
        assert facts(exporter.says(level(0), 1.0)) == []
    assert len(facts(direct.says(level(79), 2.0))) == 1
    assert facts(federated.says(level(79), 2.5)) == []


def test_a_source_that_knows_no_xids_does_not_make_an_old_code_new() -> None:
    cleaner = TelemetryCleaner()
    Exporter("smi", cleaner=cleaner).says('nvidia_smi_fan_speed_ratio{uuid="3"} 0.5\n', 1.0)
    (event,) = facts(Exporter("dcgm", cleaner=cleaner).says(level(79), 2.0))
    assert event["sticky"] is True


def test_a_part_of_an_answer_without_a_code_says_nothing_until_a_minute_has_passed() -> None:
    def part(text: str, second: float) -> list[object]:
        page = exporter.cleaner.clean(replace(exporter.read(text, second), is_whole=False))
        return [(one["xid"], one.get("sticky", False)) for one in facts(page)]

    exporter = Exporter()
    assert part(gpu("DCGM_FI_DEV_GPU_TEMP", 3, 50), 1.0) == []
    assert part(level(79), 2.0) == [(79, True)]
    exporter = Exporter()
    assert part(gpu("DCGM_FI_DEV_GPU_TEMP", 3, 50), 1.0) == []
    assert part(level(79), 62.0) == [(79, False)]


def test_counters_show_what_the_gauge_cannot() -> None:
    watched = Watched()
    watched.says(level(0), recent(62, 0))
    assert watched.says(level(45), recent(62, 1), recent(45, 1)) == [
        (62, 1, False),
        (45, 1, False),
    ]
    assert watched.says(level(45), recent(62, 1), recent(45, 3)) == [(45, 2, False)]


def test_a_window_that_slides_on_is_no_event() -> None:
    watched = Watched()
    watched.says(recent(31, 5))
    assert watched.says(recent(31, 3)) == []
    assert watched.says(recent(31, 0)) == []
    assert watched.says(recent(31, 1)) == [(31, 1, False)]


def test_a_count_in_the_window_at_first_sight_did_happen_lately() -> None:
    watched = Watched()
    assert watched.says(level(31), recent(31, 2)) == [(31, 2, False)]


def test_a_total_at_first_sight_may_be_old() -> None:
    watched = Watched()
    assert watched.says(total(31, 2)) == [(31, 2, True)]
    assert watched.says(total(31, 3)) == [(31, 1, False)]


def test_a_total_that_began_anew_has_counted_new_events() -> None:
    watched = Watched()
    watched.says(total(31, 5))
    assert watched.says(total(31, 2)) == [(31, 2, False)]


def test_both_counters_speak_of_the_same_events() -> None:
    watched = Watched()
    watched.says(total(31, 0), recent(31, 0))
    assert watched.says(total(31, 2), recent(31, 2)) == [(31, 2, False)]


def test_gauge_and_counter_on_different_pages_are_one_event() -> None:
    first_gauge = Watched()
    first_gauge.says(level(0), recent(31, 0))
    assert first_gauge.says(level(31), recent(31, 0)) == [(31, 1, False)]
    assert first_gauge.says(level(31), recent(31, 1)) == []
    assert first_gauge.says(level(31), recent(31, 2)) == [(31, 1, False)]
    first_counter = Watched()
    first_counter.says(level(0), recent(31, 0))
    assert first_counter.says(level(0), recent(31, 1)) == [(31, 1, False)]
    assert first_counter.says(level(31), recent(31, 1)) == []


def test_a_counter_without_a_code_is_passed_over() -> None:
    watched = Watched()
    watched.says()
    assert watched.says(gpu(RECENT, 3, 1), gpu(RECENT, 3, 1, xid="many")) == []


@given(st.lists(st.sampled_from([0, 0, 31, 79]), min_size=1, max_size=12))
def test_every_change_to_a_code_is_told_exactly_once(levels: list[int]) -> None:
    watched = Watched()
    watched.says(level(0))
    told = [xid for value in levels for xid, *_ in watched.says(level(value))]
    changes = zip([0, *levels], levels, strict=False)
    assert told == [after for before, after in changes if after not in (0, before)]
