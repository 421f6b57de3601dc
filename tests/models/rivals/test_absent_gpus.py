"""What is not there has no part in a machine's mean."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.rivals.machines import JOB, history, level, names, window
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.history import JobHistory
from paramedic.models.rivals.machine_level import machine_level, mean_of_known

NAN = float("nan")
A, B, C = names(3)


def of_gpus(power: dict[tuple[NodeName, int], list[float]]) -> JobHistory:
    """Of (node, GPU): what each GPU draws, slot by slot."""
    rows = tuple(EntityKey(Entity.GPU, *key) for key in power)
    return JobHistory(
        JOB, {Entity.GPU: window(Entity.GPU, rows, watts=np.array([*power.values()]))}
    )


def test_a_gpu_that_has_gone_leaves_the_mean_to_the_others() -> None:
    seen = machine_level(of_gpus({(A, 0): [300.0, NAN], (A, 1): [100.0, 100.0]}))
    assert seen.values[:, 0, 0].tolist() == [200.0, 100.0]


def test_machines_may_have_different_numbers_of_gpus() -> None:
    power = {(A, 0): [90.0], (B, 0): [10.0], (B, 1): [20.0], (B, 2): [30.0], (C, 7): [5.0]}
    assert machine_level(of_gpus(power)).values[0, :, 0].tolist() == [90.0, 20.0, 5.0]


def test_a_machine_without_any_gpu_is_unknown_and_not_idle() -> None:
    told = of_gpus({(B, 0): [10.0, 11.0]})
    nodes = tuple(EntityKey(Entity.NODE, node) for node in (A, B))
    beside = window(Entity.NODE, nodes, load_average=np.ones((2, 2)))
    seen = machine_level(JobHistory(JOB, {**told.windows, Entity.NODE: beside}))
    assert seen.nodes == (A, B)
    assert np.isnan(seen.select(["watts"])[:, 0]).all()
    assert seen.select(["watts"])[:, 1, 0].tolist() == [10.0, 11.0]


def test_what_was_not_observed_counts_for_nothing_whatever_number_stands_there() -> None:
    one = of_gpus({(A, 0): [300.0], (A, 1): [100.0]})
    seen = one.windows[Entity.GPU].observed.copy()
    seen[0] = False
    partly = replace(one.windows[Entity.GPU], observed=seen)
    assert machine_level(JobHistory(JOB, {Entity.GPU: partly})).values[0, 0, 0] == 100.0


@pytest.mark.parametrize("endless", [np.inf, -np.inf])
def test_a_number_without_an_end_is_not_a_measurement(endless: float) -> None:
    seen = machine_level(of_gpus({(A, 0): [endless], (A, 1): [100.0]}))
    assert seen.values[0, 0, 0] == 100.0


def test_ranks_are_not_seen_from_outside() -> None:
    rows = (EntityKey(Entity.RANK, A, 0),)
    ranks = window(Entity.RANK, rows, step_seconds=np.ones((1, 3)))
    assert machine_level(JobHistory(JOB, {Entity.RANK: ranks})).metrics == ()


def test_one_gpu_as_often_as_one_likes_is_the_machine() -> None:
    watts = np.array([[100.0, 200.0], [300.0, NAN]])
    one, eight = (machine_level(history(gpus, gpu_power_watts=watts)) for gpus in (1, 8))
    np.testing.assert_allclose(eight.values, one.values)


gappy = st.lists(st.one_of(st.just(NAN), st.integers(0, 9).map(float)), min_size=6, max_size=6)


@settings(max_examples=15)
@given(gappy)
def test_means_are_those_of_what_is_known(values: list[float]) -> None:
    found: NDArray[np.float64] = mean_of_known(np.array(values).reshape(2, 3), axis=1)
    for mean, part in zip(found.tolist(), (values[:3], values[3:]), strict=True):
        known = [one for one in part if not math.isnan(one)]
        expected = sum(known) / len(known) if known else NAN
        assert mean == pytest.approx(expected, nan_ok=True)


def test_a_step_that_nothing_is_known_of_is_unknown() -> None:
    steps = level(load=np.array([[NAN, 1.0], [NAN, 3.0], [4.0, NAN], [NAN, NAN]])).in_steps(2)
    np.testing.assert_array_equal(steps.values[:, :, 0], [[NAN, 2.0], [4.0, NAN]])


@pytest.mark.parametrize(("wished", "width", "slots"), [(1, 10, 1), (25, 10, 2), (30, 10, 3)])
def test_steps_are_whole_slots_however_wide_these_are(wished: int, width: int, slots: int) -> None:
    one = level(load=np.arange(12.0).reshape(12, 1))
    wide = replace(one, seconds=range(0, 12 * width, width))
    steps = wide.in_steps(wished)
    assert len(steps.seconds) == len(steps.values) == 12 // slots
    assert steps.seconds[0] == (slots - 1) * width
