"""Small made-up jobs: rows that share a level and have noise of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.ingest.recordings.description import JobDescription, NodeRoles
from paramedic.models.history import JobHistory

JOB = JobName("llama-7b")
FIRST = 1_780_000_000
METRICS = ("gpu_power_watts", "gpu_tensor_active_ratio")
LEVELS = np.array([500.0, 0.4])


def nodes_named(number: int) -> tuple[NodeName, ...]:
    return tuple(NodeName(f"node-{at:04d}") for at in range(1, number + 1))


def gpu_values(nodes: int, slots: int, seed: int = 0, gpus: int = 2) -> NDArray[np.float64]:
    """(rows, metrics, slots): 2 % of noise, 1 % of steady differences, one common wave."""
    dice = np.random.default_rng(seed)
    shape = (nodes * gpus, len(METRICS), slots)
    wave = 1 + 0.1 * np.sin(np.arange(slots) / 7)
    own = 1 + 0.01 * dice.standard_normal((*shape[:2], 1))
    return LEVELS[:, None] * wave * own * (1 + 0.02 * dice.standard_normal(shape))


def window_of(
    values: NDArray[np.float64], gpus: int = 2, metrics: Sequence[str] = METRICS
) -> Window:
    """A window of GPUs, node by node; NaN: not observed."""
    nodes = nodes_named(len(values) // gpus)
    rows = tuple(EntityKey(Entity.GPU, node, gpu) for node in nodes for gpu in range(gpus))
    observed = ~np.isnan(values)
    return Window(
        JOB, 0, Entity.GPU, FIRST, rows, tuple(metrics), values.astype(np.float32), observed
    )


def history_of(values: NDArray[np.float64], stages: int = 1) -> JobHistory:
    """A history of GPUs whose nodes are spread over pipeline stages in blocks."""
    window = window_of(values)
    nodes = tuple(dict.fromkeys(row.node for row in window.rows))
    roles = [NodeRoles(node, 2, at * stages // len(nodes)) for at, node in enumerate(nodes)]
    return JobHistory(JOB, {Entity.GPU: window}, JobDescription(JOB, 1.0, tuple(roles)))
