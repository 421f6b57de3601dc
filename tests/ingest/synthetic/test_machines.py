"""Cards, hosts and the roles they play."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.synthetic.clusters import WARM, configured, gpu_mean, never_pausing, pressed
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import (
    PRESETS,
    ClusterConfig,
    Hardware,
    Shape,
    Work,
)
from paramedic.ingest.synthetic.counters import GPU_COUNTERS, NODE_COUNTERS, spread_over_cores
from paramedic.ingest.synthetic.errors import ClusterSettingError
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice
from paramedic.ingest.synthetic.silicon import POWER_CAP, THERMAL_SLOWDOWN

pytestmark = pytest.mark.long


STEADY = configured(work=never_pausing())


def test_a_card_warms_up_slowly_and_the_rear_row_gets_warmer() -> None:
    cluster = SyntheticCluster(STEADY)
    celsius = [s.gpu["gpu_temperature_celsius"] for s in cluster.seconds(0, 60)]
    assert celsius[0].max() < 45
    assert (celsius[20] - celsius[4] > 5).all()
    assert np.abs(celsius[59] - celsius[55]).max() <= 3
    assert celsius[59][:, 2:].mean() > celsius[59][:, :2].mean() + 4


def test_a_card_without_cooling_throttles_and_says_so() -> None:
    def block(causes: Causes) -> None:
        causes.cooling_ratio[0, 1] = 3.0

    cluster = pressed(block, STEADY, first=0)
    hot = cluster.second(45).gpu
    assert hot["gpu_temperature_celsius"][0, 1] > 86
    assert int(hot["gpu_throttle_reasons"][0, 1]) & THERMAL_SLOWDOWN
    assert hot["gpu_sm_clock_hertz"][0, 1] < 0.95 * hot["gpu_sm_clock_hertz"][1, 1]
    assert int(hot["gpu_throttle_reasons"][1, 1]) & THERMAL_SLOWDOWN == 0


def test_a_lower_power_limit_is_kept_by_a_lower_clock() -> None:
    def limit(causes: Causes) -> None:
        causes.power_limit_ratio[2] = 0.6

    cluster = pressed(limit, STEADY)
    second = cluster.second(WARM + 8)
    assert int(second.gpu["gpu_throttle_reasons"][2, 0]) & POWER_CAP
    assert gpu_mean(cluster, "gpu_sm_clock_hertz", WARM + 4)[2].max() < 1.8e9
    assert gpu_mean(cluster, "gpu_power_watts", WARM + 4)[2].max() < 0.6 * 700 * 1.05


def test_healthy_cards_differ_a_little_and_always_in_the_same_way() -> None:
    watts = gpu_mean(SyntheticCluster(STEADY), "gpu_power_watts", 4)
    assert 0.01 < watts.std() / watts.mean() < 0.08
    later = gpu_mean(SyntheticCluster(STEADY), "gpu_power_watts", 14)
    assert np.corrcoef(watts.ravel(), later.ravel())[0, 1] > 0.8


def test_memory_is_allocated_when_training_begins() -> None:
    cluster = SyntheticCluster(STEADY)
    used = [cluster.second(offset).gpu["gpu_memory_used_bytes"] for offset in (0, 10)]
    assert used[0].max() < 1e9
    assert used[1].min() > 5e10
    assert used[1].max() < Hardware().memory_bytes


@settings(max_examples=5)
@given(offset=st.integers(0, 9), rebooted=st.integers(0, 3))
def test_counters_only_fall_when_the_machine_starts_anew(offset: int, rebooted: int) -> None:
    class Reboot:
        def press(self, causes: Causes, second: int) -> None:
            causes.has_rebooted[rebooted] = second == offset + 1

    cluster = SyntheticCluster(STEADY, (Reboot(),))
    before, after = (cluster.second(at).counters for at in (offset, offset + 1))
    stays = np.arange(4) != rebooted
    for name in GPU_COUNTERS:
        assert (after.gpu[name][stays] >= before.gpu[name][stays]).all()
    for name in NODE_COUNTERS:
        assert (after.node[name][stays] >= before.node[name][stays]).all()
    assert (after.idle_centiseconds[stays] >= before.idle_centiseconds[stays]).all()
    assert after.gpu["gpu_energy_joules_total"][rebooted].max() < 1000
    assert after.boot_second[rebooted] == offset + 1


@given(
    ratio=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5),
    cores=st.integers(1, 40),
)
def test_busy_time_is_spread_evenly_over_the_cores(ratio: list[float], cores: int) -> None:
    spread = spread_over_cores(np.array(ratio), cores)
    assert spread.shape == (len(ratio), cores)
    assert np.allclose(spread.sum(axis=1), np.array(ratio) * cores * 100, atol=0.5)
    assert np.ptp(spread, axis=1).max() <= 1
    assert spread.min() >= 0
    assert spread.max() <= 100


def test_mishaps_are_counted_and_an_xid_stays_and_is_told_once() -> None:
    class Mishap:
        def press(self, causes: Causes, second: int) -> None:
            causes.uncorrected_errors_per_second[1, 2] = 50.0
            causes.xid[1, 2] = 48 if second == 3 else 0

    cluster = SyntheticCluster(STEADY, (Mishap(),))
    seconds = list(cluster.seconds(0, 8))
    assert seconds[-1].gpu["gpu_ecc_uncorrectable_total"][1, 2] > 200
    assert [int(s.gpu["gpu_xid"][1, 2]) for s in seconds] == [0, 0, 0, 48, 48, 48, 48, 48]
    told = [event for s in seconds for event in s.events if event.kind == "xid"]
    assert [(e.node, e.gpu, e.details["xid"]) for e in told] == [("node-0002", 2, 48)]


@given(data=st.integers(1, 6), stages=st.integers(1, 3), tensor=st.sampled_from([1, 2, 4]))
def test_every_role_is_played_once(data: int, stages: int, tensor: int) -> None:
    shape = Shape(nodes=data * stages * tensor, gpus=4, pipeline_stages=stages,
                  tensor_ranks=tensor)  # fmt: skip
    layout = Layout(shape, Dice(0))
    roles = zip(layout.stage.flat, layout.data_rank.flat, layout.tensor_rank.flat, strict=True)
    assert set(Counter(roles).values()) == {1}
    assert (layout.stage.max() + 1, layout.tensor_rank.max() + 1) == (stages, tensor)
    assert shape.data == layout.data_rank.max() + 1


def test_a_replica_goes_at_the_pace_of_its_slowest_and_others_do_not() -> None:
    layout = Layout(Shape(nodes=4, gpus=2, pipeline_stages=2), Dice(0))
    own = np.ones((4, 2))
    own[2, 1] = 3.0
    assert layout.pace(own)[:, 0].tolist() == [3.0, 1.0, 3.0, 1.0]


def test_expert_groups_meet_in_every_layer() -> None:
    layout = Layout(Shape(nodes=4, gpus=2, pipeline_stages=1, expert_groups=2), Dice(0))
    own = np.ones((4, 2))
    own[0, 0] = 2.0
    assert layout.pace(own)[:, 0].tolist() == [2.0, 2.0, 1.0, 1.0]


def test_cards_have_uuids_of_their_own_that_stay() -> None:
    layout = Layout(Shape(nodes=30, gpus=8), Dice(5))
    uuids = [uuid for row in layout.uuids for uuid in row]
    assert len(set(uuids)) == 240
    assert all(len(uuid) == 40 and uuid.count("-") == 5 for uuid in uuids)
    assert Layout(Shape(nodes=30, gpus=8), Dice(5)).uuids == layout.uuids


def test_the_job_is_described_with_its_roles() -> None:
    job = json.loads(SyntheticCluster(configured(stages=2, experts=2)).job.to_json())
    assert (job["schema"], job["job"], job["sampling_seconds"]) == (1, "synthetic", 1.0)
    assert job["nodes"][3] == {
        "name": "node-0004", "gpus": 4, "pipeline_stage": 1, "data_rank": 1, "expert_group": 1,
        "switch": "leaf-2", "rack": "r01",
    }  # fmt: skip
    assert job["ranks"][9] == {
        "rank": 9, "node": "node-0003", "gpu": 1, "pipeline_stage": 1, "data_rank": 0,
        "tensor_rank": 1, "expert_group": 0,
    }  # fmt: skip


def test_a_node_with_several_data_ranks_has_no_data_rank() -> None:
    config = replace(STEADY, shape=Shape(nodes=2, gpus=4, tensor_ranks=2, pipeline_stages=1))
    node = SyntheticCluster(config).job.nodes[0]
    assert (node.pipeline_stage, node.data_rank, node.expert_group) == (0, None, None)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"nodes": 0}, "nodes = 0"),
        ({"nodes": 3, "pipeline_stages": 2}, "must divide the 3 tensor groups"),
        ({"gpus": 8, "tensor_ranks": 3}, "must divide the 8 GPUs"),
        ({"nodes": 4, "pipeline_stages": 1, "expert_groups": 3}, "must divide the 4 data ranks"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(fields: dict[str, int], words: str) -> None:
    with pytest.raises(ClusterSettingError, match=words):
        Shape(**fields)


@pytest.mark.parametrize(
    "fields", [{"compute_seconds": 0.1}, {"buckets": 0}, {"gradient_bytes": 0.0}]
)
def test_work_that_cannot_be_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ClusterSettingError, match=next(iter(fields))):
        Work(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("nodes", [1, 2, 4, 16, 30, 64])
def test_stages_are_chosen_so_that_each_has_peers(nodes: int) -> None:
    shape = Shape(nodes=nodes)
    assert shape.stages * shape.data == nodes
    assert shape.data >= min(nodes, 4)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_presets_are_configurations(preset: str) -> None:
    config = PRESETS[preset](7)
    assert isinstance(config, ClusterConfig)
    assert config.seed == 7
