"""Every kind of fault and every mechanism can be drawn, and keeps to its times."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from benchmarks.other_physics.faults import (
    GROUP,
    KINDS,
    Kind,
    Mechanism,
    Timing,
    draw_fault,
    draw_kind,
)
from benchmarks.other_physics.influences import Knob
from benchmarks.other_physics.job import Layout
from benchmarks.other_physics.sketch import Sketch, load_speed

from other_physics.small_jobs import a_job, played, push
from paramedic.diagnosis.contract import Fault as FaultName

JOB = a_job(4, 2, Layout.TENSOR)
MECHANISMS = [mechanism for kind in (*KINDS, GROUP) for mechanism in kind.mechanisms]


@pytest.mark.parametrize("kind", [*KINDS, GROUP], ids=lambda kind: kind.name)
def test_faults_are_called_as_verdicts_call_them(kind: Kind) -> None:
    assert kind.name in set(FaultName)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("halt", [None, 360.0])
def test_a_mechanism_touches_only_its_machine_and_its_time(
    mechanism: Mechanism, halt: float | None
) -> None:
    case = Sketch(JOB, np.random.default_rng(1), [2], 300.0, 700.0, halt)
    mechanism(case)
    influence = case.influence
    assert halt is None or influence.pushes or influence.marks or mechanism.__name__ == "deadlock"
    assert {int(rank) for one in influence.pushes for rank in one.ranks} <= {4, 5}
    assert {one.course.begin for one in influence.pushes} <= {300.0}
    assert {one.course.end for one in influence.pushes} <= {halt or 700.0}
    assert all(mark.course.begin >= 300.0 for mark in influence.marks)
    rows = {int(row) for one in influence.marks for row in one.rows}
    assert rows <= {2, 4, 5}
    assert all(told.node == 2 and told.at >= 300.0 for told in influence.happenings)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_fault_that_stops_the_job_has_symptoms_or_none_at_all(kind: Kind) -> None:
    dice = np.random.default_rng(0)
    for _ in range(20):
        fault = draw_fault(dice, JOB, [1], Timing(320.0, 900.0, must_halt=True), kind)
        assert fault.halted_at is not None
        assert fault.halted_at == 320.0 or 30.0 <= fault.halted_at - 320.0 <= 200.0
        assert fault.end is None
        assert set(fault.stopped) <= {2, 3}


def test_where_nothing_may_halt_nothing_does() -> None:
    dice = np.random.default_rng(0)
    for kind, _ in product(KINDS, range(3)):
        fault = draw_fault(dice, JOB, [1], Timing(320.0, 900.0, may_halt=False), kind)
        assert fault.halted_at is None
        assert fault.end is None or fault.end - fault.onset >= 150.0


def test_kinds_are_drawn_that_fit_the_job_and_the_wish() -> None:
    dice = np.random.default_rng(0)
    running = {draw_kind(dice, JOB, halting=False).name for _ in range(200)}
    stopping = {draw_kind(dice, JOB, halting=True).name for _ in range(200)}
    assert running.isdisjoint({"gpu_card_drop", "machine_unreachable", "hang", "process_exit"})
    assert stopping.isdisjoint({"straggler", "thermal_throttle", "telemetry_lost"})
    alone = {draw_kind(dice, a_job()).name for _ in range(300)}
    assert "nvlink_error" not in alone


@pytest.mark.parametrize("exposed", [0.1, 0.5])
def test_the_speed_of_loading_exposes_what_it_says(exposed: float) -> None:
    job = a_job()
    run = played(job, push(Knob.LOAD, load_speed(job, exposed), 0), seconds=60)
    loading = np.mean([one[0] for one in run.log.loading[10:]])
    assert loading - job.transfer_share == pytest.approx(exposed, rel=0.3)
