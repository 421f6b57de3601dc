"""Which episodes are drawn: seeded, disjoint between splits, of many kinds and sizes."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import cache

import pytest

from paramedic.ingest.synthetic.configuration import Weather
from paramedic.ingest.synthetic.episodes.breakage import TEST_ONLY
from paramedic.ingest.synthetic.episodes.drawing import draw_fault_episodes, draw_healthy_episodes
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split, label_of
from paramedic.ingest.synthetic.faults.catalogue import FAULTS
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Loudness
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice

NUMBER = 150


@cache
def hurt(split: Split = Split.TEST) -> tuple[EpisodePlan, ...]:
    return draw_fault_episodes(split, NUMBER, seed=3)


@cache
def healthy(split: Split = Split.TEST) -> tuple[EpisodePlan, ...]:
    return draw_healthy_episodes(split, 12, seed=3)


def faults(split: Split = Split.TEST) -> list[FaultPlan]:
    return [fault for plan in hurt(split) for fault in plan.cluster.faults]


def test_who_asks_for_more_gets_the_same_and_more() -> None:
    assert draw_fault_episodes(Split.TEST, 7, seed=3) == hurt()[:7]
    assert draw_healthy_episodes(Split.TEST, 2, seed=3) == healthy()[:6]
    assert draw_fault_episodes(Split.TEST, 7, seed=4) != hurt()[:7]


@pytest.mark.long
def test_no_job_is_in_two_splits() -> None:
    for split in Split:
        plans = hurt(split) + healthy(split)
        assert {plan.cluster.seed % 3 for plan in plans} == {list(Split).index(split)}
        assert {plan.split for plan in plans} == {split}
        assert len({plan.cluster.seed for plan in plans}) == len(plans)


def test_some_kinds_and_sizes_come_in_the_test_only() -> None:
    def seen(split: Split) -> tuple[set[str], set[int]]:
        return {f.kind for f in faults(split)}, {p.cluster.shape.nodes for p in hurt(split)}

    kinds, sizes = seen(Split.TEST)
    assert {"host_contention"} <= kinds
    for split in (Split.TRAIN, Split.VALIDATION):
        assert not set(TEST_ONLY) & seen(split)[0]
        assert not {6, 20, 40, 96, 128, 256} & seen(split)[1]
        assert sizes > seen(split)[1]


def test_a_fault_begins_after_five_minutes_and_is_seen_for_at_least_four() -> None:
    for plan in hurt():
        assert 720 <= plan.seconds <= 1200
        for fault in plan.cluster.faults:
            assert plan.first + 300 <= fault.onset <= plan.first + plan.seconds - 240


def test_healthy_hours_come_in_pieces_of_one_job() -> None:
    hours = {plan.cluster.job: [] for plan in healthy()}  # type: dict[str, list[EpisodePlan]]
    for plan in healthy():
        hours[plan.cluster.job].append(plan)
        assert plan.cluster.faults == ()
        assert plan.cluster.weather != Weather.calm()
    assert len(hours) == 12
    for pieces in hours.values():
        assert sum(piece.seconds for piece in pieces) == 3600
        assert len({piece.cluster.shape for piece in pieces}) == 1


def test_table_one_s_mix_is_drawn() -> None:
    single = [p.cluster.faults[0] for p in hurt(Split.TRAIN) if len(p.cluster.faults) == 1]
    kinds = Counter(fault.kind for fault in single if not FAULTS[fault.kind].is_group)
    assert kinds["ecc_error"] / kinds.total() == pytest.approx(0.41, abs=0.1)
    assert kinds["ecc_error"] > kinds["cuda_execution_error"] > kinds["nvlink_error"]


def test_a_few_episodes_have_several_faults_and_a_few_a_switch_s() -> None:
    numbers = Counter(len(plan.cluster.faults) for plan in hurt())
    assert 0.7 < numbers[1] / NUMBER < 0.95
    assert set(numbers) - {1} <= set(range(2, 9))
    groups = [p for p in hurt() if FAULTS[p.cluster.faults[0].kind].is_group]
    assert 0.02 < len(groups) / NUMBER < 0.14
    for plan in groups:
        layout = Layout(plan.cluster.shape, Dice(0))
        label = label_of(plan.cluster.faults[0], plan.cluster, layout)
        assert label.is_group
        assert 3 <= len(label.nodes) < plan.cluster.shape.nodes


def test_machines_that_break_together_are_different_ones_and_stop_nobody() -> None:
    for plan in hurt():
        several = plan.cluster.faults
        if len(several) > 1:
            assert len({fault.node for fault in several}) == len(several)
            assert all(fault.stop is None for fault in several)
            assert max(f.onset for f in several) - min(f.onset for f in several) < 60


def test_faults_are_loud_quiet_and_hidden() -> None:
    volumes = Counter(fault.loudness for fault in faults())
    assert all(volumes[one] > 0.01 * volumes.total() for one in Loudness)
    strongest = {one: max(f.strength for f in faults() if f.loudness is one) for one in Loudness}
    assert strongest[Loudness.HIDDEN] < 0.4 < strongest[Loudness.QUIET] < 0.7
    assert any(fault.intermittence for fault in faults())
    assert any(fault.stop for fault in faults())
    assert any(fault.end and not fault.stop for fault in faults())


def test_most_jobs_have_eight_to_sixty_four_nodes_and_many_layouts() -> None:
    sizes = [plan.cluster.shape.nodes for plan in hurt()]
    assert sum(8 <= size <= 64 for size in sizes) > 0.75 * NUMBER
    assert max(sizes) >= 128
    for part in ("gpus", "stages", "tensor", "expert_groups"):
        assert len({getattr(plan.cluster.shape, part) for plan in hurt()}) >= 3
    paces = [plan.cluster.work.compute_seconds for plan in hurt()]
    assert min(paces) < 0.5 < 10.0 < max(paces)


def test_a_part_of_the_episodes_is_not_seen_whole() -> None:
    missing = [plan.missing_share for plan in hurt()]
    assert 0.15 < sum(share > 0.0 for share in missing) / NUMBER < 0.45
    assert max(missing) <= 0.3


def test_a_plan_is_small_and_travels() -> None:
    assert len(pickle.dumps(hurt()[0])) < 4096
    assert pickle.loads(pickle.dumps(hurt()[:5])) == hurt()[:5]


def test_the_job_s_name_tells_nothing() -> None:
    for plan in hurt() + healthy():
        assert plan.cluster.job.startswith("job-")
        assert not any(kind in plan.cluster.job for kind in FAULTS)
