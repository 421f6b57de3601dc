"""How often sources say something new is measured, and repeats are not taken for news."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.collect.imagined import START, Host, page_of
from paramedic.ingest.collect.cadence import GRIDS, Pulse, grid_for, grid_of, slot_of
from paramedic.ingest.collect.repeats import Repeats
from paramedic.ingest.contract import Entity, NodeName, Table

A = NodeName("a")


def intervals(repeats: Repeats, node: NodeName = A) -> list[float | None]:
    return [pulse.interval_seconds for pulse in repeats.pulses(node)]


def listen(repeats: Repeats, poll: int, collects: int, seconds: int) -> list[int]:
    """The seconds (from the start) in which a host that collects more rarely says news."""
    news = []
    for second in range(0, seconds, poll):
        page = Host("a").page(START + second, collected_at=second - second % collects)
        if not repeats.repeated("a", page.second, page.tables[0]):
            news.append(second)
    return news


def test_a_source_that_says_something_new_every_second_has_a_pulse_of_a_second() -> None:
    repeats = Repeats(90)
    assert listen(repeats, 1, 1, 10) == list(range(10))
    assert intervals(repeats) == [1]


def test_what_an_exporter_repeats_between_collections_is_no_new_sample() -> None:
    repeats = Repeats(90)
    assert listen(repeats, 1, 30, 121) == [0, 30, 60, 90, 120]
    assert intervals(repeats) == [30]


def test_scrapes_that_are_rarer_than_collections_are_all_new() -> None:
    repeats = Repeats(90)
    assert listen(repeats, 15, 10, 91) == [0, 15, 30, 45, 60, 75, 90]
    assert intervals(repeats) == [15]


def test_a_page_that_stays_the_same_for_long_is_believed() -> None:
    repeats = Repeats(90)
    same = Host("a").page(START).tables[0]
    news = [second for second in range(100) if not repeats.repeated("a", START + second, same)]
    assert news == [0, *range(90, 100)]


def test_few_values_that_stay_the_same_are_no_repeat() -> None:
    repeats = Repeats(90)
    table = Table(Entity.GPU, (A,), (0,), {"gpu_temperature_celsius": (40.0,)})
    assert not any(repeats.repeated("a", START + second, table) for second in range(10))


def test_rates_that_fall_to_zero_do_not_hide_a_repeat() -> None:
    repeats = Repeats(90)
    for second, rate in enumerate((5.0, 0.0, 0.0)):
        (table,) = Host("a").page(START + second, collected_at=0).tables
        columns = {**table.columns, "gpu_pcie_tx_bytes_per_second": (rate, rate)}
        table = Table(Entity.GPU, table.nodes, table.indices, columns)
        assert bool(repeats.repeated("a", START + second, table)) is (second > 0)


def test_within_one_page_every_node_is_judged_by_itself() -> None:
    repeats = Repeats(90)
    first = page_of([Host("a"), Host("b")], START, "prometheus")
    repeats.repeated("prometheus", START, first.tables[0])
    fresh = Host("b").page(START + 1).tables[0]
    old = Host("a").page(START + 1, collected_at=START).tables[0]
    both = Table(
        Entity.GPU,
        (*old.nodes, *fresh.nodes),
        (*(old.indices or ()), *(fresh.indices or ())),
        {metric: (*old.columns[metric], *fresh.columns[metric]) for metric in old.columns},
    )
    assert repeats.repeated("prometheus", START + 1, both) == {"a"}


def test_what_is_forgotten_is_new_again() -> None:
    repeats = Repeats(90)
    page = Host("a").page(START)
    assert not repeats.repeated("a", START, page.tables[0])
    repeats.forget(A)
    assert not repeats.repeated("a", START + 1, page.tables[0])
    assert intervals(repeats) == [None]


def pulse(*seconds: int) -> Pulse:
    made = Pulse()
    for second in seconds:
        made.beat(second)
    return made


def test_a_grid_is_known_when_half_of_the_nodes_have_given_four_samples() -> None:
    known, young = pulse(0, 15, 30, 45), pulse(0, 15)
    assert grid_of([known, young]) == 15
    assert grid_of([known, young, young]) is None
    assert grid_of([]) is None


def test_jitter_a_hole_and_disorder_do_not_change_a_grid() -> None:
    assert grid_of([pulse(0, 15, 29, 60, 45, 75, 91, 105)]) == 15


@given(st.floats(0.1, 1000, allow_nan=False))
def test_a_grid_is_never_much_narrower_than_the_samples_are_apart(interval: float) -> None:
    grid = grid_for(interval)
    assert grid in GRIDS
    assert grid >= 0.9 * interval or grid == 60
    narrower = [one for one in GRIDS if one < grid]
    assert all(one < 0.9 * interval for one in narrower)


@given(st.integers(0, 2**33), st.sampled_from(GRIDS))
def test_every_second_has_one_slot_and_slots_do_not_overlap(second: int, grid: int) -> None:
    slot = slot_of(second, grid)
    assert slot <= second < slot + grid
    assert slot % grid == 0


@given(st.permutations([START + second for second in range(0, 80, 10)]))
def test_the_order_in_which_samples_come_does_not_change_a_cadence(seconds: list[int]) -> None:
    assert pulse(*seconds).interval_seconds == 10


def test_only_the_newest_samples_count() -> None:
    assert pulse(*range(100), *range(100, 300, 15)).interval_seconds == 15
