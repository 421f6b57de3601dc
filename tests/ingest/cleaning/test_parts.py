"""Parts of an answer: who is not there in one second is absent, and costs no new plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning.pages import Exporter, column, gpu
from paramedic.ingest.cleaning.parts import Parts
from paramedic.ingest.cleaning.port import CleanPage
from paramedic.ingest.sources.port import RawPage, Series

POWER = "DCGM_FI_DEV_POWER_USAGE"
REPLAYS = "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"


class Answers:
    """A Prometheus whose seconds hold some of its targets."""

    def __init__(self) -> None:
        self.exporter = Exporter("prometheus", node=None)

    def part(self, second: float, *lines: str) -> CleanPage:
        page = self.exporter.read("".join(lines), second)
        return self.exporter.cleaner.clean(replace(page, is_whole=False))

    @property
    def plan(self) -> object:
        return self.exporter.cleaner._origins["prometheus"].plan


def at(node: str, metric: str, value: object, index: int = 0, **more: str) -> str:
    return gpu(metric, index, value, instance=f"{node}:9400", UUID=f"{node}-{index}", **more)


def test_only_the_targets_of_a_second_are_in_its_rows() -> None:
    answers = Answers()
    answers.part(1.0, at("a", POWER, 1), at("b", POWER, 2))
    page = answers.part(2.0, at("b", POWER, 3))
    assert column(page, "gpu_power_watts") == {("b", 0): 3.0}
    (table,) = page.tables
    assert table.nodes == ("b",)


def test_targets_that_come_by_turns_need_no_new_plan() -> None:
    answers = Answers()
    answers.part(1.0, at("a", POWER, 1), at("b", POWER, 2))
    plan = answers.plan
    for second in range(2, 8):
        node = "ab"[second % 2]
        page = answers.part(float(second), at(node, POWER, second))
        assert column(page, "gpu_power_watts") == {(node, 0): float(second)}
    assert answers.plan is plan
    answers.part(8.0, at("c", POWER, 5))
    assert answers.plan is not plan


def test_counters_of_targets_that_come_by_turns_keep_their_rates() -> None:
    answers = Answers()
    answers.part(0.0, at("a", REPLAYS, 0), at("b", REPLAYS, 0))
    answers.part(1.0, at("a", REPLAYS, 10))
    page = answers.part(2.0, at("b", REPLAYS, 10))
    assert column(page, "gpu_pcie_replays_per_second") == {("b", 0): 5.0}
    page = answers.part(3.0, at("a", REPLAYS, 14), at("b", REPLAYS, 10))
    assert column(page, "gpu_pcie_replays_per_second") == {("a", 0): 2.0, ("b", 0): 0.0}


def test_what_is_absent_is_not_counted_as_left_out() -> None:
    answers = Answers()
    twins = (at("a", POWER, 1, hpc_job="1"), at("a", POWER, 1, hpc_job="2"))
    first = answers.part(1.0, *twins, at("b", POWER, 9223372036854775794))
    assert first.rejected == {
        ("duplicate", "gpu_power_watts"): 1,
        ("blank_sentinel", "gpu_power_watts"): 1,
    }
    assert answers.part(2.0, at("c", POWER, 1)).rejected == {}
    assert answers.part(3.0, *twins).rejected == {("duplicate", "gpu_power_watts"): 1}


def test_a_blind_source_is_back_only_for_the_nodes_that_are_seen() -> None:
    answers = Answers()
    answers.part(1.0, at("a", POWER, 1), at("b", POWER, 2))
    assert len(answers.exporter.cleaner.silent("prometheus", 20.0)) == 2
    page = answers.part(21.0, at("b", POWER, 2))
    assert [(fact.node, fact.details["change"]) for fact in page.facts] == [("b", "source_back")]
    page = answers.part(22.0, at("a", POWER, 2), at("b", POWER, 2))
    assert [(fact.node, fact.details["change"]) for fact in page.facts] == [("a", "source_back")]


def test_series_that_ended_long_ago_are_forgotten() -> None:
    parts = Parts(forget_after_seconds=100.0)
    old, new, newer = (Series(name, {}) for name in ("old", "new", "newer"))
    parts.spread(RawPage("x", 0.0, [old], [1.0]))
    assert list(parts.spread(RawPage("x", 100.0, [new], [2.0])).series) == [old, new]
    assert list(parts.spread(RawPage("x", 150.0, [newer], [3.0])).series) == [new, newer]


@given(st.lists(st.lists(st.integers(0, 5), unique=True), min_size=1, max_size=8))
def test_a_spread_page_says_the_same_as_the_page(pages: list[list[int]]) -> None:
    known = [Series(f"m{number}", {}) for number in range(6)]
    parts = Parts(forget_after_seconds=1000.0)
    for second, shown in enumerate(pages):
        page = RawPage(
            "x", float(second), [known[n] for n in shown], [n + second / 10 for n in shown]
        )
        spread = parts.spread(page)
        assert spread.is_there is not None
        there = {
            one: value
            for one, value, is_there in zip(
                spread.series, spread.values.tolist(), spread.is_there, strict=True
            )
            if is_there
        }
        assert there == dict(zip(page.series, page.values, strict=True))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_order_of_a_part_does_not_matter(order: tuple[int, int]) -> None:
    answers = Answers()
    lines = [at("a", POWER, 1), at("b", POWER, 2)]
    answers.part(1.0, *lines)
    page = answers.part(2.0, *(lines[n] for n in order))
    assert column(page, "gpu_power_watts") == {("a", 0): 1.0, ("b", 0): 2.0}
