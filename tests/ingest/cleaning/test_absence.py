"""A GPU that vanishes and a source that turns blind are facts, told once."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning.pages import Exporter, column, facts, gpu
from paramedic.ingest.cleaning.presence import Presence
from paramedic.ingest.contract import NodeName

N1 = NodeName("n1")
ORIGIN = "http://n1:9400"


def gpus(*indices: int, **labels: str) -> str:
    return "".join(gpu("DCGM_FI_DEV_GPU_UTIL", index, 50, **labels) for index in indices)


def lost(index: int) -> dict[str, object]:
    return {"kind": "telemetry", "gpu": index, "change": "gpu_lost", "uuid": f"GPU-{index}"}


def returned(index: int) -> dict[str, object]:
    return lost(index) | {"change": "gpu_returned"}


def source(change: str) -> dict[str, object]:
    whose = {"origin": ORIGIN, "entity": "gpu"}
    return {"kind": "telemetry", "gpu": None, "change": change, **whose}


def test_a_gpu_that_vanishes_and_comes_back_is_told_each_time_once() -> None:
    exporter = Exporter()
    assert facts(exporter.says(gpus(0, 1, 2), 1.0)) == []
    assert facts(exporter.says(gpus(0, 2), 2.0)) == [lost(1)]
    assert facts(exporter.says(gpus(0, 2), 3.0)) == []
    assert facts(exporter.says(gpus(0), 4.0)) == [lost(2)]
    assert facts(exporter.says(gpus(0, 1, 2), 5.0)) == [returned(1), returned(2)]


def test_a_gpu_of_which_one_metric_is_left_is_there() -> None:
    exporter = Exporter()
    exporter.says(gpus(0, 1) + gpu("DCGM_FI_DEV_GPU_TEMP", 1, 50), 1.0)
    page = exporter.says(gpus(0) + gpu("DCGM_FI_DEV_GPU_TEMP", 1, 50), 2.0)
    assert facts(page) == []
    assert column(page, "gpu_utilization_ratio") == {("n1", 0): 0.5}


def test_a_page_without_any_gpu_is_blind_and_says_so_once() -> None:
    exporter = Exporter()
    exporter.says(gpus(0, 1), 1.0)
    assert facts(exporter.says("", 2.0)) == [source("source_blind")]
    assert facts(exporter.says("", 3.0)) == []
    assert facts(exporter.says(gpus(0, 1), 4.0)) == [source("source_back")]


def test_a_source_that_comes_back_with_fewer_gpus_says_both() -> None:
    exporter = Exporter()
    exporter.says(gpus(0, 1), 1.0)
    exporter.says("", 2.0)
    assert facts(exporter.says(gpus(1), 3.0)) == [source("source_back"), lost(0)]


def test_a_source_without_gpus_is_not_blind() -> None:
    exporter = Exporter()
    exporter.says("node_load1 3\n", 1.0)
    assert facts(exporter.says("", 2.0)) == []


def test_one_node_of_many_that_is_gone_is_blind_and_the_others_are_not() -> None:
    exporter = Exporter()
    exporter.says(gpus(0, hostname="a") + gpus(0, hostname="b"), 1.0)
    page = exporter.says(gpus(0, hostname="b"), 2.0)
    assert [(fact.node, fact.details["change"]) for fact in page.facts] == [("a", "source_blind")]


def test_a_part_of_an_answer_says_nothing_about_what_is_missing() -> None:
    exporter = Exporter()
    whole = exporter.read(gpus(0, 1), 1.0)
    exporter.cleaner.clean(replace(whole, is_whole=False))
    part = replace(exporter.read(gpus(0), 2.0), is_whole=False)
    assert exporter.cleaner.clean(part).facts == ()


def test_silence_becomes_blindness_when_it_lasts() -> None:
    exporter = Exporter()
    exporter.says(gpus(0), 100.0)
    assert exporter.cleaner.silent(ORIGIN, 101.0) == ()
    assert exporter.cleaner.silent(ORIGIN, 109.9) == ()
    (fact,) = exporter.cleaner.silent(ORIGIN, 110.0)
    assert (fact.node, fact.details["change"], fact.timestamp_seconds) == (N1, "source_blind", 110)
    assert exporter.cleaner.silent(ORIGIN, 120.0) == ()
    assert facts(exporter.says(gpus(0), 121.0)) == [source("source_back")]
    assert facts(exporter.says(gpus(0), 122.0)) == []


def test_silence_of_a_host_exporter_is_told_too() -> None:
    exporter = Exporter()
    exporter.says("node_load1 3\n", 100.0)
    (fact,) = exporter.cleaner.silent(ORIGIN, 110.0)
    assert (fact.node, fact.details["entity"]) == (N1, "node")


def test_an_origin_that_never_spoke_has_nothing_to_lose() -> None:
    assert Exporter().cleaner.silent("http://nobody", 10.0) == ()


def test_a_source_of_parts_that_speaks_again_is_back() -> None:
    exporter = Exporter()
    page = replace(exporter.read(gpus(0), 1.0), is_whole=False)
    exporter.cleaner.clean(page)
    assert len(exporter.cleaner.silent(ORIGIN, 20.0)) == 1
    assert facts(exporter.cleaner.clean(replace(page, taken_seconds=21.0))) == [
        source("source_back")
    ]


@given(st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=10))
def test_what_was_lost_and_not_returned_is_what_is_missing(pages: list[set[int]]) -> None:
    presence = Presence(ORIGIN)
    presence.whole_page({N1: dict.fromkeys(range(4))}, 0.0)
    missing: set[int] = set()
    is_blind = False
    for second, shown in enumerate(pages, 1):
        for fact in presence.whole_page({N1: dict.fromkeys(shown)}, float(second)):
            change = fact.details["change"]
            if change in ("gpu_lost", "gpu_returned"):
                assert fact.gpu is not None
                missing ^= {fact.gpu}
            else:
                is_blind = change == "source_blind"
        assert is_blind == presence.is_blind == (not shown)
        if shown:
            assert missing == set(range(4)) - shown
