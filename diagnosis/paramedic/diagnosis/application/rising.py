"""A series that must not rise: evidence adds up over its values until a rise is safe to tell.

S = max(0, S + nats - allowance), where nats tell how odd a value is (`usual`) and values that are
higher by less than what matters count nothing. Values that speak for a rise are learned only once S
is back at zero, or when so many have gathered that they are rather the series' way. The tail of S
is measured by how high it climbed before it came back (`paramedic.diagnosis.tail`); the level is as
much higher as it falls slower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from paramedic.diagnosis.application.usual import Past, Prior
from paramedic.diagnosis.tail import Tail

_ALLOWANCE_NATS = 2.5
_MOST_PENDING = 4
_DAY_SECONDS = 86_400.0
_RECENT = 30
"""How far a rise has come is the mean of so many values, once there are as many."""


@dataclass(frozen=True, slots=True)
class RiseRule:
    """What kind of series it is, and when it is decided."""

    prior: Prior
    least_rise: float
    """Of the value; less does not matter."""
    false_alarms_per_day: float
    calm_to_settle: int
    """So many values in a row that do not matter, and the rise is over."""


@dataclass(slots=True)
class Rise:
    """The evidence about one series, and what is usual for it."""

    rule: RiseRule
    past: Past = field(init=False)
    score: float = 0.0
    since: int = 0
    """The second in which the score left zero."""
    is_decided: bool = False
    """Whether the evidence has decided and the rise is not over; nothing is usual until then."""
    usual: float = math.nan
    """What a value was last measured against; NaN while nothing is known."""
    deviation: float = math.nan
    """How far the newest value is from it, in deviations."""
    calm: int = 0
    """Values in a row that did not matter."""
    _mean: float = 0.0
    _count: int = 0
    """Of the last values since the score left zero."""
    _pending: list[float] = field(default_factory=list)
    _seen: int = 0
    _begun: int = 0
    _newest: int = 0
    _peak: float = 0.0
    _tail: Tail = field(default_factory=lambda: Tail(climbs_kept=math.inf))

    def __post_init__(self) -> None:
        self.past = Past(self.rule.prior)

    @property
    def is_on(self) -> bool:
        """Whether it is decided and goes on."""
        return self.is_decided and self.calm == 0

    @property
    def mean_rise(self) -> float:
        """By how much the last values since the onset are above the usual."""
        return self._mean - self.usual if self._count else 0.0

    @property
    def level(self) -> float:
        """Where evidence decides, at the tolerated rate and the pace of the series."""
        pace_seconds = max(1.0, (self._newest - self._begun) / max(1, self._seen - 1))
        values_per_day = _DAY_SECONDS / pace_seconds
        return math.log(values_per_day / self.rule.false_alarms_per_day) * self._tail.fold

    def restart(self) -> None:
        """What was usual is so no longer; how the evidence climbs is not forgotten."""
        self.past = Past(self.rule.prior)
        self._settle()

    def add(self, value: float, second: int, *, counts: bool = True) -> None:
        """Take a value in. Without `counts` it does not matter, however high it is."""
        self._begun, self._newest = (self._begun if self._seen else second), second
        self._seen += 1
        usual = self.past.usual()
        if usual is None:
            self.past.learn(value)
            return
        self.usual, self.deviation = usual.level, (value - usual.level) / usual.deviation
        matters = counts and value - usual.level >= self.rule.least_rise
        nats = usual.nats(value, *self._as_high(value)) if matters else 0.0
        self.calm = 0 if matters else self.calm + 1
        self._add_up(nats, value, second)
        if self.is_decided and self.calm >= self.rule.calm_to_settle:
            self._settle()
        if not self.is_decided:
            self._learn(value, is_odd=nats > _ALLOWANCE_NATS)

    def _as_high(self, value: float) -> tuple[int, int]:
        known = [*self.past.values, *self._pending]
        return sum(one >= value for one in known), len(known)

    def _add_up(self, nats: float, value: float, second: int) -> None:
        if self.score == 0 and nats > _ALLOWANCE_NATS and not self.is_decided:
            self.since, self._mean, self._count = second, 0.0, 0
        self.score = max(0.0, self.score + nats - _ALLOWANCE_NATS)
        self._peak = max(self._peak, self.score)
        self.is_decided = self.is_decided or self.score >= self.level
        if self.score > 0 or self.is_decided:
            self._count = min(self._count + 1, _RECENT)
            self._mean += (value - self._mean) / self._count
        elif self._peak > 0:
            self._fall()

    def _fall(self) -> None:
        """The evidence was none after all: learn how high such climbs."""
        self._tail.learn(np.array([self._peak]))
        self._peak, self._count = 0.0, 0

    def _settle(self) -> None:
        self._pending.clear()
        self.is_decided, self.score, self._peak, self._count = False, 0.0, 0.0, 0

    def _learn(self, value: float, *, is_odd: bool) -> None:
        if is_odd:
            self._pending.append(value)
        else:
            self.past.learn(value)
        if self.score == 0 or len(self._pending) > _MOST_PENDING:
            for one in self._pending:
                self.past.learn(one)
            self._pending.clear()
