"""What every floor has to bear: outliers, crowds, silence, and few machines."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.rivals.machines import JOB, for_each, history, named, names, noise
from paramedic.models.history import JobHistory
from paramedic.models.rivals.floor import Floor
from paramedic.models.rivals.floors import floors

BLIND = ("random", "always_same")
LOOKING = sorted(one.name for one in floors() if one.name not in BLIND)
AGAINST_OTHERS = sorted(set(LOOKING) - {"static_limits", "robust_z_cusum"})
SLOTS, FAULT = 200, 140


def of_power(power: NDArray[np.float64]) -> JobHistory:
    """Of (nodes, slots): what a machine draws, and how busy that makes it."""
    busy = np.clip(power / 500.0, 0.0, 1.0)
    return history(gpu_power_watts=power, gpu_utilization_ratio=busy)


def healthy(seed: int = 5, nodes: int = 6) -> NDArray[np.float64]:
    return np.minimum(noise(SLOTS, nodes, seed, 550.0).T, 600.0)


@cache
def trained(name: str) -> Floor:
    one = next(floor for floor in floors() if floor.name == name)
    one.train([of_power(healthy(1)), of_power(healthy(2))])
    return one


def broken(place: int) -> NDArray[np.float64]:
    power = healthy()
    power[place, FAULT:] = 40.0
    return power


@for_each([*LOOKING, *BLIND])
def test_thresholds_rise_and_none_stands_twice(name: str) -> None:
    thresholds = list(trained(name).thresholds)
    assert thresholds == sorted(set(thresholds))


@for_each(LOOKING)
@settings(max_examples=3)
@given(place=st.integers(0, 5))
def test_a_plain_outlier_is_the_oddest_wherever_it_stands(name: str, place: int) -> None:
    seen = trained(name).examine(of_power(broken(place)))
    assert int(seen.scores[-1].argmax()) == place
    assert seen.scores[-1, place] > 1.5 * np.delete(seen.scores[-1], place).max()


@for_each(LOOKING)
def test_the_order_in_which_machines_are_named_moves_no_score(name: str) -> None:
    order = np.array([3, 0, 5, 1, 4, 2])
    straight = trained(name).examine(of_power(broken(2))).scores
    turned = trained(name).examine(of_power(broken(2)[order])).scores
    np.testing.assert_allclose(turned, straight[:, order], rtol=1e-6, atol=1e-6)


@for_each(AGAINST_OTHERS)
def test_of_a_crowd_alike_nobody_is_accused_however_it_sways(name: str) -> None:
    alike = np.repeat(healthy(7, nodes=1), 6, axis=0)
    alike[:, FAULT:] = 40.0
    one = trained(name)
    assert not one.examine(of_power(alike)).alarms(one.thresholds[0])


@for_each(LOOKING)
def test_machines_that_are_alike_have_one_score(name: str) -> None:
    alike = np.repeat(broken(0)[:1], 6, axis=0)
    scores = trained(name).examine(of_power(alike)).scores
    np.testing.assert_allclose(scores, np.repeat(scores[:, :1], 6, axis=1))


@for_each(LOOKING)
def test_a_history_that_never_changes_is_met_with_silence(name: str) -> None:
    one = trained(name)
    assert not one.examine(of_power(np.full((6, SLOTS), 550.0))).alarms(one.thresholds[0])


@for_each(LOOKING)
def test_an_outlier_is_named_by_the_one_metric_that_is_left(name: str) -> None:
    one = trained(name)
    left = history(gpu_power_watts=broken(4), house_metric=np.full((6, SLOTS), np.nan))
    said = [named(one.examine(left).alarms(limit)) for limit in one.thresholds]
    assert any({nodes for _, nodes in alarms} == {("node-04",)} for alarms in said)


@for_each(LOOKING)
def test_a_machine_that_says_nothing_is_not_accused(name: str) -> None:
    power = healthy()
    power[1] = np.nan
    one = trained(name)
    said = [named(one.examine(of_power(power)).alarms(limit)) for limit in one.thresholds]
    assert all(nodes != ("node-01",) for alarms in said for _, nodes in alarms)


@for_each(LOOKING)
def test_no_metric_that_training_knew_is_no_reason_to_accuse(name: str) -> None:
    one = trained(name)
    strange = history(house_metric=np.full((4, SLOTS), 1.0))
    assert not one.examine(strange).alarms(one.thresholds[0])


@for_each(AGAINST_OTHERS)
@pytest.mark.parametrize("nodes", [1, 2])
def test_one_machine_or_two_cannot_be_told_apart(name: str, nodes: int) -> None:
    power = healthy(nodes=nodes)
    power[0, FAULT:] = 40.0
    one = trained(name)
    assert not one.examine(of_power(power)).alarms(one.thresholds[0])


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("name", ["static_limits", "robust_z_cusum"])
def test_limits_and_the_own_past_need_no_other_machine(name: str, nodes: int) -> None:
    power = healthy(nodes=nodes)
    power[0, FAULT:] = 40.0
    (alarm,) = named(trained(name).examine(of_power(power)).alarms(trained(name).thresholds[3]))
    assert alarm[0] > FAULT
    assert alarm[1] == names(1)


@for_each([*LOOKING, *BLIND])
def test_a_job_of_which_nothing_was_ever_seen_has_no_score(name: str) -> None:
    one = trained(name)
    seen = one.examine(JobHistory(JOB, {}))
    assert seen.scores.shape == (0, 0)
    assert not seen.alarms(one.thresholds[0])


@for_each([*LOOKING, *BLIND])
def test_a_history_shorter_than_a_step_teaches_nothing_and_breaks_nothing(name: str) -> None:
    one = next(floor for floor in floors() if floor.name == name)
    one.train([of_power(healthy()[:, :1])])
    scores = one.examine(of_power(healthy()[:, :100])).scores
    assert scores.shape[1] == 6
    one.train([])


@for_each([*LOOKING, *BLIND])
def test_what_comes_later_changes_no_score_of_before(name: str) -> None:
    whole, begun = (of_power(broken(1)[:, :slots]) for slots in (SLOTS, FAULT))
    early = trained(name).examine(begun).scores
    late = trained(name).examine(whole).scores[: len(early)]
    np.testing.assert_allclose(late, early, rtol=1e-6, atol=1e-6)
