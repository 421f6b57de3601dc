"""What of a rank's step its trainer has no name for: neither waiting, nor loading, nor computing.

Some trainers time kernels alone. A rank whose launches stall, whose interpreter collects garbage or
whose host hesitates computes for no longer than its peers, and all others wait for it: what of its
step nobody accounts for has grown. In a pipeline it grows as well for whoever waits for the next
stage, so it speaks against a machine only where no other shows half as much, and where none takes
half as much longer for work that has a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.materiality import LEAST_SHARE
from paramedic.diagnosis.recent import newest_slot
from paramedic.diagnosis.symptoms import (
    LOADING_METRIC,
    STEP_METRIC,
    UNACCOUNTED_METRIC,
    WAITING_METRIC,
    WORKING_METRIC,
)
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, NodeName, Window

    Line = NDArray[np.float64]

_FEWEST_STEPS = 5
"""So many say what is usual with a rank."""
_MEMORY_STEPS = 30
_ABOUT_AS_MUCH = 0.5
_NEEDED = (STEP_METRIC, WAITING_METRIC, WORKING_METRIC)
_ONE = ("step",)


class _Usual(IntEnum):
    STEPS = 0
    """How many have been seen."""
    UNNAMED = 1
    NAMED = 2


@dataclass(slots=True)
class Unaccounted:
    """What is usual with each rank of one job."""

    _usual: CellMemory = field(default_factory=lambda: CellMemory(len(_Usual)))

    def beside(
        self, steps: Window, telling: NDArray[np.bool_], accused: Collection[NodeName]
    ) -> Window:
        """The steps with how much more than usual is unaccounted for in the newest slot; unchanged
        where ranks do not tell enough of it.

        In all slots before it is zero, so that nothing of it is ever taken for steady. Of who is
        accused nothing is learned.
        """
        if not set(_NEEDED) <= set(steps.metrics):
            return steps
        self._usual.arrange(steps.rows, _ONE)
        step, waiting, working = (_newest(steps, metric) for metric in _NEEDED)
        loading = np.nan_to_num(_newest(steps, LOADING_METRIC))
        unnamed, named = np.maximum(step - waiting - working - loading, 0.0), working + loading
        is_known = telling & ~np.isnan(unnamed)
        more = self._more_than_usual(unnamed, named, step, steps.rows)
        is_kept = more > 0
        if accused:
            is_kept |= np.array([row.node in accused for row in steps.rows])
        self._learn(unnamed, named, is_known & ~is_kept)
        return _with_column(steps, np.where(is_known, more, 0.0))

    def _more_than_usual(
        self, unnamed: Line, named: Line, step: Line, rows: tuple[EntityKey, ...]
    ) -> Line:
        """Of the one machine that shows it, by rank; zero of all others."""
        is_met = self._usual.line(_Usual.STEPS) >= _FEWEST_STEPS
        more = np.where(is_met, unnamed - self._usual.line(_Usual.UNNAMED), 0.0)
        more_named = np.where(is_met, named - self._usual.line(_Usual.NAMED), 0.0)
        more, more_named = (np.nan_to_num(one) for one in (more, more_named))
        largest = float(more.max(initial=0.0))
        if not largest > LEAST_SHARE * float(np.nan_to_num(step)[more.argmax()]):
            return np.zeros_like(more)
        node = rows[int(more.argmax())].node
        is_other = np.array([row.node != node for row in rows])
        rival = max(float(one[is_other].max(initial=0.0)) for one in (more, more_named))
        if rival >= _ABOUT_AS_MUCH * largest:
            return np.zeros_like(more)
        return np.where(is_other | (more < _ABOUT_AS_MUCH * largest), 0.0, more)

    def _learn(self, unnamed: Line, named: Line, which: NDArray[np.bool_]) -> None:
        seen = self._usual.line(_Usual.STEPS)
        seen += which
        weight = which / np.clip(seen, 1.0, _MEMORY_STEPS)
        for usual, now in ((_Usual.UNNAMED, unnamed), (_Usual.NAMED, named)):
            line = self._usual.line(usual)
            line += weight * np.where(which, now - line, 0.0)


def _newest(steps: Window, metric: str) -> Line:
    """By row; NaN where it is not told."""
    if metric not in steps.metrics:
        return np.full(len(steps.rows), np.nan)
    told: Line = newest_slot(steps, [steps.metrics.index(metric)])[0]
    return told


def _with_column(steps: Window, newest: Line) -> Window:
    told = steps.observed.T[:, steps.metrics.index(STEP_METRIC)]
    column = np.zeros(told.shape, steps.values.dtype)
    column[-1] = newest
    # As they lie in memory: slot, metric, row.
    values = np.concatenate((steps.values.T, column[:, None]), axis=1)
    observed = np.concatenate((steps.observed.T, told[:, None]), axis=1)
    metrics = (*steps.metrics, UNACCOUNTED_METRIC)
    return replace(steps, metrics=metrics, values=values.T, observed=observed.T)
