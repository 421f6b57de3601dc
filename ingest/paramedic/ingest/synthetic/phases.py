"""What the job is doing at a moment, and what comes after it: steps and pauses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

import numpy as np

from paramedic.ingest.contract import JobState
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.configuration import Work
from paramedic.ingest.synthetic.randomness import Dice, Stream

_WARM_UP_SLOWNESS = 1.6
_WARM_UP_STEPS_TO_HALF = 4.0


class Pause(StrEnum):
    """Why nobody trains."""

    STARTING = "starting"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    RECOVERING = "recovering"
    """All ranks have exited, and the job will be started again."""
    OVER = "over"
    """All ranks have exited for good."""

    @property
    def is_halt(self) -> bool:
        """Whether no rank has a process."""
        return self in (Pause.RECOVERING, Pause.OVER)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step or pause has come. What is left is counted in shares of the whole."""

    step: int
    """The step under way, or the one that comes after the pause."""
    pause: Pause | None
    checkpoints: int
    """How many have come due."""
    evaluations: int
    saved_step: int
    """The step that a restart begins with."""
    started: float
    """Seconds since the job's start."""
    noise: Floats
    """Factor on each rank's own work in this step."""
    loading_left: Floats
    computing_left: Floats
    collective_left: float
    optimizer_left: float
    pause_left: float
    spent: Floats
    """Seconds so far in this step, by `SPENT` in the first axis, then rank."""

    @property
    def job_state(self) -> JobState:
        """What the job would call this."""
        return _STATES[self.pause]


SPENT = ("loading", "busy", "waiting", "arriving", "collective")
"""`waiting` is everywhere in the step; `arriving` only before the gradient collective."""
_STATES = {
    None: JobState.TRAINING,
    Pause.STARTING: JobState.STARTING,
    Pause.CHECKPOINT: JobState.CHECKPOINTING,
    Pause.EVALUATION: JobState.EVALUATING,
    Pause.RECOVERING: JobState.RECOVERING,
    Pause.OVER: JobState.FINISHED,
}


class Schedule:
    """Decides what comes next; the same for every way of asking."""

    def __init__(self, work: Work, shape: tuple[int, int], dice: Dice) -> None:
        self._work = work
        self._shape = shape
        self._dice = dice

    def begin(self) -> Progress:
        """The job is being started."""
        nothing = np.zeros(self._shape)
        return Progress(
            step=0, pause=Pause.STARTING, checkpoints=0, evaluations=0, saved_step=0, started=0.0,
            noise=nothing + 1.0, loading_left=nothing, computing_left=nothing,
            collective_left=0.0, optimizer_left=0.0, pause_left=1.0,
            spent=np.zeros((len(SPENT), *self._shape)),
        )  # fmt: skip

    def after(self, done: Progress, now: float) -> Progress:
        """What begins now, where `done` has ended."""
        work = self._work
        if done.pause is Pause.CHECKPOINT:
            done = replace(done, saved_step=done.step)
        step = done.step + (done.pause is None)
        ready = done.pause is None and step > work.warm_up_steps
        checkpoints = int(now // work.checkpoint_every_seconds)
        evaluations = int(now // work.evaluation_every_seconds)
        if ready and checkpoints > done.checkpoints:
            made = replace(done, step=step, checkpoints=checkpoints)
            return self._pause(made, Pause.CHECKPOINT, now)
        if ready and evaluations > done.evaluations:
            made = replace(done, step=step, evaluations=evaluations)
            return self._pause(made, Pause.EVALUATION, now)
        return self._step(replace(done, step=step), now)

    def halted(self, before: Progress, why: Pause, now: float) -> Progress:
        """Every rank has exited, in the middle of whatever it did."""
        return self._pause(before, why, now)

    def restarted(self, before: Progress, now: float) -> Progress:
        """The job is started again, from its last checkpoint."""
        return self._pause(replace(before, step=before.saved_step), Pause.STARTING, now)

    def pause_seconds(self, pause: Pause) -> float:
        """How long it takes when nothing slows it."""
        work = self._work
        return {
            Pause.STARTING: work.starting_seconds,
            Pause.CHECKPOINT: work.checkpoint_seconds,
            Pause.EVALUATION: work.evaluation_seconds,
            Pause.RECOVERING: inf,
            Pause.OVER: inf,
        }[pause]

    def _pause(self, before: Progress, pause: Pause, now: float) -> Progress:
        return replace(before, pause=pause, started=now, pause_left=1.0)

    def _step(self, before: Progress, now: float) -> Progress:
        whole = np.ones(self._shape)
        return replace(
            before, pause=None, started=now, noise=self._noise(before.step),
            loading_left=whole, computing_left=whole, collective_left=1.0, optimizer_left=1.0,
            spent=np.zeros((len(SPENT), *self._shape)),
        )  # fmt: skip

    def _noise(self, step: int) -> Floats:
        """Work differs a little from step to step, for everybody and for each rank.

        The first steps compile, tune and allocate, each rank in its own time.
        """
        rng = self._dice.at(Stream.STEP, step)
        everybody = 1.0 + 0.5 * self._work.step_jitter * rng.standard_normal()
        each: Floats = np.abs(1.0 + self._work.step_jitter * rng.standard_normal(self._shape))
        if step >= self._work.warm_up_steps:
            return each * everybody
        cold: float = _WARM_UP_SLOWNESS * 0.5 ** (step / _WARM_UP_STEPS_TO_HALF)
        return each * everybody * (1.0 + cold * rng.uniform(0.7, 1.3, self._shape))
