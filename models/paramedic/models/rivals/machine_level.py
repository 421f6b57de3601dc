"""A history at machine level: one number for each metric of each node and slot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity
from paramedic.models.grouping import Grouping

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import JobName, NodeName, Window
    from paramedic.models.history import JobHistory

_ENTITIES = (Entity.NODE, Entity.GPU)
"""What can be seen from outside of the training processes."""


@dataclass(frozen=True, slots=True)
class MachineLevel:
    """What was observed of each machine; NaN where nothing was."""

    job: JobName
    seconds: range
    """The last slot that each row of `values` needs, by its first second."""
    nodes: tuple[NodeName, ...]
    metrics: tuple[str, ...]
    values: NDArray[np.float64]
    """(slots, nodes, metrics); a GPU metric is the mean over the node's GPUs."""

    def select(self, metrics: Sequence[str]) -> NDArray[np.float64]:
        """(slots, nodes, metrics) of these metrics; NaN for those that were never observed."""
        known = {metric: at for at, metric in enumerate(self.metrics)}
        chosen = np.full((*self.values.shape[:2], len(metrics)), np.nan)
        for at, metric in enumerate(metrics):
            if metric in known:
                chosen[:, :, at] = self.values[:, :, known[metric]]
        return chosen

    def in_steps(self, step_seconds: int) -> MachineLevel:
        """Means over steps that do not overlap; a step that is not over yet is left out."""
        width = self.seconds.step
        slots = max(1, round(step_seconds / width))
        if slots == 1:
            return self
        whole = len(self.values) // slots
        parts = self.values[: whole * slots].reshape(whole, slots, *self.values.shape[1:])
        ends = self.seconds[slots - 1 :: slots][:whole]
        return replace(self, seconds=ends, values=mean_of_known(parts, axis=1))


def machine_level(history: JobHistory, metrics: Collection[str] | None = None) -> MachineLevel:
    """The history's node metrics beside its GPU metrics, or only those that are wanted."""
    nodes = history.nodes
    names: list[str] = []
    columns: list[NDArray[np.float64]] = []
    for entity in _ENTITIES:
        window = history.windows.get(entity)
        for at, metric in enumerate(window.metrics if window is not None else ()):
            if window is not None and (metrics is None or metric in metrics):
                names.append(metric)
                columns.append(_by_node(window, at, nodes))
    blank = np.empty((len(history.seconds), len(nodes), 0))
    values = np.stack(columns, axis=-1) if columns else blank
    return MachineLevel(history.job, history.seconds, nodes, tuple(names), values)


def mean_of_known(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The mean along an axis, NaN left out; NaN where nothing is known."""
    known = ~np.isnan(values)
    count = np.count_nonzero(known, axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _by_node(window: Window, metric: int, nodes: tuple[NodeName, ...]) -> NDArray[np.float64]:
    """One metric as (slots, nodes): the mean over the rows of each node."""
    place = {node: at for at, node in enumerate(nodes)}
    where = np.array([place[row.node] for row in window.rows], np.intp)
    values = window.values[:, metric].astype(np.float64)
    values[~(window.observed[:, metric] & np.isfinite(values))] = np.nan
    return Grouping.of(where, len(nodes)).means(values).T
