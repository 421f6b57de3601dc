"""What all floors are: a score a machine and step, and a plain decision on top.

    history ──machine level──▶ steps ──scorer──▶ scores ──above the threshold, held──▶ alarms

Of the machines that have been above the threshold for long enough, the one with the largest score
is accused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from paramedic.models.rivals.machine_level import machine_level
from paramedic.models.telling import QUIET_SECONDS, told_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.models.detection import Alarm
    from paramedic.models.history import JobHistory
    from paramedic.models.rivals.machine_level import MachineLevel


class Scorer(Protocol):
    """Says how odd each machine is at each step, looking at nothing that comes later."""

    def learn(self, levels: Iterable[MachineLevel]) -> None:
        """Take what is needed from unlabelled histories."""
        ...

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """(steps, nodes); more is odder, NaN where nothing can be said."""
        ...


class NothingToLearn:
    """A scorer that is the same before and after training."""

    def learn(self, levels: Iterable[MachineLevel]) -> None:
        """Leaves the histories alone."""


@dataclass(frozen=True, slots=True)
class HeldScores:
    """The scores of one history (an Examination)."""

    seconds: range
    nodes: tuple[NodeName, ...]
    scores: NDArray[np.float64]
    """(steps, nodes)."""
    hold_steps: int

    def alarms(self, threshold: float) -> Sequence[Alarm]:
        """Who has been above the threshold for long enough, one machine at a time."""
        return told_once(self._accusations(threshold), max(QUIET_SECONDS, self.seconds.step))

    def _accusations(self, threshold: float) -> Iterator[tuple[int, NodeName, float]]:
        held = steps_in_a_row(self.scores > threshold) >= self.hold_steps
        standing = np.where(held, self.scores, -np.inf)
        for step in np.flatnonzero(held.any(axis=1)):
            node = int(standing[step].argmax())
            yield self.seconds[int(step)], self.nodes[node], float(standing[step, node])


def steps_in_a_row(holds: NDArray[np.bool_]) -> NDArray[np.intp]:
    """For each step (first axis) how many steps up to it hold without a break.

    >>> steps_in_a_row(np.array([True, True, False, True])).tolist()
    [1, 2, 0, 1]
    """
    number = np.arange(1, len(holds) + 1).reshape(-1, *(1,) * (holds.ndim - 1))
    return number - np.maximum.accumulate(np.where(holds, 0, number), axis=0)


@dataclass(slots=True)
class Floor:
    """A scorer with the plain decision (a FaultyMachineDetector)."""

    name: str
    scorer: Scorer
    thresholds: Sequence[float]
    step_seconds: int = 1
    """The scorer sees means over so long."""
    hold_seconds: int = 1
    """So long a machine has to be above the threshold."""

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Learn from unlabelled histories."""
        self.scorer.learn(self._level(history) for history in histories)

    def examine(self, history: JobHistory) -> HeldScores:
        """The scores of the whole history."""
        level = self._level(history)
        hold_steps = max(1, math.ceil(self.hold_seconds / level.seconds.step))
        return HeldScores(level.seconds, level.nodes, self.scorer.score(level), hold_steps)

    def _level(self, history: JobHistory) -> MachineLevel:
        return machine_level(history).in_steps(self.step_seconds)
