"""How healthy machines differ: drawn once, and the same for as long as the cluster exists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice, Stream


@dataclass(frozen=True, slots=True)
class Individuals:
    """First block (nodes, gpus), second (nodes,); factors around 1 where no unit is named."""

    work: Floats
    """Seconds of own work in a step, at the nominal clock: role and silicon."""
    power: Floats
    cooling: Floats
    air_celsius: Floats
    """Air at the card."""
    memory_bytes: Floats

    network: Floats
    host: Floats
    used_memory_ratio: Floats
    used_filesystem_ratio: Floats
    cron_phase_seconds: Floats
    uptime_seconds: Floats
    """When the job starts."""


def draw_individuals(config: ClusterConfig, layout: Layout, dice: Dice) -> Individuals:
    """The cluster's machines."""
    rng = dice.at(Stream.INDIVIDUALS, 0)
    differences, hardware, shape = config.differences, config.hardware, config.shape
    gpus, nodes = layout.rank.shape, shape.nodes
    air = rng.normal(0.0, differences.ambient_celsius, nodes)
    rear = (np.arange(shape.gpus) >= shape.gpus / 2) * hardware.row_celsius
    return Individuals(
        work=_work(config, layout) / _around_one(rng, differences.speed, gpus),
        power=_around_one(rng, differences.power, gpus),
        cooling=_around_one(rng, differences.cooling, gpus),
        air_celsius=hardware.ambient_celsius + air[:, None] + rear[None, :],
        memory_bytes=_memory(config, layout) * _around_one(rng, 0.002, gpus),
        network=_around_one(rng, differences.network, (nodes,)),
        host=_around_one(rng, differences.host, (nodes,)),
        used_memory_ratio=rng.uniform(0.18, 0.26, nodes),
        used_filesystem_ratio=rng.uniform(0.2, 0.6, nodes),
        cron_phase_seconds=rng.integers(0, 60, nodes).astype(float),
        uptime_seconds=86_400.0 * rng.integers(5, 60, nodes).astype(float),
    )


def _around_one(rng: np.random.Generator, deviation: float, shape: tuple[int, ...]) -> Floats:
    return 1.0 + deviation * np.clip(rng.standard_normal(shape), -3.0, 3.0)


def _work(config: ClusterConfig, layout: Layout) -> Floats:
    """The first stage embeds and the last one computes the loss, so stages differ."""
    work, shape = config.work, config.shape
    last = layout.stage / max(1, shape.stages - 1)
    expert = layout.expert_group / max(1, shape.expert_groups - 1)
    role = 1.0 + work.stage_imbalance * last**2 + work.expert_imbalance * (expert - 0.5)
    return work.compute_seconds * role


def _memory(config: ClusterConfig, layout: Layout) -> Floats:
    """Earlier stages keep the activations of more micro-batches."""
    early = 1.0 - layout.stage / max(1, config.shape.stages)
    wanted = config.work.memory_bytes * (0.93 + 0.12 * early)
    return np.minimum(wanted, 0.98 * config.hardware.memory_bytes)
