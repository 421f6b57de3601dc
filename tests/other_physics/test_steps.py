"""Who waits for whom comes out of the collectives."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.other_physics.influences import Course, Knob
from benchmarks.other_physics.job import Layout
from benchmarks.other_physics.seconds import Doing
from benchmarks.other_physics.steps import Halt, Pause, PauseKind, Played

from other_physics.small_jobs import a_job, played, push, ring


def waited(run: Played) -> list[float]:
    return [round(float(one), 3) for one in run.totals[Doing.WAIT].sum(axis=0)]


def steps(run: Played) -> int:
    return len(run.log.ended)


def test_alike_machines_wait_for_nobody() -> None:
    run = played(a_job())
    assert max(waited(run)) < 0.2
    assert steps(run) == pytest.approx(30, abs=2)


def test_a_slow_card_slows_everybody_and_is_the_one_that_does_not_wait() -> None:
    run = played(a_job(), push(Knob.SPEED, 0.5, 1))
    assert steps(run) < 0.7 * steps(played(a_job()))
    assert np.argmin(waited(run)) == 1
    assert min(waited(run)[0], *waited(run)[2:]) > 10 * waited(run)[1]
    assert np.argmax(run.log.computing[-1]) == 1


def test_all_do_the_same_work_however_slow_one_is() -> None:
    work = played(a_job(), push(Knob.SPEED, 0.5, 1)).totals[Doing.WORK].sum(axis=0)
    assert work.min() > 0.93 * work.max()


def test_a_slow_link_in_a_ring_slows_all_and_else_the_others_wait() -> None:
    slow = push(Knob.NIC, 0.25, 0)
    assert waited(played(ring(a_job()), slow))[3] < 0.2
    run = played(a_job(), slow)
    assert waited(run)[0] < 0.2
    assert waited(run)[3] > 3.0
    assert steps(run) == pytest.approx(steps(played(ring(a_job()), slow)), abs=1)


def test_a_link_between_cards_slows_its_node_and_others_wait_for_the_node() -> None:
    run = played(a_job(2, 2, Layout.TENSOR), push(Knob.NVLINK, 0.2, 0))
    shared = run.totals[Doing.SHARE].sum(axis=0)
    assert shared[1] == pytest.approx(shared[0])
    assert shared[0] > 4 * shared[2]
    assert min(waited(run)[2:]) > 10 * max(waited(run)[:2])


def test_a_slow_stage_is_waited_for_by_stages_before_and_after_it() -> None:
    job = a_job(6, 1, Layout.PIPELINE, stages=3)
    run = played(job, push(Knob.SPEED, 0.5, 2, 3))
    first, slow, last = waited(run)[0], waited(run)[2], waited(run)[4]
    assert first > slow
    assert last > slow


def test_slow_data_shows_only_when_a_step_no_longer_hides_it() -> None:
    a_little = played(a_job(), push(Knob.LOAD, 0.6, 0))
    much = played(a_job(), push(Knob.LOAD, 0.2, 0))
    assert steps(a_little) == steps(played(a_job()))
    assert steps(much) < 0.8 * steps(a_little)
    assert np.argmax(much.log.loading[-1]) == 0


def test_a_stalled_card_lies_idle() -> None:
    totals = played(a_job(), push(Knob.STALL, 0.5, 2)).totals
    busy = totals[: Doing.OPTIMIZE + 1].sum(axis=(0, 1))
    assert np.argmin(busy) == 2
    assert busy[2] < 0.85 * busy[0]


def test_heat_slows_a_card_by_and_by() -> None:
    run = played(a_job(), push(Knob.HEAT, 3.0, 3), seconds=90)
    lasted = np.diff([float(ended.max()) for ended in run.log.ended])
    assert lasted[-1] > 1.2 * lasted[0]
    assert np.argmin(waited(run)) == 3


def test_work_without_tensor_cores_takes_longer_and_is_told_apart() -> None:
    totals = played(a_job(), push(Knob.TENSOR, 0.5, 0)).totals
    assert totals[Doing.FELL_BACK][:, 0].sum() == pytest.approx(totals[Doing.WORK][:, 0].sum())
    assert totals[Doing.FELL_BACK][:, 1].sum() == 0.0


def test_a_fault_is_felt_from_its_beginning_on() -> None:
    late = push(Knob.SPEED, 0.4, 0, course=Course(15.0, 99.0))
    waiting = played(a_job(), late).totals[Doing.WAIT][:, 1]
    assert waiting[:14].max() < 0.1
    assert waiting[17:].mean() > 0.4


def test_after_a_halt_the_stopped_do_nothing_and_the_others_wait() -> None:
    halt = Halt(10.5, 20.0, np.array([1]))
    totals = played(a_job(), halt=halt).totals
    assert (totals[:, 11:, 1] == 0.0).all()
    assert totals[Doing.WAIT][14:20, 0] == pytest.approx(1.0)
    assert totals[Doing.WAIT][20:, 0].sum() == 0.0
    assert totals[Doing.WORK][13:].sum() == 0.0


def test_a_pause_begins_between_two_steps_and_is_told() -> None:
    run = played(a_job(), pauses=[Pause(9.3, 5.0, PauseKind.CHECKPOINT)])
    ((begin, end, kind),) = run.paused
    assert kind is PauseKind.CHECKPOINT
    assert begin in [float(ended.max()) for ended in run.log.ended]
    assert end - begin == pytest.approx(5.0)
    assert run.totals[:, int(begin) + 1 : int(end)].sum() == 0.0


def test_an_evaluation_computes_without_collectives() -> None:
    totals = played(a_job(), pauses=[Pause(5.0, 10.0, PauseKind.EVALUATION)]).totals
    assert totals[Doing.COMPUTE][8:13] == pytest.approx(1.0)
    assert totals[Doing.REDUCE][8:13].sum() == 0.0
