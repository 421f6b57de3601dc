"""Plans are what their kind says."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.other_physics.plan import EpisodeKind, Plan, draw_plan


def plans(kind: EpisodeKind, largest: int = 40) -> list[Plan]:
    return [draw_plan(kind, np.random.default_rng(seed), largest) for seed in range(12)]


@pytest.mark.parametrize("kind", EpisodeKind)
def test_faults_begin_after_five_minutes_and_have_time_to_show(kind: EpisodeKind) -> None:
    for plan in plans(kind):
        assert 12 * 60 <= plan.seconds < 20 * 60
        assert 2 <= plan.job.nodes <= 40
        for fault in plan.faults:
            assert 300.0 <= fault.onset <= plan.seconds - 200.0
            assert set(fault.nodes) <= set(range(plan.job.nodes))


def test_the_seed_decides() -> None:
    one, again = (plans(EpisodeKind.SINGLE)[3] for _ in range(2))
    assert one.job == again.job
    assert repr(one.faults) == repr(again.faults)
    assert one.nuisances.pauses == again.nuisances.pauses
    assert len({plan.job for plan in plans(EpisodeKind.SINGLE)}) == 12


def test_healthy_episodes_have_nuisances_and_no_fault() -> None:
    healthy = plans(EpisodeKind.HEALTHY)
    assert {plan.faults for plan in healthy} == {()}
    assert np.mean([len(plan.nuisances.names) for plan in healthy]) > 3.0


def test_a_small_job_has_four_to_eight_machines() -> None:
    assert {plan.job.nodes for plan in plans(EpisodeKind.SMALL)} <= set(range(4, 9))


def test_a_switch_takes_all_its_machines_along() -> None:
    for plan in plans(EpisodeKind.GROUP):
        (fault,) = plan.faults
        switches = [plan.job.switch_of(node) for node in range(plan.job.nodes)]
        assert fault.is_group
        assert len(fault.nodes) >= 3
        assert len(fault.nodes) == switches.count(plan.job.switch_of(fault.nodes[0]))
        assert len(fault.nodes) < plan.job.nodes


def test_several_faults_strike_different_machines_within_half_a_minute() -> None:
    for plan in plans(EpisodeKind.SEVERAL):
        onsets = [fault.onset for fault in plan.faults]
        assert 2 <= len({fault.nodes for fault in plan.faults}) == len(plan.faults) <= 4
        assert max(onsets) - min(onsets) <= 30.0
        assert plan.halt is None


def test_a_fail_stop_halts_the_job() -> None:
    for plan in plans(EpisodeKind.FAILSTOP):
        assert plan.halt is not None
        assert plan.halt.at == plan.faults[0].halted_at
        assert plan.halt.at < plan.halt.released <= plan.seconds


@pytest.mark.parametrize("cadence", [5, 15, 30])
def test_the_cadence_is_the_one_in_the_name(cadence: int) -> None:
    scrape = plans(EpisodeKind(f"cadence{cadence}"))[0].scrape
    assert scrape.cadence == cadence
    assert scrape.phases.max() < cadence
