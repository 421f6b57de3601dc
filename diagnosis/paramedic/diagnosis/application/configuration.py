"""Whether somebody has changed the job's configuration: jumps of learning rate and global batch.

Schedules are smooth or step down. A value that leaves all of the remembered ones far behind is a
jump only if it stays: a ramp (warm-up, a batch that grows) goes on, and the last batch of an epoch
is alone. What is remembered begins anew wherever the job does.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from paramedic.diagnosis.application.claim import Claim, shown
from paramedic.diagnosis.contract import Fault, Phase, Severity
from paramedic.diagnosis.finding import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.application.reading import JobSlot
    from paramedic.diagnosis.application.settings import ApplicationSettings

_KEPT = {"learning_rate": 8, "global_batch_size": 32}
"""Rates are smooth; batches may differ from step to step."""
_LEAST_KNOWN = 6
"""Values before a jump can be told from the beginning of a warm-up."""
_STAYS_WITHIN = 1.25
"""What goes on changing by more than this factor is a ramp, and no new value."""
_CONFIDENCE = 0.95
_WORDS = {"learning_rate": "learning rate", "global_batch_size": "global batch"}


@dataclass(frozen=True, slots=True)
class Jump:
    """One value that has jumped and stayed."""

    metric: str
    before: float
    after: float
    since: int
    """When it was first seen."""
    is_new: bool
    """Whether the job has never had so high a value."""


@dataclass(slots=True)
class JumpWatch:
    """Follows one setting of the job."""

    metric: str
    settings: ApplicationSettings
    jump: Jump | None = None
    """What has not been undone or accepted."""
    undone: float = -math.inf
    """When a jump was last undone or accepted (Unix seconds)."""
    _before: deque[float] = field(init=False)
    _after: list[float] = field(default_factory=list)
    """Values since what may be a jump."""
    _since: int = 0
    _highest: float = 0.0
    _back: int = 0

    def __post_init__(self) -> None:
        self._before = deque(maxlen=_KEPT[self.metric])

    def restart(self) -> None:
        """The job begins anew: any value is the right one."""
        self._before.clear()
        self._after.clear()
        self.jump, self._back = None, 0

    def follow(self, value: float, second: int, growth: float) -> None:
        """Take a step's value in; `growth`: of the step's number, as a warm-up grows with it."""
        if not math.isfinite(value) or value < 0:
            return
        if self.jump is not None:
            self._follow_up(self.jump, value, second)
            return
        if not self._after:
            if not self._is_far(value / max(growth, 1.0)) or not self._is_far(value):
                self._before.append(value)
                self._highest = max(self._highest, value)
                return
            self._since = second
        self._after.append(value)
        self._decide()

    def _is_far(self, value: float) -> bool:
        """Whether a value is far from all that are remembered."""
        if len(self._before) < _LEAST_KNOWN:
            return False
        low, high = min(self._before), max(self._before)
        upward = low > 0 and value >= self.settings.least_jump_ratio * high
        return upward or (self._is_drop(value, low) and self._is_sudden(value))

    def _is_drop(self, value: float, low: float) -> bool:
        if self.metric == "learning_rate":
            return value <= self.settings.largest_planned_drop_ratio * low
        return value * self.settings.least_jump_ratio <= low

    def _is_sudden(self, value: float) -> bool:
        """A way down to zero ends in large ratios, and in steps like those before or small ones."""
        known = list(self._before)
        largest = max(abs(after - one) for one, after in pairwise(known))
        least = max(2 * largest, self.settings.largest_planned_drop_ratio * self._highest)
        return abs(value - known[-1]) > least

    def _decide(self) -> None:
        first, newest = self._after[0], self._after[-1]
        ratio = newest / first if first > 0 else 1.0 + newest
        if not 1 / _STAYS_WITHIN <= ratio <= _STAYS_WITHIN:
            self._take_over()
        elif len(self._after) >= self.settings.jump_observations:
            before, after = self._before[-1], newest
            is_new = after > self._highest
            self.jump = Jump(self.metric, before, after, self._since, is_new)
            self._after.clear()

    def _take_over(self) -> None:
        """It was a ramp's beginning, or something that passed: go on from here."""
        came_back = not self._is_far(self._after[-1])
        if came_back:
            self._before.append(self._after[-1])
        else:
            self._before.clear()
            self._before.extend(self._after)
        self._highest = max(self._highest, *self._after)
        self._after.clear()

    def _follow_up(self, jump: Jump, value: float, second: int) -> None:
        is_back = not self._is_far(value)
        self._back = self._back + 1 if is_back else 0
        accepted = second - jump.since >= self.settings.jump_accepted_seconds
        if self._back >= self.settings.jump_observations or accepted:
            self._highest = max(self._highest, value)
            self.jump, self._back, self.undone = None, 0, second
            if accepted:
                self._before.clear()
            self._before.append(value)


@dataclass(slots=True)
class ConfigurationWatch:
    """Learning rate and global batch of one job."""

    settings: ApplicationSettings
    rate: JumpWatch = field(init=False)
    batch: JumpWatch = field(init=False)
    _step: float = -math.inf

    def __post_init__(self) -> None:
        self.rate = JumpWatch("learning_rate", self.settings)
        self.batch = JumpWatch("global_batch_size", self.settings)

    @property
    def jumps(self) -> tuple[Jump, ...]:
        """What stands now."""
        return tuple(one.jump for one in (self.rate, self.batch) if one.jump is not None)

    @property
    def undone(self) -> float:
        """When the last jump was undone or accepted (Unix seconds)."""
        return max(self.rate.undone, self.batch.undone)

    def restart(self) -> None:
        """The job begins anew."""
        self.rate.restart()
        self.batch.restart()

    def follow(self, slot: JobSlot) -> None:
        """Take a slot in, if it tells of another step."""
        if slot.step == self._step:
            return
        if slot.step < self._step:
            self.restart()
        growth = (slot.step + 1) / (self._step + 1) if self._step >= 0 else 1.0
        self._step = slot.step if not math.isnan(slot.step) else self._step
        self.rate.follow(slot.learning_rate, slot.second, growth)
        self.batch.follow(slot.global_batch_size, slot.second, growth)

    def claim(self, second: int) -> Claim | None:
        """The jumps that stand, as one."""
        jumps = self.jumps
        if not jumps:
            return None
        onset = min(jump.since for jump in jumps)
        # Back to where it was before is a restart of its schedule, if anything is.
        is_grave = any(jump.is_new and jump.after > jump.before for jump in jumps)
        return Claim(
            Fault.CONFIGURATION_JUMP,
            Severity.P1 if is_grave else Severity.P2,
            Phase.SYMPTOM,
            _CONFIDENCE,
            moment(onset),
            moment(second),
            "; ".join(_told(jumps)),
            tuple(shown(one.metric, one.after, one.before, 0.0, one.since) for one in jumps),
        )


def _told(jumps: tuple[Jump, ...]) -> Iterator[str]:
    for jump in jumps:
        yield (
            f"the {_WORDS[jump.metric]} has jumped from {jump.before:.4g} to {jump.after:.4g},"
            " which no schedule does at once"
        )
