"""Small clusters for tests, and influences that press on any cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Shape, Work
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.reading import Second

WARM = 12
"""By then a small cluster trains at its usual pace."""
QUICK = Work(compute_seconds=0.7, warm_up_steps=1, starting_seconds=1.5)


@dataclass(frozen=True)
class Pressing:
    """Has an effect from one second on, and until another."""

    effect: Callable[[Causes], None]
    first: int = WARM
    end: int = 10**9

    def press(self, causes: Causes, second: int) -> None:
        if self.first <= second < self.end:
            self.effect(causes)


def configured(
    nodes: int = 4, gpus: int = 4, stages: int = 1, experts: int = 1, work: Work = QUICK,
    faults: Sequence[FaultPlan] = (),
) -> ClusterConfig:  # fmt: skip
    shape = Shape(nodes, gpus, pipeline_stages=stages, expert_groups=experts, nodes_per_switch=2)
    return ClusterConfig(shape=shape, work=work, faults=tuple(faults)).undisturbed()


def pressed(
    effect: Callable[[Causes], None], config: ClusterConfig | None = None, first: int = WARM
) -> SyntheticCluster:
    wanted = configured() if config is None else config
    return SyntheticCluster(wanted, (Pressing(effect, first),))


def never_pausing(work: Work = QUICK) -> Work:
    return replace(work, checkpoint_every_seconds=1e9, evaluation_every_seconds=1e9)


@cache
def past(cluster: SyntheticCluster) -> Sequence[Second]:
    """Its first seconds, lived once for all who look at them."""
    return tuple(cluster.seconds(0, WARM + 12))


def gpu_mean(cluster: SyntheticCluster, metric: str, first: int, number: int = 8) -> Floats:
    """The mean of each GPU over some seconds."""
    mean: Floats = np.mean([s.gpu[metric] for s in past(cluster)[first : first + number]], axis=0)
    return mean


def node_mean(cluster: SyntheticCluster, metric: str, first: int, number: int = 8) -> Floats:
    mean: Floats = np.mean([s.node[metric] for s in past(cluster)[first : first + number]], axis=0)
    return mean


def rank_mean(cluster: SyntheticCluster, metric: str, first: int, number: int = 8) -> Floats:
    """Over the seconds in which a step ended."""
    seconds = past(cluster)[first : first + number]
    mean: Floats = np.mean([s.rank[metric] for s in seconds if metric in s.rank], axis=0)
    return mean
