"""Plays the job step by step: every rank goes through its phases and waits for the slowest.

Nothing is laid down about who waits: it comes out of the order of the collectives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from benchmarks.other_physics.influences import Conditions, Knob, Push
from benchmarks.other_physics.job import Floats, Indices, Job, Layout
from benchmarks.other_physics.machines import Machines, Warmth, throttled
from benchmarks.other_physics.seconds import Doing, SecondBins

_HIDDEN_SHARE = 0.9
"""Of a step, in which the host can prepare the data of the next one."""
_PCIE_OVER_NIC = 2.0
"""A bus can be so many times slower before it holds up the network card behind it."""
_FASHION_SPREAD = 0.025
"""How far experts are in and out of fashion, and for how long."""
_FASHION_MICRO_BATCHES = 60.0
_FALLBACK_COST = 2.0
"""Work that leaves the tensor cores takes so many times longer."""
_CLOCK_SENSITIVITY = 0.9
"""The rest of computing waits for memory."""


class PauseKind(StrEnum):
    """What all ranks do between two steps."""

    START = "start"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    DATA_STALL = "data_stall"
    RESIZE = "resize"


@dataclass(frozen=True, slots=True)
class Pause:
    """Begins with the first step that would begin after `at`."""

    at: float
    seconds: float
    kind: PauseKind


@dataclass(frozen=True, slots=True)
class Halt:
    """The job stands from a moment on."""

    at: float
    released: float
    """When the watchdog gives up and the processes leave."""
    stopped: Indices
    """Ranks that do nothing any more; the others wait in their collective."""


@dataclass(slots=True)
class StepLog:
    """Per finished step: when each rank ended it, and what it spent on what (seconds)."""

    ended: list[Floats]
    computing: list[Floats]
    in_collectives: list[Floats]
    loading: list[Floats]


@dataclass(frozen=True, slots=True)
class Played:
    """A job that has been played."""

    totals: Floats
    """Per thing done, second and rank."""
    log: StepLog
    paused: tuple[tuple[float, float, PauseKind], ...]
    """When pauses really were."""


class Stage:
    """One job on its way through the steps."""

    def __init__(
        self,
        job: Job,
        machines: Machines,
        pushes: Sequence[Push],
        dice: np.random.Generator,
        seconds: int,
    ) -> None:
        self._job = job
        self._machines = machines
        self._dice = dice
        self._conditions = Conditions(pushes, job.ranks)
        self._bins = SecondBins(seconds, job.ranks)
        self._now = np.zeros(job.ranks)
        self._ranks = np.arange(job.ranks).reshape(job.shape)
        self._all = self._ranks.ravel()
        watts = job.card.idle_watts + 0.75 * (job.card.limit_watts - job.card.idle_watts)
        self._watts = watts * machines.power
        self._warmth = Warmth(machines, job.gpus, self._watts)
        self._warmed = 0.0
        self._clock = np.ones(job.ranks)
        self._last_step_seconds = job.step_seconds
        self._fashion = np.zeros((job.shape[0], job.shape[1], 1))
        self._spent = {doing: np.zeros(job.ranks) for doing in Doing}
        self._log = StepLog([], [], [], [])
        self._paused: list[tuple[float, float, PauseKind]] = []

    def play(self, pauses: Sequence[Pause], halt: Halt | None) -> Played:
        """From the start to the halt or the end of the recording."""
        stop = float(self._bins.seconds) if halt is None else halt.at
        waiting = sorted(pauses, key=lambda one: one.at)
        while (front := float(self._now.max())) < stop:
            if waiting and waiting[0].at <= front:
                self._pause(waiting.pop(0))
            else:
                self._step(stop)
        if halt is not None:
            self._stand(halt)
        totals = self._bins.totals()
        if halt is not None:
            _silence(totals, halt)
        return Played(totals, self._log, tuple(self._paused))

    def _pause(self, pause: Pause) -> None:
        begin = float(self._now.max())
        end = begin + pause.seconds
        self._wait_until(self._all, np.full(len(self._all), begin))
        if pause.kind is PauseKind.EVALUATION:
            seconds = np.full(len(self._all), 0.93 * pause.seconds)
            self._spend(Doing.COMPUTE, self._all, seconds, {Doing.WORK: np.full(len(seconds), 0.7)})
        elif pause.kind is PauseKind.DATA_STALL:
            self._spend(Doing.LOAD, self._all, np.full(len(self._all), pause.seconds))
        self._now[:] = end
        self._paused.append((begin, end, pause.kind))

    def _step(self, stop: float) -> None:
        begun = float(self._now.max())
        for spent in self._spent.values():
            spent[:] = 0.0
        self._load(self._knobs())
        for _ in range(self._job.micro_batches):
            if float(self._now.max()) >= stop:
                return
            self._micro_batch(self._knobs())
        self._come_back()
        self._reduce(self._knobs())
        self._optimize(self._knobs())
        self._last_step_seconds = float(self._now.max()) - begun
        self._write_log()

    def _knobs(self) -> dict[Knob, Floats]:
        """The conditions now; cards warm up on the way, and slow down where they are too warm."""
        front = float(self._now.max())
        knobs = self._conditions.at(front)
        watts = self._watts * (self._clock * knobs[Knob.CLOCK]) ** 1.3
        celsius = self._warmth.pass_time(front - self._warmed, watts, knobs[Knob.HEAT])
        self._warmed = front
        self._clock = throttled(celsius)
        return knobs

    def _pace(self, knobs: dict[Knob, Floats]) -> Floats:
        clock = self._clock * knobs[Knob.CLOCK] * self._machines.boost
        return clock**_CLOCK_SENSITIVITY * knobs[Knob.SPEED] * self._machines.speed

    def _load(self, knobs: dict[Knob, Floats]) -> None:
        job = self._job
        ranks = self._ranks[0].ravel()
        spread = np.exp(self._dice.normal(0.0, 0.1, len(ranks)))
        needed = job.load_share * job.step_seconds * spread / knobs[Knob.LOAD][ranks]
        visible = np.maximum(needed - _HIDDEN_SHARE * self._last_step_seconds, 0.0)
        self._spend(Doing.LOAD, ranks, visible)
        copying = job.transfer_share * job.step_seconds
        seconds = copying / knobs[Knob.PCIE]
        self._spend(Doing.LOAD, self._all, seconds, {Doing.COPIED: knobs[Knob.PCIE]})

    def _micro_batch(self, knobs: dict[Knob, Floats]) -> None:
        job = self._job
        nominal = job.compute_share * job.step_seconds / job.micro_batches
        effort = nominal * self._spread()
        pace = self._pace(knobs)
        fallback = 1.0 + (1.0 - knobs[Knob.TENSOR]) * (_FALLBACK_COST - 1.0)
        for stage, block in enumerate(self._ranks):
            ranks = block.ravel()
            if stage > 0:
                self._await_upstream(self._ranks[stage - 1], block)
            self._now[ranks] += knobs[Knob.STALL][ranks] * nominal
            work = effort[ranks] * job.stage_work[stage]
            seconds = work * fallback[ranks] / pace[ranks]
            tensor = knobs[Knob.TENSOR][ranks]
            amounts = {Doing.WORK: work * tensor / seconds}
            if (tensor < 1.0).any():
                amounts[Doing.FELL_BACK] = work * (1.0 - tensor) / seconds
            self._spend(Doing.COMPUTE, ranks, seconds, amounts)
            if block.shape[1] > 1:
                self._share(block, knobs)

    def _spread(self) -> Floats:
        """How much work each rank has of this micro-batch; those that share a layer share it."""
        stages, copies, shared = self._job.shape
        rough = self._dice.normal(0.0, self._job.jitter, (stages, copies, 1))
        if self._job.layout is Layout.EXPERT:
            kept = np.exp(-1.0 / _FASHION_MICRO_BATCHES)
            change = self._dice.normal(0.0, _FASHION_SPREAD * np.sqrt(1.0 - kept**2), rough.shape)
            self._fashion = kept * self._fashion + change
            rough = rough + self._fashion
        fine = self._dice.standard_t(5, (stages, copies, shared)) * 0.003
        return np.exp(rough + fine).ravel()

    def _await_upstream(self, upstream: Indices, block: Indices) -> None:
        sent = self._now[upstream].max(axis=1, keepdims=True)
        self._wait_until(block.ravel(), np.broadcast_to(sent, block.shape).ravel())

    def _share(self, block: Indices, knobs: dict[Knob, Floats]) -> None:
        ranks, width = block.ravel(), block.shape[1]
        self._wait_until(ranks, np.repeat(self._now[block].max(axis=1), width))
        nominal = self._job.tensor_share * self._job.step_seconds / self._job.micro_batches
        link = np.repeat(knobs[Knob.NVLINK][block].min(axis=1), width)
        self._spend(Doing.SHARE, ranks, nominal / link, {Doing.SHARED: link})

    def _come_back(self) -> None:
        """The gradients come back through the stages, the last one first."""
        for stage in range(self._job.stages - 2, -1, -1):
            self._await_upstream(self._ranks[stage + 1], self._ranks[stage])

    def _reduce(self, knobs: dict[Knob, Floats]) -> None:
        nominal = self._job.data_share * self._job.step_seconds
        links = np.minimum(knobs[Knob.NIC], np.minimum(_PCIE_OVER_NIC * knobs[Knob.PCIE], 1.0))
        for block in self._ranks:
            ranks = block.ravel()
            self._wait_until(ranks, np.full(len(ranks), self._now[ranks].max()))
            link = links[ranks]
            if self._job.is_ring:
                link = np.full(len(ranks), link.min())
            self._spend(Doing.REDUCE, ranks, nominal / link, {Doing.REDUCED: link})
            self._wait_until(ranks, np.full(len(ranks), self._now[ranks].max()))
        self._wait_until(self._all, np.full(len(self._all), self._now.max()))

    def _optimize(self, knobs: dict[Knob, Floats]) -> None:
        seconds = self._job.optimizer_share * self._job.step_seconds / self._pace(knobs)
        self._spend(Doing.OPTIMIZE, self._all, seconds)

    def _spend(
        self,
        doing: Doing,
        ranks: Indices,
        seconds: Floats,
        amounts: Mapping[Doing, Floats] | None = None,
    ) -> None:
        begin = self._now[ranks]
        end = begin + seconds
        self._bins.add(doing, ranks, begin, end)
        for amount, rate in (amounts or {}).items():
            self._bins.add(amount, ranks, begin, end, rate)
        self._now[ranks] = end
        self._spent[doing][ranks] += seconds

    def _wait_until(self, ranks: Indices, moment: Floats) -> None:
        self._spend(Doing.WAIT, ranks, np.maximum(moment - self._now[ranks], 0.0))

    def _write_log(self) -> None:
        spent, log = self._spent, self._log
        log.ended.append(self._now.copy())
        log.computing.append(spent[Doing.COMPUTE] + spent[Doing.OPTIMIZE])
        log.in_collectives.append(spent[Doing.WAIT] + spent[Doing.SHARE] + spent[Doing.REDUCE])
        log.loading.append(spent[Doing.LOAD].copy())

    def _stand(self, halt: Halt) -> None:
        self._wait_until(self._all, np.full(len(self._all), halt.released))


def _silence(totals: Floats, halt: Halt) -> None:
    """What stopped ranks would have done after the halt, they did not."""
    whole = int(halt.at)
    if whole < totals.shape[1]:
        totals[:, whole, halt.stopped] *= halt.at - whole
        totals[:, whole + 1 :, halt.stopped] = 0.0
