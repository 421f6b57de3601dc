"""Disturbances take away what they say and nothing else, and leave the episode as it was."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.benchmark.staged import BEGIN, facts, fault
from paramedic.diagnosis.benchmark.episodes import Disturbs, Episode, Facts
from paramedic.diagnosis.benchmark.verdicts import disturbing
from paramedic.diagnosis.benchmark.verdicts.disturbed import disturbed_detectors
from paramedic.ingest.contract import (
    Entity,
    EntityKey,
    Event,
    EventKind,
    JobName,
    NodeName,
    Window,
)
from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles
from paramedic.models.history import JobHistory

JOB = JobName("job")
GPU_METRICS = ("gpu_pcie_replays_per_second", "gpu_power_watts", "gpu_sm_clock_hertz")
RANK_METRICS = ("compute_seconds", "heartbeat")


def name(node: int) -> NodeName:
    return NodeName(f"node-{node:02d}")


def window(
    entity: Entity, metrics: tuple[str, ...], nodes: int, seconds: int, first: int
) -> Window:
    """Every value is different, so that it is known where it came from."""
    rows = tuple(EntityKey(entity, name(node), node) for node in range(nodes))
    values = 1.0 + np.arange(nodes * len(metrics) * seconds, dtype=np.float32)
    shaped = values.reshape(nodes, len(metrics), seconds)
    return Window(JOB, 0, entity, first, rows, metrics, shaped, np.ones(shaped.shape, np.bool_))


def episode(
    nodes: int = 12, seconds: int = 200, stages: int = 1, known: Facts | None = None,
    first: int = BEGIN,
) -> Episode:  # fmt: skip
    windows = {
        Entity.GPU: window(Entity.GPU, GPU_METRICS, nodes, seconds, first),
        Entity.RANK: window(Entity.RANK, RANK_METRICS, nodes, seconds, first),
    }
    ranks = tuple(
        RankRoles(n, name(n), 0, pipeline_stage=n % stages, data_rank=n) for n in range(nodes)
    )
    described = tuple(NodeRoles(name(n), 1, switch="leaf", rack="r") for n in range(nodes))
    joined = Event(
        datetime.fromtimestamp(BEGIN, UTC), EventKind.MEMBERSHIP, JOB, name(1), rank=1,
        details={"change": "joined", "pipeline_stage": 0},
    )  # fmt: skip
    left = replace(joined, node=name(nodes - 1), details={"change": "left"})
    broken = known or facts(replace(fault(0), nodes=(name(5),)))
    description = JobDescription(JOB, 1.0, described, ranks)
    return Episode(broken, JobHistory(JOB, windows, description, (joined, left)))


def copy_of(one: Episode) -> Episode:
    copied: Episode = pickle.loads(pickle.dumps(one))
    return copied


@given(first=st.integers(0, 10**6), cadence=st.sampled_from((5, 15, 30)), more=st.integers(0, 31))
def test_a_slow_source_shows_what_was_in_its_seconds(first: int, cadence: int, more: int) -> None:
    fast = episode(nodes=2, seconds=2 * cadence + more, first=first)
    slow = disturbing.at_cadence(fast, cadence)
    before, after = (one.history.windows[Entity.GPU] for one in (fast, slow))
    for at, second in enumerate(after.seconds):
        assert second % cadence == 0
        then = second - first
        assert (after.values[:, 1, at] == before.values[:, 1, then]).all()
        mean = before.values[:, 0, then - cadence + 1 : then + 1].mean(axis=1)
        assert after.values[:, 0, at] == pytest.approx(mean)
    assert len(after.seconds) >= 1
    assert before.seconds[-1] - after.seconds[-1] < cadence
    assert slow.history.description is not None
    assert slow.history.description.sampling_seconds == cadence


def test_a_slow_source_does_not_see_what_was_not_there_when_it_looked() -> None:
    one = episode(nodes=2, seconds=11, first=0)
    gpus = one.history.windows[Entity.GPU]
    gpus.values[0, :, 5] = np.nan
    gpus.values[0, :, 8] = np.nan
    seen = disturbing.at_cadence(one, 5).history.windows[Entity.GPU]
    assert list(seen.seconds) == [5, 10]
    assert seen.observed[0].tolist() == [[False, True]] * 3
    rate = gpus.values[0, 0, [6, 7, 9, 10]].mean()
    assert seen.values[0, 0, 1] == pytest.approx(rate)


def test_without_roles_nodes_ranks_and_events_tell_none() -> None:
    told = disturbing.without_roles(episode()).history
    assert told.description is not None
    assert {one.switch for one in told.description.nodes} == {None}
    assert told.description.ranks[3] == RankRoles(3, name(3), 0)
    assert [dict(event.details) for event in told.events] == [
        {"change": "joined"}, {"change": "left"},
    ]  # fmt: skip


def test_of_samples_30_percent_are_lost_by_node_and_none_is_changed() -> None:
    before = episode(nodes=12, seconds=1000)
    after = disturbing.with_few_samples(before).history.windows[Entity.GPU]
    whole = before.history.windows[Entity.GPU]
    assert 1.0 - after.observed.mean() == pytest.approx(0.3, abs=0.02)
    assert (after.values[after.observed] == whole.values[after.observed]).all()
    assert np.isnan(after.values[~after.observed]).all()
    assert (after.observed.all(axis=1) == after.observed.any(axis=1)).all()


def test_samples_that_were_lost_before_are_counted_in() -> None:
    holed = episode(nodes=12, seconds=1000)
    for one in holed.history.windows.values():
        one.observed[:, :, ::4] = False
    after = disturbing.with_few_samples(holed).history.windows[Entity.GPU]
    assert 1.0 - after.observed.mean() == pytest.approx(0.3, abs=0.02)


def test_of_metrics_30_percent_are_not_there_at_all() -> None:
    before = episode()
    after = disturbing.with_few_metrics(before).history.windows[Entity.GPU]
    assert len(after.metrics) == 2
    kept = [GPU_METRICS.index(metric) for metric in after.metrics]
    assert (after.values == before.history.windows[Entity.GPU].values[:, kept]).all()


def test_stages_have_roles_and_levels_of_their_own() -> None:
    before = episode(nodes=16)
    after = disturbing.with_stages(before)
    assert after is not None
    description = after.history.description
    assert description is not None
    stages = [one.pipeline_stage for one in description.ranks]
    assert stages == [one.pipeline_stage for one in description.nodes] == sorted([0, 1, 2, 3] * 4)
    whole, levelled = (one.history.windows[Entity.GPU].values for one in (before, after))
    ratio = (levelled / whole).min(axis=2)
    assert ratio[:, 1] == pytest.approx(np.repeat(ratio[::4, 1], 4))  # power: one level a stage
    assert ratio[0, 1] == 1.0
    assert len(set(ratio[::4, 1].round(4))) == 4
    assert (ratio[:, [0, 2]] == 1.0).all()  # errors and clocks are what they are


def test_a_job_with_stages_or_too_few_nodes_is_not_staged() -> None:
    assert disturbing.with_stages(episode(stages=2)) is None
    assert disturbing.with_stages(episode(nodes=7)) is None


def test_of_few_machines_the_broken_one_is_kept_and_others_of_its_stage_first() -> None:
    small = disturbing.of_few_machines(episode(nodes=40, stages=4))
    assert small is not None
    names = small.history.nodes
    assert name(5) in names
    assert 4 <= len(names) <= 8
    assert {int(one[-2:]) % 4 for one in names} == {1}
    description = small.history.description
    assert description is not None
    assert {one.name for one in description.nodes} == {one.node for one in description.ranks}
    assert [one.node for one in small.history.events] == [name(1)]


def test_few_machines_mean_nothing_where_several_break_and_a_small_job_stays_as_it_is() -> None:
    several = facts(fault(0), fault(1))
    assert disturbing.of_few_machines(episode(known=several)) is None
    small = episode(nodes=6)
    assert disturbing.of_few_machines(small) is small


def test_every_disturbance_is_repeatable_travels_and_leaves_the_episode_as_it_was() -> None:
    one = episode(nodes=10)
    untouched = copy_of(one)
    for detector in disturbed_detectors():
        assert isinstance(detector, Disturbs)
        there = pickle.loads(pickle.dumps(detector))
        first, again = detector.disturb(one), there.disturb(copy_of(one))
        assert first is not None
        assert first.facts == one.facts
        assert pickle.dumps(first) == pickle.dumps(again)
    for entity, before in untouched.history.windows.items():
        assert (one.history.windows[entity].values == before.values).all()
