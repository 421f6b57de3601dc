"""Bookkeeping of the physics: a second is a second, and a step moves what it has to move."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.synthetic.clusters import QUICK, configured, never_pausing
from paramedic.ingest.contract import EventKind
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.living import EndedStep, live
from paramedic.ingest.synthetic.pace import Pace
from paramedic.ingest.synthetic.phases import Pause, Schedule
from paramedic.ingest.synthetic.randomness import Dice

pytestmark = pytest.mark.long


SHAPE = (2, 3)
PARTS = ("loading", "busy", "spinning", "collective", "optimizer", "evaluating", "saving", "idle")


def pace(own: Floats, collective: float = 0.2, pause_slowdown: float = 1.0) -> Pace:
    return Pace(
        own_seconds=own,
        loading_seconds=np.full(SHAPE, 0.02),
        collective_seconds=collective,
        optimizer_seconds=0.05,
        bubble=1.1,
        pause_slowdown=pause_slowdown,
        bandwidth=np.full(SHAPE, 1e10),
    )


def slowest(own: Floats) -> Floats:
    return np.broadcast_to(own.max(axis=1, keepdims=True), own.shape)


own_seconds = st.lists(
    st.one_of(st.floats(0.05, 5.0), st.just(np.inf)), min_size=6, max_size=6
).map(lambda values: np.array(values).reshape(SHAPE))


@given(paces=st.lists(st.tuples(own_seconds, st.floats(0.01, 3.0)), min_size=1, max_size=4))
def test_whatever_happens_every_gpu_spends_each_second_on_something(
    paces: list[tuple[Floats, float]],
) -> None:
    work = replace(QUICK, starting_seconds=0.5, checkpoint_every_seconds=3.0)
    schedule = Schedule(work, SHAPE, Dice(1))
    progress = schedule.begin()
    for second, (own, collective) in enumerate(paces):
        lived = live(progress, second, pace(own, collective), schedule, slowest)
        spent = sum(getattr(lived.shares, part) for part in PARTS)
        assert np.allclose(spent, 1.0, atol=1e-9)
        assert min(getattr(lived.shares, part).min() for part in PARTS) >= 0.0
        progress = lived.progress


@given(own=st.floats(0.1, 2.0), collective=st.floats(0.05, 1.0))
def test_a_step_takes_the_sum_of_its_parts(own: float, collective: float) -> None:
    work = replace(never_pausing(), starting_seconds=0.0, warm_up_steps=0, step_jitter=0.0)
    schedule = Schedule(work, SHAPE, Dice(1))
    progress = schedule.begin()
    ended: list[EndedStep] = []
    for second in range(6):
        lived = live(progress, second, pace(np.full(SHAPE, own), collective), schedule, slowest)
        progress = lived.progress
        ended.extend(lived.ended)
    assert [step.step for step in ended] == list(range(len(ended)))
    for step in ended:
        assert step.seconds == pytest.approx(0.02 + 1.1 * own + collective + 0.05)
        parts = step.loading + step.busy + step.collective
        assert parts == pytest.approx(np.full(SHAPE, step.seconds))


def test_a_gpu_that_gets_slow_in_the_middle_of_a_step_is_slow_from_then_on() -> None:
    work = replace(never_pausing(), starting_seconds=0.0, warm_up_steps=0, step_jitter=0.0)
    schedule = Schedule(work, SHAPE, Dice(1))
    own = np.full(SHAPE, 4.0)
    lived = live(schedule.begin(), 0, pace(own), schedule, slowest)
    own[0, 0] = 8.0
    slowed = live(lived.progress, 1, pace(own), schedule, slowest)
    assert slowed.shares.work[0, 0] == pytest.approx(lived.shares.work[0, 0] / 2, rel=0.05)
    assert slowed.shares.busy[0, 1] == pytest.approx(slowed.shares.busy[0, 0] / 2)


def test_what_a_step_has_to_send_does_not_depend_on_how_long_it_takes() -> None:
    work = replace(never_pausing(), step_jitter=0.0)
    sent = []
    for compute in (0.6, 1.9):
        cluster = SyntheticCluster(configured(work=replace(work, compute_seconds=compute)))
        rows = [(s.node["rdma_tx_bytes_per_second"].sum(), s.rank) for s in cluster.seconds(15, 30)]
        steps = rows[-1][1]["step"][0, 0] - rows[0][1]["step"][0, 0]
        sent.append(sum(row[0] for row in rows) / steps)
    assert sent[0] == pytest.approx(sent[1], rel=0.05)
    assert sent[0] == pytest.approx(16 * work.gradient_bytes, rel=0.05)


def test_a_checkpoint_stops_the_gpus_and_writes_to_disk() -> None:
    work = replace(QUICK, checkpoint_every_seconds=14.0, checkpoint_seconds=6.0)
    seconds = list(SyntheticCluster(configured(work=work)).seconds(0, 24))
    saving = [s for s in seconds if s.gpu["gpu_utilization_ratio"].max() < 0.1 and s.offset > 10]
    assert len(saving) == pytest.approx(5, abs=1)
    assert all(s.node["disk_throughput_bytes_per_second"].min() > 1e9 for s in saving)
    events = [event for s in seconds for event in s.events]
    saved = [event for event in events if event.kind is EventKind.CHECKPOINT]
    assert [event.details["result"] for event in saved] == ["saved"]


def test_a_slow_disk_makes_the_checkpoint_longer() -> None:
    schedule = Schedule(replace(QUICK, checkpoint_seconds=4.0), SHAPE, Dice(0))
    progress = replace(schedule.begin(), pause=Pause.CHECKPOINT, step=9)
    slow = pace(np.ones(SHAPE), pause_slowdown=3.0)
    lived = live(progress, 0, slow, schedule, slowest)
    assert lived.progress.pause_left == pytest.approx(1 - 1 / 12)


def test_an_evaluation_computes_less_than_training_and_sends_nothing() -> None:
    work = replace(QUICK, evaluation_every_seconds=14.0, evaluation_seconds=8.0)
    seconds = list(SyntheticCluster(configured(work=work)).seconds(10, 18))
    quiet = [s for s in seconds if s.node["rdma_tx_bytes_per_second"].max() == 0.0]
    assert len(quiet) >= 6
    assert all(0.25 < s.gpu["gpu_tensor_active_ratio"].mean() < 0.4 for s in quiet[1:-1])


def test_the_job_tells_its_states_in_order() -> None:
    work = replace(
        QUICK,
        checkpoint_every_seconds=12.0,
        evaluation_every_seconds=20.0,
        checkpoint_seconds=2.0,
        evaluation_seconds=2.0,
    )
    seconds = SyntheticCluster(configured(work=work)).seconds(0, 32)
    events = [event for second in seconds for event in second.events]
    states = [e.details["state"] for e in events if e.kind is EventKind.JOB_STATE]
    assert states[:5] == ["starting", "warming_up", "training", "checkpointing", "training"]
    assert "evaluating" in states
    assert all(a != b for a, b in pairwise(states))
    joined = [e.rank for e in events if e.kind is EventKind.MEMBERSHIP]
    assert joined == list(range(16))


def test_the_first_steps_take_longer_and_the_loss_falls() -> None:
    rows = [s.rank for s in SyntheticCluster(configured()).seconds(0, 24) if "loss" in s.rank]
    assert rows[0]["step_seconds"][0, 0] > 1.5 * rows[-1]["step_seconds"][0, 0]
    assert rows[0]["loss"][0, 0] > rows[-1]["loss"][0, 0] + 0.5
