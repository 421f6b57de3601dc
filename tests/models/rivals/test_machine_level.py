"""One number for each metric of each node and slot."""

from __future__ import annotations

import numpy as np

from models.rivals.machines import FIRST, history, level, names, window
from paramedic.ingest.contract import Entity, EntityKey
from paramedic.models.history import JobHistory
from paramedic.models.rivals.machine_level import machine_level

NAN = float("nan")
LOAD = np.array([[1.0, 2.0], [3.0, NAN]])


def test_gpu_metrics_are_means_over_a_node_beside_node_metrics() -> None:
    a, b = names(2)
    rows = tuple(EntityKey(Entity.GPU, node, gpu) for node, gpu in ((b, 0), (a, 1), (a, 0)))
    power = np.array([[300.0, 310.0], [100.0, NAN], [200.0, 220.0]])
    windows = {
        Entity.NODE: history(load_average=LOAD).windows[Entity.NODE],
        Entity.GPU: window(Entity.GPU, rows, gpu_power_watts=power),
    }
    seen = machine_level(JobHistory(history(load_average=LOAD).job, windows))
    assert (seen.nodes, seen.metrics) == ((a, b), ("load_average", "gpu_power_watts"))
    assert seen.values[:, :, 0].tolist()[0] == [1.0, 3.0]
    assert seen.values[:, :, 1].tolist() == [[150.0, 300.0], [220.0, 310.0]]


def test_what_no_row_says_is_not_a_number() -> None:
    seen = machine_level(history(load_average=LOAD))
    assert np.isnan(seen.values[1, 1, 0])
    assert np.isnan(seen.select(("cpu_utilization_ratio",))).all()


def test_only_the_metrics_that_are_wanted_are_read() -> None:
    seen = machine_level(history(load_average=LOAD, context_switches_per_second=LOAD), {"x"})
    assert seen.values.shape == (2, 2, 0)


def test_a_job_of_which_nothing_was_observed_has_no_slot() -> None:
    seen = machine_level(JobHistory(history(load_average=LOAD).job, {}))
    assert seen.values.shape == (0, 0, 0)


def test_a_step_is_known_in_its_last_slot_and_one_that_is_not_over_is_left_out() -> None:
    steps = level(load=np.array([[1.0], [3.0], [NAN], [5.0], [9.0]])).in_steps(2)
    assert list(steps.seconds) == [FIRST + 1, FIRST + 3]
    assert steps.values[:, 0, 0].tolist() == [2.0, 5.0]
