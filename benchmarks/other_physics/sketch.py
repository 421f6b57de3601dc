"""Draws one fault onto the machines it hits: short words for pushes and marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from benchmarks.other_physics.influences import (
    Course,
    Happening,
    Influence,
    Knob,
    Mark,
    Mode,
    Push,
)
from benchmarks.other_physics.job import Indices, Job

GPU_ROWS, NODE_ROWS, RANK_ROWS = "gpu rows", "node rows", "rank rows"
"""Names for marks that take whole rows away."""


@dataclass(slots=True)
class Sketch:
    """One fault in the making. Times are seconds since the start."""

    job: Job
    dice: np.random.Generator
    nodes: Sequence[int]
    onset: float
    end: float
    """When it is over, or the recording is."""
    halt: float | None
    """When the job stands because of it."""
    gpu: int | None = None
    """The card that is hit; None: the whole node."""
    influence: Influence = field(default_factory=Influence)
    sizes: list[str] = field(default_factory=list)

    @property
    def ranks(self) -> Indices:
        """All GPUs that are hit."""
        if self.gpu is not None:
            return np.array([self.nodes[0] * self.job.gpus + self.gpu])
        return np.concatenate([self.job.ranks_of(node) for node in self.nodes])

    @property
    def stops_at(self) -> float:
        """When what it does to the speed of the job no longer matters."""
        return self.end if self.halt is None else self.halt

    def between(self, low: float, high: float, named: str = "") -> float:
        """Some number; with a name it is told as the fault's size."""
        value = float(self.dice.uniform(low, high))
        if named:
            self.sizes.append(f"{named} {value:.3g}")
        return value

    def one_card(self) -> None:
        """It hits one of the node's GPUs."""
        self.gpu = int(self.dice.integers(self.job.gpus))

    def perhaps_one_card(self, likely: float = 0.6) -> None:
        """It hits one GPU or all of them."""
        if self.dice.random() < likely:
            self.one_card()

    def push(
        self, knob: Knob, size: float, ramp: float = 0.0, period: float = 0.0, duty: float = 1.0
    ) -> None:
        """Change the physics while the fault lasts."""
        course = Course(self.onset, self.stops_at, ramp, period, duty)
        self.influence.pushes.append(Push(knob, self.ranks, size, course))

    def mark(
        self,
        metric: str,
        mode: Mode,
        size: float,
        ramp: float = 0.0,
        period: float = 0.0,
        duty: float = 1.0,
    ) -> None:
        """Change a counter while the fault lasts."""
        course = Course(self.onset, self.end, ramp, period, duty)
        self.influence.marks.append(Mark(metric, self._rows(metric), mode, size, course))

    def afterwards(self, metric: str, mode: Mode, size: float = 0.0) -> None:
        """Change a counter from the halt on; nothing where the job goes on."""
        if self.halt is not None:
            course = Course(self.halt, np.inf)
            self.influence.marks.append(Mark(metric, self._rows(metric), mode, size, course))

    def tell(self, kind: str, late: float = 0.0, **details: str | int) -> None:
        """Somebody writes it down when it breaks: at the halt, or else at the onset."""
        at = (self.onset if self.halt is None else self.halt) + late
        self.influence.happenings.append(Happening(at, kind, self.nodes[0], self.gpu, details))

    def xid(self, code: int) -> None:
        """The driver's code: in the counter, in the kernel log, in both or in none of them."""
        begin = self.onset if self.halt is None else self.halt
        mark = Mark("gpu_xid", self.ranks, Mode.SET, code, Course(begin, np.inf))
        if self.dice.random() < 0.6:
            self.influence.marks.append(mark)
        if self.dice.random() < 0.5:
            self.tell("xid", code=code)

    def _rows(self, metric: str) -> Indices:
        if metric.startswith(("gpu", "rank", "heartbeat")):
            return self.ranks
        return np.array(self.nodes)


def load_speed(job: Job, exposed: float) -> float:
    """The speed of preparing data at which so many steps' time of it are no longer hidden."""
    return job.load_share / (0.9 * (1.0 + exposed) + exposed)
