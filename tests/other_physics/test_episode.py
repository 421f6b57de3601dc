"""An episode that has been played: the same each time, with a fault that can be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.other_physics.episode import Episode, make_episode
from benchmarks.other_physics.plan import EpisodeKind
from benchmarks.other_physics.visibility import visibility

LARGEST = 4


@pytest.fixture(scope="module")
def stopping() -> Episode:
    return make_episode(EpisodeKind.FAILSTOP, 2, LARGEST)


@pytest.mark.long
def test_the_seed_decides_everything(stopping: Episode) -> None:
    again = make_episode(EpisodeKind.FAILSTOP, 2, LARGEST)
    for entity, scraped in stopping.entities.items():
        for metric, values in scraped.columns.items():
            assert np.array_equal(values, again.entities[entity].columns[metric], equal_nan=True)


def test_a_fault_can_be_seen(stopping: Episode) -> None:
    (seen,) = stopping.seen
    assert seen.spreads >= 8.0
    assert seen.metric != "nothing"


@pytest.mark.long
def test_without_the_fault_there_is_nothing_to_be_seen(stopping: Episode) -> None:
    healthy = make_episode(EpisodeKind.HEALTHY, 2, LARGEST)
    struck = stopping.plan.faults[0]
    imagined = replace(struck, nodes=(0,), gpu=0, halted_at=None, onset=400.0)
    assert visibility(healthy.plan.job, imagined, healthy.entities, 1).spreads < 8.0


def test_a_fail_stop_stops_the_job_for_good(stopping: Episode) -> None:
    halt = stopping.plan.faults[0].halted_at
    assert halt is not None
    power = stopping.entities["gpu"].columns["gpu_power_watts"]
    before, after = power[int(halt) - 60 : int(halt)], power[int(halt) + 40 :]
    assert np.nanmean(after) < 0.6 * np.nanmean(before)
