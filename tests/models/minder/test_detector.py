"""Minder as a whole: what it finds, when, and what its rules keep it from finding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.minder.pulling import pulled
from models.rivals.machines import FIRST, history, named, noise
from paramedic.models.detection import LearnsFromLabels, MarkedHistory
from paramedic.models.history import JobHistory
from paramedic.models.minder.detector import MinderDetector
from paramedic.models.minder.encoding import RawWindows, VaeForAll
from paramedic.models.minder.fitting import FitSettings
from paramedic.models.minder.rows import minders

CULPRIT = ("node-03",)


def cpu(*, slots: int = 960, nodes: int = 12, seed: int = 0) -> NDArray[np.float64]:
    """(nodes, slots) of healthy, noisy machines."""
    return noise(slots, nodes, seed, 0.3).T


def broken(since: int, until: int | None = None, **sizes: int) -> JobHistory:
    values = cpu(**sizes)
    values[3, since:until] = 0.9
    return history(cpu_utilization_ratio=values)


def raw(every_seconds: int = 1, continuity_seconds: int = 240) -> MinderDetector:
    return MinderDetector(
        every_seconds, encoder=RawWindows(), continuity_seconds=continuity_seconds
    )


def test_a_fault_is_declared_after_four_minutes_when_it_is_asked_every_second() -> None:
    ((second, nodes),) = named(raw().examine(broken(since=500)).alarms(3.0))
    assert nodes == CULPRIT
    assert 500 + 240 - 2 <= second <= 500 + 240 + 8


def test_at_the_next_call_when_it_is_asked_every_eight_minutes() -> None:
    assert named(raw(480).examine(broken(since=500)).alarms(3.0)) == [(959, CULPRIT)]


def test_what_is_over_is_still_found_in_the_last_fifteen_minutes() -> None:
    short = broken(since=100, until=380)
    assert named(raw(480).examine(short).alarms(3.0)) == [(479, CULPRIT)]
    assert named(raw(480).examine(broken(since=100, until=330)).alarms(3.0)) == []


def test_a_lone_outlier_among_fewer_than_eleven_never_passes_a_threshold_of_three() -> None:
    few, enough = (broken(since=100, slots=400, nodes=nodes) for nodes in (10, 12))
    assert named(raw().examine(few).alarms(3.0)) == []
    assert [nodes for _, nodes in named(raw().examine(enough).alarms(3.0))] == [CULPRIT]


def test_slots_of_ten_seconds_need_fewer_in_a_row_for_the_same_four_minutes() -> None:
    slow = broken(since=30, slots=96)
    windows = {entity: replace(one, slot_seconds=10) for entity, one in slow.windows.items()}
    ((second, nodes),) = named(raw().examine(replace(slow, windows=windows)).alarms(3.0))
    assert nodes == CULPRIT
    assert 540 - 20 <= second <= 540 + 10 * 8
    ((call, _),) = named(raw(480).examine(replace(slow, windows=windows)).alarms(3.0))
    assert call == 950


def test_a_machine_that_stays_accused_from_call_to_call_is_told_once() -> None:
    said = named(raw(480).examine(broken(since=100, slots=1920)).alarms(3.0))
    assert said == [(479, CULPRIT)]


def test_a_fault_that_wanders_between_two_machines_is_never_declared() -> None:
    values = cpu(slots=700)
    for start in range(100, 700, 200):
        values[3, start : start + 100] = values[7, start + 100 : start + 200] = 0.9
    wandering = history(cpu_utilization_ratio=values)
    assert named(raw().examine(wandering).alarms(3.0)) == []
    assert named(raw(continuity_seconds=60).examine(wandering).alarms(3.0))


def test_one_window_in_which_nobody_stands_out_starts_the_four_minutes_anew() -> None:
    values = cpu(slots=700)
    values[3, 100:] = 0.9
    values[3, 300:310] = 0.3
    ((second, _),) = named(raw().examine(history(cpu_utilization_ratio=values)).alarms(3.0))
    assert second >= 300 + 240


def test_two_outliers_that_are_alike_hide_each_other() -> None:
    values = cpu(slots=400)
    values[3, 100:] = values[7, 100:] = 0.9
    assert named(raw().examine(history(cpu_utilization_ratio=values)).alarms(2.5)) == []


def test_without_continuity_a_noisy_healthy_history_is_full_of_accusations() -> None:
    healthy = history(cpu_utilization_ratio=cpu(slots=1440, seed=2))
    assert named(raw(480).examine(healthy).alarms(2.5)) == []
    assert len(named(raw(480, continuity_seconds=0).examine(healthy).alarms(2.5))) >= 2


def test_the_metric_of_the_higher_priority_decides_when_two_accuse() -> None:
    values, power = cpu(slots=400), cpu(slots=400, seed=1)
    values[3, 100:] = power[5, 100:] = 0.9
    both = history(cpu_utilization_ratio=values, gpu_graphics_active_ratio=power)
    assert [who for _, who in named(raw().examine(both).alarms(3.0))] == [CULPRIT]
    turned = replace(raw(), order=(4, 1, 0, 2, 3, 5, 6))
    assert [who for _, who in named(turned.examine(both).alarms(3.0))] == [("node-05",)]


@pytest.mark.long
def test_the_order_of_metrics_can_be_learnt_anew() -> None:
    values, noisy = cpu(slots=200), cpu(slots=200, seed=1)
    values[3, 100:] = 0.9
    is_faulty = np.arange(200) >= 104
    one = raw()
    shown = history(gpu_graphics_active_ratio=values, cpu_utilization_ratio=noisy)
    assert isinstance(one, LearnsFromLabels)
    one.train_on_labels([MarkedHistory(shown, is_faulty)])
    assert one.order[0] == 4
    assert sorted(one.order) == list(range(7))


def test_without_a_window_to_learn_from_the_order_is_the_paper_s() -> None:
    short = history(cpu_utilization_ratio=cpu(slots=7))
    for examples in ([], [MarkedHistory(short, np.ones(7, np.bool_))]):
        one = raw()
        one.train_on_labels(examples)
        assert one.order == tuple(range(7))


def test_where_all_metrics_are_one_track_there_is_no_order_to_learn() -> None:
    joined = MinderDetector(encoder=VaeForAll())
    joined.train_on_labels([MarkedHistory(broken(since=20, slots=40), np.ones(40, np.bool_))])
    assert joined.order == (0,)


@pytest.mark.long
@settings(max_examples=4)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.7]))
def test_being_asked_every_second_is_to_pull_anew_every_second(seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.random((4, 60)) * 0.2
    values[rng.integers(4), rng.integers(50) :] += 0.4
    values[rng.random(values.shape) < missing] = np.nan
    seen = raw(continuity_seconds=12).examine(history(cpu_utilization_ratio=values))
    accused = {second - FIRST: node for second, node, _ in seen._declared(1.2)}
    rounded = values.astype(np.float32).astype(np.float64).T
    for slot in range(60):
        node = pulled(rounded, slot, 1.2, needed=12, reach=900)
        assert accused.get(slot) == (None if node < 0 else f"node-{node:02d}"), slot


def test_limits_that_no_metric_has_by_nature_are_those_of_training() -> None:
    one = raw()
    one.train([history(gpu_power_watts=cpu() * 1000), history(gpu_power_watts=cpu() * 2000)])
    assert one.limits.high[3] == pytest.approx(640, rel=0.05)
    assert one.limits.high[1] == 1.0


@pytest.mark.long
def test_every_row_of_minders_family_finds_a_machine_that_stands_apart() -> None:
    rows = minders(FitSettings(epochs=1))
    assert len({one.name for one in rows}) == len(rows) == 8
    for one in rows:
        one.train([broken(since=20, slots=40)])
        said = named(one.examine(broken(since=100, slots=480)).alarms(3.0))
        # Without continuity the first second in which anybody stands out is enough.
        first = CULPRIT if one.continuity_seconds else said[0][1]
        assert [nodes for _, nodes in said] == [first], one.name


def test_a_job_that_nothing_is_known_of_accuses_nobody() -> None:
    dark = history(cpu_utilization_ratio=np.full((4, 300), np.nan))
    assert raw(continuity_seconds=0).examine(dark).alarms(0.8) == ()
    assert raw().examine(JobHistory(dark.job, {})).alarms(0.8) == ()
