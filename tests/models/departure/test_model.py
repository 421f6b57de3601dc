"""The model of departures: what it must not depend on, whom it must see, and whom it must spare."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.departure.crowd import (
    WORK,
    Cells,
    Crowd,
    crowd,
    deviations,
    lasting,
    named,
    oddest,
    times,
)
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.circles import Circles
from paramedic.models.departure.model import DepartureConfig, Departures

ODD = 8.0
"""Nats that nobody healthy should show often."""


def of(*metrics: str, rows: int = 8, noise: float = 0.03) -> Crowd:
    return Crowd(named(rows), metrics, noise)


@given(st.floats(1e-9, 1e9))
@settings(max_examples=4)
def test_the_unit_of_a_metric_does_not_matter(factor: float) -> None:
    one, other = crowd(6), crowd(6)
    for slot in range(16):
        values = one.values()
        values[0, 0] *= 1 - 0.5 * (slot > 9)
        in_another_unit = values * np.array([1.0, factor, 1.0])[:, None]
        expected, found = one.tell(values), other.tell(in_another_unit)
        np.testing.assert_allclose(found.nats, expected.nats, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(deviations(found), deviations(expected), rtol=1e-6, atol=1e-9)


@given(st.permutations(range(6)), st.permutations(range(3)), st.integers(0, 15))
@settings(max_examples=5)
def test_order_does_not_matter_and_may_change_at_any_time(
    rows: list[int], metrics: list[int], since: int
) -> None:
    one, other = crowd(6), crowd(6)
    for slot in range(16):
        values = one.values()
        values[0, 0] *= 1 - 0.5 * (slot > 9)
        expected = one.tell(values)
        if slot < since:
            other.tell(values)
            continue
        other.rows = tuple(one.rows[at] for at in rows)
        other.metrics = tuple(one.metrics[at] for at in metrics)
        found = other.tell(values[np.ix_(metrics, rows)])
        np.testing.assert_array_equal(found.nats, expected.nats[:, metrics][:, :, rows])


@pytest.mark.parametrize("rows", [4, 8, 800])
def test_a_lone_outlier_is_about_as_odd_among_few_as_among_many(rows: int) -> None:
    machines = crowd(rows)
    machines.live(65)
    found = machines.live(12, times(0.75))
    assert lasting(found, pace=0) > 6
    assert 10 < oddest(found) < 30


def test_who_is_steadily_a_little_different_is_no_suspect_after_a_minute() -> None:
    machines = crowd(8)
    machines.live(60, times(0.92, metric=slice(None)))
    assert oddest(machines.live(60, times(0.92, metric=slice(None)))) < 5


def test_a_fault_that_grows_slowly_is_not_learned_away() -> None:
    machines = crowd(8)
    machines.live(60)
    found = machines.live(130, lambda slot, values: times(1 - 0.002 * (slot - 60))(slot, values))
    assert lasting(found[-30:]) > 3
    assert max(lasting(found[-30:], row) for row in range(1, 8)) < 1.5


def test_what_only_a_slow_average_remembers_is_odd_no_longer() -> None:
    machines = crowd(8)
    machines.live(60)
    during = machines.live(20, times(0.5))
    after = machines.live(40)
    assert lasting(during[-8:], pace=2) > ODD
    assert lasting(after[-28:], pace=2) == 0.0
    assert abs(deviations(after[15])[2, 0, 0]) > ODD


def test_a_missing_value_is_no_evidence_either_way() -> None:
    machines = crowd(8)
    machines.live(60)

    def holed(slot: int, values: Cells) -> None:
        values[:, 2] = np.nan
        values[1, 3] = np.nan

    found = machines.live(30, holed)
    assert not any(one.nats[:, :, 2].any() or one.nats[:, 1, 3].any() for one in found)
    assert not found[0].known[:, 2].any()
    assert found[0].known[0, 3]
    assert max(oddest(found, row) for row in range(8)) < 6
    assert oddest(machines.live(10), row=2) < 5


def test_a_slot_in_which_nothing_was_observed_leaves_no_trace() -> None:
    one, other = crowd(8), crowd(8)
    for machines in (one, other):
        machines.live(40, times(0.9))
    assert not one.tell(np.full((3, 8), np.nan)).nats.any()
    expected, found = other.live(5, times(0.7)), one.live(5, times(0.7))
    np.testing.assert_allclose(found[-1].nats, expected[-1].nats, rtol=0.1, atol=1.0)


def test_all_cards_of_one_of_a_few_nodes_are_as_odd_as_one_of_them() -> None:
    rows = tuple(EntityKey(Entity.GPU, NodeName(f"n{at // 8}"), at % 8) for at in range(40))
    alone, together = (Crowd(rows, noise=0.03) for _ in range(2))
    for machines in (alone, together):
        machines.live(65)
    one = alone.live(30, times(0.75))
    all_of_them = together.live(30, times(0.75, row=slice(8)))
    assert lasting(all_of_them, pace=0) > 0.6 * lasting(one, pace=0)
    assert lasting(all_of_them[-5:], pace=0) > 0.6 * lasting(one[-5:], pace=0)


@pytest.mark.parametrize(("fades", "is_odd"), [(0.0, True), (0.08, False)])
def test_a_card_that_cools_down_is_no_hot_one(fades: float, *, is_odd: bool) -> None:
    machines = of("gpu_temperature_celsius", noise=0.005)
    machines.live(65)

    def hot(slot: int, values: Cells) -> None:
        values[0, 0] += 15 * math.exp(-fades * (slot - 65))

    found = machines.live(25, hot)[8:]
    assert (lasting(found, pace=1) > ODD) is is_odd
    assert (lasting(found, pace=1) > 0) is is_odd


def test_a_card_that_was_always_cooler_is_odd_as_soon_as_it_warms_up_in_a_young_job() -> None:
    machines = of("gpu_temperature_celsius", noise=0.005)

    def warms(slot: int, values: Cells) -> None:
        values[0, 0] *= 0.88 + 0.005 * max(0, slot - 65)

    machines.live(65, warms)
    found = machines.live(66, warms)
    assert lasting(found[-8:], pace=1) > ODD


def test_without_peers_nobody_is_odd() -> None:
    found = crowd(1).live(5, times(3.0))
    assert not any(one.nats.any() or one.known.any() for one in found)


@pytest.mark.parametrize(("factor", "odd"), [(1.3, 0), (0.75, 1)])
def test_of_two_rows_that_one_is_odd_whose_metric_is_bad_that_way_only(
    factor: float, odd: int
) -> None:
    machines = of("gpu_temperature_celsius", "gpu_power_watts", rows=2)
    machines.live(65)
    hot = machines.live(20, times(factor, metric=0))[8:]
    assert lasting(hot, row=odd) > ODD
    assert not any(one.nats[:, 0, 1 - odd].any() for one in hot)


def test_of_two_rows_nobody_knows_which_of_them_works_differently() -> None:
    machines = of("gpu_temperature_celsius", "gpu_power_watts", rows=2)
    machines.live(65)
    found = machines.live(20, times(0.5, metric=1))
    assert not any(one.nats[:, 1].any() or one.known[1].any() for one in found)


@pytest.mark.parametrize(
    ("metric", "change"),
    [("gpu_sm_clock_hertz", 0.7), ("gpu_temperature_celsius", 1.4)],
)
def test_of_two_nodes_all_cards_of_one_may_clock_down_or_be_hot(metric: str, change: float) -> None:
    rows = tuple(EntityKey(Entity.GPU, NodeName(f"n{at // 4}"), at % 4) for at in range(8))
    machines = Crowd(rows, (metric,), 0.01)
    machines.live(65)
    slow = machines.live(20, times(change, metric=0, row=slice(4)))[8:]
    assert min(lasting(slow, row=row) for row in range(4)) > ODD
    assert not any(one.nats[:, :, 4:].any() for one in slow)


def test_of_three_rows_the_two_others_are_measured_by_each_other() -> None:
    machines = of("gpu_power_watts", rows=3)
    machines.live(65)
    found = machines.live(20, times(0.8))[8:]
    assert lasting(found) > 1.5 * max(lasting(found, row) for row in (1, 2))


def test_a_job_without_telling_metrics_says_nothing() -> None:
    assert of(rows=4).live(2)[-1].nats.shape == (3, 0, 4)


def test_a_sensor_that_is_stuck_at_a_healthy_value_accuses_nobody() -> None:
    machines = crowd(8)
    stuck: list[float] = []

    def wave(slot: int, values: Cells) -> None:
        values *= 1 + 0.2 * math.sin(slot / 8)
        if slot >= 60:
            stuck.append(values[0, 0])
            values[0, 0] = stuck[0]

    machines.live(60, wave)
    assert oddest(machines.live(60, wave)) < ODD


def test_a_running_total_that_begins_anew_is_no_fault_and_one_that_grows_is() -> None:
    machines = of("gpu_ecc_correctable_total")

    def counted(slot: int, values: Cells) -> None:
        values[:] = np.arange(8) * 1000.0
        values[0, 0] = 3 if slot >= 20 else 5000
        values[0, 1] += 200 * max(0, slot - 30)

    found = machines.live(45, counted)
    assert oddest(found) < 1
    assert oddest(found[:30], row=1) < 1
    assert lasting(found[35:], row=1, pace=1) > 3


def test_a_newcomer_is_borne_with_unless_it_is_far_off_and_nobody_else_is_disturbed() -> None:
    machines = crowd(8)
    machines.live(60)
    machines.rows = named(10)

    def fresh(_slot: int, values: Cells) -> None:
        values[:, 8] *= 0.93
        values[:, 9] *= 0.5

    found = machines.live(30, fresh)
    assert max(oddest(found, row) for row in range(9)) < 6 < lasting(found, row=9, pace=1)


def test_who_stays_is_remembered_when_others_leave_and_metrics_come_and_go() -> None:
    machines = crowd(10)
    machines.live(70, times(0.9))
    machines.rows, machines.metrics = (named(10)[0], *named(10)[4:]), WORK[::-1]
    assert oddest(machines.live(10, times(0.9, metric=2))) < 4
    machines.metrics = WORK[:1]
    assert oddest(machines.live(10, times(0.9))) < 4


def test_a_cooler_card_is_nobodys_fault_and_a_hotter_one_is_odd() -> None:
    machines = of("gpu_temperature_celsius", noise=0.01)
    machines.live(60)
    again = deepcopy(machines)
    cooler, hotter = machines.live(10, times(0.8)), again.live(10, times(1.2))
    assert not any(one.nats[:, 0, 0].any() for one in cooler)
    assert (deviations(cooler[-1])[:, 0, 0] < -3).all()
    assert oddest(hotter) > ODD


def test_a_clock_that_is_down_is_odd_and_one_that_is_up_is_nobodys_fault() -> None:
    machines = of("gpu_sm_clock_hertz", noise=0.01)
    machines.live(60)
    again = deepcopy(machines)
    up, down = machines.live(10, times(1.2)), again.live(10, times(0.8))
    assert not any(one.nats[:, 0, 0].any() for one in up)
    assert (deviations(up[-1])[:, 0, 0] > 3).all()
    assert oddest(down) > ODD


def begins_to_train(slot: int, values: Cells) -> None:
    """Quiet and idle before slot 50, and at work with all its scatter from then on."""
    level = np.array([400.0, 1.4e9, 0.4])[:, None]
    noise = values / level - 1
    idle = np.array([60.0, 2e8, 0.01])[:, None]
    values[:] = idle * (1 + noise / 10) if slot < 50 else level * (1 + 2 * noise)


def test_a_job_that_begins_to_train_forgets_the_scatter_of_its_idle_time() -> None:
    machines = crowd(16)
    found = machines.live(100, begins_to_train)
    assert [at for at, one in enumerate(found) if one.has_turned] == [50]
    assert max(oddest(found[50:], row) for row in range(16)) < 12
    assert oddest(machines.live(10, times(0.5))) > ODD


def test_a_job_that_pauses_and_goes_on_has_not_turned() -> None:
    machines = crowd(8)

    def pauses(slot: int, values: Cells) -> None:
        values *= 0.1 if 30 <= slot < 40 else 1.0

    found = machines.live(60, pauses)
    assert not any(one.has_turned for one in found)
    assert max(oddest(found, row) for row in range(8)) < ODD


def test_one_metric_alone_does_not_make_a_job_turn() -> None:
    machines = of(*WORK, "gpu_dram_active_ratio")
    machines.live(20)
    found = machines.live(3, lambda _, values: values.__setitem__(0, values[0] * 5))
    assert not any(one.has_turned for one in found)


def test_rows_are_compared_within_their_circle() -> None:
    machines = crowd(12)
    machines.circles = Circles.of([at % 2 for at in range(12)])

    def stages(_slot: int, values: Cells) -> None:
        values[:, 1::2] *= 0.5

    machines.live(40, stages)
    assert max(oddest(machines.live(10, stages), row) for row in range(12)) < ODD

    def like_the_other_stage(slot: int, values: Cells) -> None:
        stages(slot, values)
        values[0, 0] *= 0.5

    assert oddest(machines.live(5, like_the_other_stage)) > ODD


@given(st.integers(1, 25))
@settings(max_examples=3)
def test_a_copy_has_the_same_future(cut: int) -> None:
    machines = crowd(6)
    machines.live(cut, times(0.9))
    again = deepcopy(machines)
    assert futures(machines.live(5, times(0.7))) == futures(again.live(5, times(0.7)))


def futures(found: list[Departures]) -> list[tuple[bytes, bytes, bool]]:
    return [(one.nats.tobytes(), deviations(one).tobytes(), one.has_turned) for one in found]


def test_after_a_restart_what_was_odd_has_to_show_it_again_and_the_steady_is_still_known() -> None:
    machines = crowd(8)
    machines.live(70, times(0.92, row=1))
    machines.live(20, times(0.6))
    machines.model.restart()
    found = machines.live(2, times(0.92, row=1))
    assert max(oddest(found, row) for row in range(8)) < 5


def test_slower_sources_have_shorter_paces_and_memory_in_slots_and_no_two_are_alike() -> None:
    model = DepartureConfig(smoothing_seconds=(1.0, 30.0), memory_seconds=600.0).build()
    assert model.smoothing(15).ravel().tolist() == [1.0, 2.0]
    assert model.smoothing(60).ravel().tolist() == [1.0, 2.0]
    assert (model.memory_slots(1), model.memory_slots(15)) == (600.0, 40.0)
    assert model.memory_slots(60) >= 30


@pytest.mark.parametrize(
    ("wrong", "named_setting"),
    [
        ({"smoothing_seconds": ()}, "smoothing_seconds"),
        ({"memory_seconds": 0.0}, "memory_seconds"),
        ({"trust_seconds": -1.0}, "trust_seconds"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, float], named_setting: str) -> None:
    with pytest.raises(ValueError, match=f"{named_setting} must"):
        DepartureConfig(**wrong)  # type: ignore[arg-type]
