"""The floors as rows of a table."""

from __future__ import annotations

from functools import cache

import numpy as np

from models.rivals.machines import for_each, history, named, noise
from paramedic.models.history import JobHistory
from paramedic.models.rivals.floor import Floor
from paramedic.models.rivals.floors import floors

ALL = {one.name: one for one in floors()}
LOOKING = sorted(set(ALL) - {"random", "always_same"})


def job(seed: int, slots: int = 400, fault: int | None = None) -> JobHistory:
    """Six machines; the fourth leaves its peers far behind from a slot on."""
    power, cpu = (noise(slots, 6, seed + at, size).T for at, size in ((0, 500.0), (1, 0.3)))
    if fault is not None:
        power[3, fault:] = 60.0
        cpu[3, fault:] = 0.95
    busy = np.clip(power / 520.0, 0, 1)
    return history(gpu_power_watts=power, gpu_utilization_ratio=busy, cpu_utilization_ratio=cpu)


@cache
def trained(name: str) -> Floor:
    ALL[name].train([job(1), job(2)])
    return ALL[name]


def test_every_floor_has_a_name_of_its_own() -> None:
    assert len(ALL) == len(floors()) == 10


@for_each(LOOKING)
def test_a_machine_that_breaks_down_is_named_at_some_threshold_and_nobody_else(name: str) -> None:
    one = trained(name)
    said = [named(one.examine(job(5, fault=300)).alarms(t)) for t in one.thresholds]
    assert any(
        alarms and all(nodes == ("node-03",) and second >= 300 for second, nodes in alarms)
        for alarms in said
    )


@for_each(LOOKING)
def test_a_healthy_job_is_left_alone_at_some_threshold(name: str) -> None:
    one = trained(name)
    assert not one.examine(job(7)).alarms(one.thresholds[-1])
