"""One second of the job: who computes, who waits, and which steps end in it.

A step is: everybody loads its data; replicas compute, each at the pace of its slowest member; all
gather for the gradient collective, which takes as long as the narrowest link needs; the optimizer
runs. Whoever is early waits, spinning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.pace import Pace
from paramedic.ingest.synthetic.phases import SPENT, Pause, Progress, Schedule


@dataclass(slots=True)
class Shares:
    """How much of the second each GPU spent on what; shape (nodes, gpus). They add up to one."""

    loading: Floats
    busy: Floats
    spinning: Floats
    """Waiting for others inside a communication kernel."""
    collective: Floats
    optimizer: Floats
    evaluating: Floats
    saving: Floats
    idle: Floats
    work: Floats
    """Steps' worth of own work that was done."""

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Shares:
        """Before the second begins."""
        return cls(*(np.zeros(shape) for _ in range(9)))


@dataclass(frozen=True, slots=True)
class EndedStep:
    """A step that ended in this second. Seconds; (nodes, gpus)."""

    step: int
    seconds: float
    loading: Floats
    busy: Floats
    collective: Floats
    """All waiting and communicating."""
    arriving: Floats
    """Waiting for the last to come to the gradient collective."""


@dataclass(frozen=True, slots=True)
class Lived:
    """A second that has been lived."""

    progress: Progress
    shares: Shares
    ended: tuple[EndedStep, ...]
    turns: tuple[Progress, ...]
    """Everything that began in this second, in order."""


def live(
    progress: Progress,
    second: int,
    pace: Pace,
    schedule: Schedule,
    slowest: Callable[[Floats], Floats],
) -> Lived:
    """Live from `second` to the next; `slowest` gives each rank the pace of its replica."""
    shares = Shares.none(pace.own_seconds.shape)
    at, until = float(second), float(second + 1)
    ended: list[EndedStep] = []
    turns: list[Progress] = []
    while at < until:
        one = _Stretch(progress, at, until, pace, schedule, slowest)
        progress, at, is_over = one.pass_into(shares)
        if is_over:
            if progress.pause is None:
                ended.append(_ended(progress, at))
            progress = schedule.after(progress, at)
            turns.append(progress)
    return Lived(progress, shares, tuple(ended), tuple(turns))


class _Stretch:
    """From a moment to the end of the step or pause under way, or of the second."""

    def __init__(
        self, progress: Progress, at: float, until: float, pace: Pace, schedule: Schedule,
        slowest: Callable[[Floats], Floats],
    ) -> None:  # fmt: skip
        self._progress = progress
        self._at = at
        self._until = until
        self._pace = pace
        self._schedule = schedule
        self._slowest = slowest

    def pass_into(self, shares: Shares) -> tuple[Progress, float, bool]:
        """Book the stretch; the progress after it, the moment it ends, and whether all is over."""
        if self._progress.pause is not None:
            return self._pause(self._progress.pause, shares)
        return self._step(shares)

    def _pause(self, pause: Pause, shares: Shares) -> tuple[Progress, float, bool]:
        slowdown = self._pace.pause_slowdown if pause is Pause.CHECKPOINT else 1.0
        whole = self._schedule.pause_seconds(pause) * slowdown
        end = self._at + self._progress.pause_left * whole
        stop = min(end, self._until)
        passed = stop - self._at
        target = {Pause.CHECKPOINT: shares.saving, Pause.EVALUATION: shares.evaluating}
        target.get(pause, shares.idle)[...] += passed
        left = max(0.0, self._progress.pause_left - passed / whole) if whole > 0 else 0.0
        return replace(self._progress, pause_left=left), stop, end <= self._until

    def _step(self, shares: Shares) -> tuple[Progress, float, bool]:
        before, pace = self._progress, self._pace
        own = pace.own_seconds * before.noise
        together = self._slowest(own) * pace.bubble
        loaded = self._at + before.loading_left * pace.loading_seconds
        start = self._slowest(loaded)
        computed = start + _times(before.computing_left, together)
        gathered = float(computed.max())
        reduced = gathered + before.collective_left * pace.collective_seconds
        end = reduced + before.optimizer_left * pace.optimizer_seconds
        stop = min(end, self._until)

        loading = np.clip(np.minimum(loaded, stop) - self._at, 0.0, None)
        queueing = np.clip(np.minimum(start, stop) - loaded, 0.0, None)
        computing = np.clip(np.minimum(computed, stop) - start, 0.0, None)
        arriving = np.clip(np.minimum(gathered, stop) - np.minimum(computed, stop), 0.0, None)
        collective = max(0.0, min(reduced, stop) - gathered)
        optimizer = max(0.0, stop - reduced)
        busy = computing * _share(own, together)
        waiting = queueing + computing - busy

        shares.loading += loading
        shares.busy += busy
        shares.spinning += waiting + arriving
        shares.collective += collective
        shares.optimizer += optimizer
        done = np.minimum(computing / together, before.computing_left)
        shares.work += done
        spent = before.spent + np.stack(
            (loading, busy + optimizer, waiting, arriving, np.full_like(busy, collective))
        )
        after = replace(
            before,
            loading_left=_left(before.loading_left, loading, pace.loading_seconds),
            computing_left=np.where(computed <= stop, 0.0, before.computing_left - done),
            collective_left=max(0.0, before.collective_left - collective / pace.collective_seconds),
            optimizer_left=_left_of(before.optimizer_left, optimizer, pace.optimizer_seconds),
            spent=spent,
        )
        return after, stop, end <= self._until


def _times(left: Floats, seconds: Floats) -> Floats:
    """The product, where nothing left of an endless thing is nothing."""
    product: Floats = np.multiply(left, seconds, out=np.zeros_like(left), where=left > 0.0)
    return product


def _share(own: Floats, together: Floats) -> Floats:
    """Own work's share of the computing; none where the own work never ends."""
    share: Floats = np.divide(own, together, out=np.zeros_like(own), where=np.isfinite(own))
    return share


def _left(left: Floats, passed: Floats, whole: Floats) -> Floats:
    share = np.divide(passed, whole, out=np.ones_like(left), where=whole > 0.0)
    return np.clip(left - share, 0.0, None)


def _left_of(left: float, passed: float, whole: float) -> float:
    return max(0.0, left - passed / whole) if whole > 0.0 else 0.0


def _ended(progress: Progress, now: float) -> EndedStep:
    spent = dict(zip(SPENT, progress.spent, strict=True))
    return EndedStep(
        step=progress.step,
        seconds=now - progress.started,
        loading=spent["loading"],
        busy=spent["busy"],
        collective=spent["waiting"] + spent["arriving"] + spent["collective"],
        arriving=spent["arriving"],
    )
