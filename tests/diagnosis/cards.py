"""Windows of a job's GPUs, slot by slot, as the watches of machines are shown them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window

START = 1_790_000_000
NODES = 4
GPUS = 4
JOB = JobName("job")
ROWS = tuple(
    EntityKey(Entity.GPU, NodeName(f"n{node}"), gpu) for node in range(NODES) for gpu in range(GPUS)
)


def key(node: int, gpu: int) -> EntityKey:
    return ROWS[node * GPUS + gpu]


def slot(
    second: int,
    levels: Mapping[str, float],
    *,
    missing: Collection[EntityKey] = (),
    other: Mapping[EntityKey, Mapping[str, float]] | None = None,
    width: int = 1,
) -> Window:
    """One slot: everybody shows these levels, but for those that are missing or show others."""
    metrics = tuple(levels)
    values = np.array(
        [[{**levels, **(other or {}).get(row, {})}[m] for m in metrics] for row in ROWS], np.float32
    )[:, :, None]
    there = np.array([row not in missing for row in ROWS])[:, None, None]
    observed = np.broadcast_to(there, values.shape)
    values = np.where(observed, values, np.nan)
    return Window(
        JOB, 0, Entity.GPU, START + second, ROWS, metrics, values, observed, slot_seconds=width
    )
