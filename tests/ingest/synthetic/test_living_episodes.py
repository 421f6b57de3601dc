"""Episodes lived: the same plan gives the same arrays, and holes are where they were drawn."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from ingest.synthetic.clusters import QUICK, configured
from paramedic.ingest.contract import Entity
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Observation
from paramedic.ingest.synthetic.episodes.living import LivedEpisode, live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.ingest.synthetic.ranks import RANK_METRICS

pytestmark = pytest.mark.long

PLAN = EpisodePlan("one", Split.TRAIN, configured(2, 2), first=4, seconds=70)


def planned(cluster: ClusterConfig = PLAN.cluster, missing: float = 0.0) -> EpisodePlan:
    return replace(PLAN, cluster=cluster, missing_share=missing)


def told(episode: LivedEpisode) -> tuple[bytes, ...]:
    arrays = tuple(window.values.tobytes() for window in episode.windows.values())
    return (*arrays, repr((episode.events, episode.labels)).encode())


def test_the_same_plan_gives_the_same_episode_after_a_journey() -> None:
    assert told(live(pickle.loads(pickle.dumps(PLAN)))) == told(live(PLAN))


def test_windows_hold_what_the_cluster_s_seconds_say() -> None:
    windows, cluster = live(PLAN).windows, SyntheticCluster(PLAN.cluster)
    gpu, rank = windows[Entity.GPU], windows[Entity.RANK]
    assert gpu.first_second == PLAN.cluster.first_second + 4
    assert gpu.values.shape == (4, len(gpu.metrics), 70)
    for at in (0, 40, 69):
        second = cluster.second(4 + at)
        assert gpu.values[:, gpu.metrics.index("gpu_power_watts"), at] == pytest.approx(
            second.gpu["gpu_power_watts"].ravel(), rel=1e-6
        )
        seen = rank.observed[:, rank.metrics.index("step_seconds"), at]
        assert seen.all() == ("step_seconds" in second.rank)


def test_rows_are_named_as_everywhere_else() -> None:
    windows = live(PLAN).windows
    assert [row.index for row in windows[Entity.NODE].rows] == [None, None]
    names = [(row.node, row.index) for row in windows[Entity.RANK].rows]
    assert names == [("node-0001", 0), ("node-0001", 1), ("node-0002", 2), ("node-0002", 3)]
    assert [row.index for row in windows[Entity.GPU].rows] == [0, 1, 0, 1]


def test_ranks_report_what_they_are_said_to_report() -> None:
    cluster = SyntheticCluster(configured(2, 2))
    reported = {metric for second in cluster.seconds(0, 12) for metric in second.rank}
    assert reported == set(RANK_METRICS)
    assert live(PLAN).windows[Entity.RANK].values.dtype == np.float64


def test_what_is_not_observed_is_nan() -> None:
    lossy = replace(PLAN.cluster, observation=Observation(lost_scrapes_per_node_day=9000.0))
    for window in live(planned(lossy)).windows.values():
        assert np.array_equal(window.observed, ~np.isnan(window.values))
    assert not live(planned(lossy)).windows[Entity.NODE].observed.all()


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_what_is_missing_is_metrics_or_samples(seed: int) -> None:
    whole, holed = live(PLAN), live(planned(replace(PLAN.cluster, seed=seed), missing=0.25))
    window, rest = whole.windows[Entity.GPU], holed.windows[Entity.GPU]
    lost_metrics = 1.0 - len(rest.metrics) / len(window.metrics)
    lost_samples = 1.0 - rest.observed[:, rest.metrics.index(rest.metrics[0])].mean()
    assert min(lost_metrics, lost_samples) < 0.02
    assert 0.1 < max(lost_metrics, lost_samples) < 0.4
    assert rest.values.flags.c_contiguous


def test_a_wrong_clock_moves_a_node_s_rows_in_time() -> None:
    wrong = replace(Observation.perfect(), wrong_clock_nodes=1, wrong_clock_seconds=3.0)
    right = live(PLAN).windows[Entity.NODE]
    moved = live(planned(replace(PLAN.cluster, observation=wrong))).windows[Entity.NODE]
    metric = right.metrics.index("load_average")
    (node,) = np.flatnonzero((~moved.observed[:, metric]).any(axis=1))
    is_late = not moved.observed[node, metric, 0]
    there = moved.values[node, metric]
    before, after = (there[3:], right.values[node, metric, :-3]) if is_late else (
        there[:-3], right.values[node, metric, 3:]
    )  # fmt: skip
    assert np.array_equal(before, after)


def test_events_are_in_the_order_of_their_times() -> None:
    busy = replace(QUICK, checkpoint_every_seconds=9.0, checkpoint_seconds=2.0)
    events = live(planned(replace(PLAN.cluster, work=busy))).events
    times = [event.timestamp for event in events]
    assert len(times) > 4
    assert times == sorted(times)
