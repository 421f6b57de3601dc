"""The host's second, the trainers' rows, and the order of things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ingest.synthetic.clusters import QUICK, configured
from paramedic.ingest.contract import EventKind
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.host import Host, host_of
from paramedic.ingest.synthetic.individuals import draw_individuals
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.living import EndedStep, Shares
from paramedic.ingest.synthetic.phases import Pause, Progress, Schedule
from paramedic.ingest.synthetic.randomness import Dice
from paramedic.ingest.synthetic.ranks import RankTelemetry
from paramedic.ingest.synthetic.storytelling import Storyteller

CONFIG = configured(nodes=2, gpus=2)
SHAPE = (2, 2)
LAYOUT = Layout(CONFIG.shape, Dice(0))
INDIVIDUALS = draw_individuals(CONFIG, LAYOUT, Dice(0))


def host(
    press: Callable[[Causes], None] = lambda _causes: None, load: float = 3.0, **parts: float
) -> Host:
    shares, causes = Shares.none(SHAPE), Causes.neutral(*SHAPE)
    for name, value in parts.items():
        getattr(shares, name)[...] = value
    press(causes)
    rng = np.random.default_rng(0)
    return host_of(CONFIG, INDIVIDUALS, causes, shares, np.full(2, load), 100, rng)


def test_a_training_host_works_and_a_resting_one_hardly() -> None:
    training, resting = host(busy=1.0, work=1.0), host(idle=1.0)
    assert (training.cpu_ratio > 2 * resting.cpu_ratio).all()
    assert (training.received_bytes > 5 * resting.received_bytes).all()
    assert (training.switches > resting.switches).all()


def test_a_checkpoint_is_written_and_takes_memory() -> None:
    saving, resting = host(saving=1.0), host(idle=1.0)
    assert (saving.written_bytes > 100 * resting.written_bytes).all()
    assert (saving.memory_ratio > resting.memory_ratio + 0.1).all()


def test_a_stolen_processor_is_no_longer_idle() -> None:
    def steal(causes: Causes) -> None:
        causes.stolen_cpu_ratio[1] = 0.5

    cpu = host(steal, busy=1.0).cpu_ratio - host(busy=1.0).cpu_ratio
    assert cpu == pytest.approx([0.0, 0.5])
    assert host(lambda causes: causes.stolen_cpu_ratio.fill(5.0)).cpu_ratio.max() == 1.0


def test_a_slow_disk_takes_longer_for_each_operation() -> None:
    def slow(causes: Causes) -> None:
        causes.storage_slowdown[0] = 10.0

    usual, slowed = host(busy=1.0, work=1.0), host(slow, busy=1.0, work=1.0)
    assert np.array_equal(usual.reads, slowed.reads)
    assert slowed.read_seconds / usual.read_seconds == pytest.approx([10.0, 1.0])
    assert slowed.write_seconds / usual.write_seconds == pytest.approx([10.0, 1.0])


def test_load_follows_the_processor_within_a_minute() -> None:
    load, path = 0.0, []
    for _second in range(180):
        load = float(host(load=load, busy=1.0).load[0])
        path.append(load)
    runnable = float(host(busy=1.0).cpu_ratio[0]) * CONFIG.hardware.cores
    assert path[59] == pytest.approx(0.63 * runnable, rel=0.03)
    assert path[-1] == pytest.approx(runnable, rel=0.06)


def test_lost_segments_are_sent_again() -> None:
    def lose(causes: Causes) -> None:
        causes.network_loss[1] = 500.0

    retransmits = host(lose).retransmits
    assert retransmits[0] < 10
    assert 400 < retransmits[1] < 600
    assert (retransmits % 1 == 0).all()


RANKS = RankTelemetry(QUICK, SHAPE, data_ranks=2, dice=Dice(0))


def ended(step: int, seconds: float = 2.0, arriving: float = 0.0) -> EndedStep:
    whole = np.ones(SHAPE)
    return EndedStep(step, seconds, 0.1 * whole, 1.2 * whole, 0.7 * whole, arriving * whole)


def test_a_second_without_an_ended_step_has_heart_beat_and_step_only() -> None:
    rows = RANKS.rows((), newest=41, second=1000, collective_seconds=0.24)
    assert {name: column[0, 0] for name, column in rows.items()} == {
        "heartbeat": 1001.0,
        "step": 41.0,
    }
    assert "step" not in RANKS.rows((), newest=-1, second=1000, collective_seconds=0.24)


def test_a_row_is_the_mean_of_the_steps_that_ended() -> None:
    steps = (ended(7, 2.0), ended(8, 4.0))
    rows = RANKS.rows(steps, newest=8, second=5, collective_seconds=0.24)
    row = {name: float(column[1, 1]) for name, column in rows.items()}
    assert (row["step"], row["step_seconds"], row["dataloader_seconds"]) == (8.0, 3.0, 0.1)
    assert row["samples_per_second"] == pytest.approx(1024 / 2 / 3.0)
    assert row["compute_seconds"] + row["collective_seconds"] == pytest.approx(1.9)


def test_the_slowest_calls_of_a_rank_that_waits_are_its_waits() -> None:
    rows = RANKS.rows((ended(1, arriving=0.5),), newest=1, second=5, collective_seconds=0.24)
    assert rows["collective_p99_seconds"] == pytest.approx(np.full(SHAPE, 0.51))
    rows = RANKS.rows((ended(1),), newest=1, second=5, collective_seconds=0.24)
    assert rows["collective_p99_seconds"].max() < 0.1


def test_loss_and_gradients_are_the_same_on_every_rank_and_every_time() -> None:
    rows = [RANKS.rows((ended(9),), 9, second, 0.24) for second in (5, 77)]
    for metric in ("loss", "gradient_norm", "learning_rate"):
        assert np.ptp(rows[0][metric]) == 0.0
        assert rows[0][metric][0, 0] == rows[1][metric][0, 0]


SCHEDULE = Schedule(replace(QUICK, warm_up_steps=2), SHAPE, Dice(0))


def after(step: int, now: float, **fields: int) -> Progress:
    done = replace(SCHEDULE.begin(), pause=None, step=step, **fields)  # type: ignore[arg-type]
    return SCHEDULE.after(done, now)


def test_steps_follow_each_other() -> None:
    first = SCHEDULE.after(SCHEDULE.begin(), 2.0)
    assert (first.pause, first.step, first.started) == (None, 0, 2.0)
    assert SCHEDULE.after(first, 3.0).step == 1


def test_a_pause_comes_when_it_is_due_and_does_not_count_as_a_step() -> None:
    pausing = after(30, 905.0)
    assert (pausing.pause, pausing.step, pausing.checkpoints) == (Pause.CHECKPOINT, 31, 1)
    resumed = SCHEDULE.after(pausing, 915.0)
    assert (resumed.pause, resumed.step) == (None, 31)


def test_pauses_that_were_missed_are_made_up_for_once() -> None:
    assert after(30, 5000.0).checkpoints == 5
    second = SCHEDULE.after(after(30, 5000.0), 5010.0)
    assert second.pause is None
    assert after(30, 5020.0, checkpoints=5).pause is Pause.EVALUATION


def test_nothing_interrupts_the_warm_up() -> None:
    assert after(1, 5000.0).pause is None


def test_the_noise_of_a_step_is_its_own() -> None:
    assert np.array_equal(after(5, 8.0).noise, after(5, 99.0).noise)
    assert not np.array_equal(after(5, 8.0).noise, after(6, 8.0).noise)
    assert after(5, 8.0).noise == pytest.approx(np.ones(SHAPE), abs=0.05)


def test_the_story_tells_changes_only() -> None:
    story = Storyteller(replace(CONFIG, work=replace(QUICK, warm_up_steps=3)), LAYOUT)
    start = SCHEDULE.begin()
    turns = [SCHEDULE.after(start, 2.0)]
    turns.append(SCHEDULE.after(turns[-1], 3.0))
    told = list(story.turns(start, turns))
    assert [(event.kind, event.details["state"]) for event in told] == [
        (EventKind.JOB_STATE, "warming_up")
    ]
    assert told[0].timestamp.timestamp() == CONFIG.first_second + 2.0


def test_each_xid_names_its_card() -> None:
    codes = np.array([[0.0, 79.0], [48.0, 0.0]])
    told = list(Storyteller(CONFIG, LAYOUT).xids(codes, 12))
    assert [(event.node, event.gpu, event.details["xid"]) for event in told] == [
        ("node-0001", 1, 79),
        ("node-0002", 0, 48),
    ]
