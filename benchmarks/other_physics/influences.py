"""What acts on the machines beside the job: faults and nuisances, as pushes and as marks.

A push changes the physics (how fast a card computes); everything else follows from the steps. A
mark changes a counter directly (ECC errors), because nothing in the step makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from benchmarks.other_physics.job import Floats, Indices


class Knob(StrEnum):
    """What a push changes. Factors multiply; `stall` and `heat` add."""

    SPEED = "speed"
    """Of computing, at the same clock."""
    CLOCK = "clock"
    TENSOR = "tensor"
    """Share of the work that the tensor cores do; the rest takes longer."""
    PCIE = "pcie"
    NVLINK = "nvlink"
    NIC = "nic"
    LOAD = "load"
    """Speed of preparing data."""
    STALL = "stall"
    """Seconds the GPU lies idle for each second of computing."""
    HEAT = "heat"
    """Share by which the way from chip to air is worse."""


ADDING = frozenset({Knob.STALL, Knob.HEAT})


@dataclass(frozen=True, slots=True)
class Course:
    """How strong something is over time, from 0 to 1. Seconds since the recording's start."""

    begin: float
    end: float
    ramp_seconds: float = 0.0
    period_seconds: float = 0.0
    """Above 0: it comes and goes."""
    duty: float = 1.0
    """Share of a period in which it is there."""

    def level(self, times: Floats) -> Floats:
        """The strength at these times."""
        since = times - self.begin
        level = ((since >= 0.0) & (times < self.end)).astype(np.float64)
        if self.ramp_seconds > 0.0:
            level *= np.clip(since / self.ramp_seconds, 0.0, 1.0)
        if self.period_seconds > 0.0:
            level *= (since % self.period_seconds) < self.duty * self.period_seconds
        return level


@dataclass(frozen=True, slots=True)
class Push:
    """A change of the physics of some ranks."""

    knob: Knob
    ranks: Indices
    size: float
    course: Course


class Mode(StrEnum):
    """How a mark changes a metric."""

    ADD = "add"
    SCALE = "scale"
    COUNT = "count"
    """Adds to a running total, so many a second."""
    SET = "set"
    ABSENT = "absent"
    HOLD = "hold"
    """The last value is told again and again."""
    RESET = "reset"
    """A running total starts again at zero."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A change of a metric where it is measured. Rows are ranks of a GPU metric, else nodes."""

    metric: str
    rows: Indices
    mode: Mode
    size: float
    course: Course


@dataclass(frozen=True, slots=True)
class Happening:
    """A discrete fact that somebody wrote down."""

    at: float
    kind: str
    node: int | None = None
    gpu: int | None = None
    details: dict[str, str | int] = field(default_factory=dict)


@dataclass(slots=True)
class Influence:
    """All that one cause does."""

    pushes: list[Push] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)


class Conditions:
    """The state of all knobs, rank by rank, at one moment of the job."""

    def __init__(self, pushes: Sequence[Push], ranks: int) -> None:
        self._pushes = pushes
        self._ranks = ranks
        self._calm = {
            knob: np.full(ranks, 0.0 if knob in ADDING else 1.0, np.float64) for knob in Knob
        }

    def at(self, moment: float) -> dict[Knob, Floats]:
        """Knobs that nobody turns are shared between moments: do not write into them."""
        now = np.array([moment])
        knobs = dict(self._calm)
        for push in self._pushes:
            level = float(push.course.level(now)[0])
            if level > 0.0:
                knobs[push.knob] = _turned(knobs[push.knob], push, level)
        return knobs

    def over(self, knob: Knob, times: Floats) -> Floats:
        """One knob at many moments: moments × ranks."""
        values = np.repeat(self._calm[knob][None], len(times), axis=0)
        for push in self._pushes:
            if push.knob is knob:
                level = push.course.level(times)[:, None]
                values[:, push.ranks] = _pushed(values[:, push.ranks], push, level)
        return values


def _turned(values: Floats, push: Push, level: float) -> Floats:
    turned = values.copy()
    turned[push.ranks] = _pushed(values[push.ranks], push, np.array(level))
    return turned


def _pushed(values: Floats, push: Push, level: Floats) -> Floats:
    if push.knob in ADDING:
        return values + push.size * level
    return values * (1.0 - (1.0 - push.size) * level)
