"""Small histories made of arrays, for tests of what compares machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.detection import Alarm
from paramedic.models.history import JobHistory
from paramedic.models.rivals.machine_level import MachineLevel

JOB = JobName("llama-7b")
FIRST = 1_780_000_320
"""A multiple of 480: Minder's calls are at round times."""
_OF_SCIKIT_LEARN = ("isolation_forest", "local_outlier_factor")


def names(number: int) -> tuple[NodeName, ...]:
    return tuple(NodeName(f"node-{at:02d}") for at in range(number))


def window(entity: Entity, rows: tuple[EntityKey, ...], **metrics: NDArray[np.float64]) -> Window:
    """Of (rows, slots) a metric; NaN is not observed."""
    values = np.stack(list(metrics.values()), axis=1).astype(np.float32)
    return Window(JOB, 0, entity, FIRST, rows, tuple(metrics), values, ~np.isnan(values))


def history(gpus: int = 1, **metrics: NDArray[np.float64]) -> JobHistory:
    """Of (nodes, slots) a metric; those of GPUs are the same on all GPUs of a node."""
    nodes = names(len(next(iter(metrics.values()))))
    of_gpus = {k: np.repeat(v, gpus, axis=0) for k, v in metrics.items() if k.startswith("gpu_")}
    of_nodes = {k: v for k, v in metrics.items() if k not in of_gpus}
    windows = {}
    if of_nodes:
        rows = tuple(EntityKey(Entity.NODE, node) for node in nodes)
        windows[Entity.NODE] = window(Entity.NODE, rows, **of_nodes)
    if of_gpus:
        rows = tuple(EntityKey(Entity.GPU, node, gpu) for node in nodes for gpu in range(gpus))
        windows[Entity.GPU] = window(Entity.GPU, rows, **of_gpus)
    return JobHistory(JOB, windows)


def level(**metrics: NDArray[np.float64]) -> MachineLevel:
    """Of (slots, nodes) a metric."""
    values = np.stack(list(metrics.values()), axis=-1)
    seconds = range(FIRST, FIRST + len(values))
    return MachineLevel(JOB, seconds, names(values.shape[1]), tuple(metrics), values)


def noise(slots: int, nodes: int, seed: int = 0, middle: float = 0.5) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(middle, 0.02 * middle, (slots, nodes))


def named(alarms: Sequence[Alarm]) -> list[tuple[int, tuple[str, ...]]]:
    """When after the beginning, and who."""
    return [(one.second - FIRST, one.nodes) for one in alarms]


def for_each(names_of_floors: Iterable[str]) -> pytest.MarkDecorator:
    """The test for each floor; those that take seconds to import are long."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=[pytest.mark.long] if name in _OF_SCIKIT_LEARN else [])
            for name in names_of_floors
        ],
    )
