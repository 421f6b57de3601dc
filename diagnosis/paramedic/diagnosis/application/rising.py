"""A series that must not rise: evidence adds up over its values until a rise is safe to tell.

S = max(0, S + nats - allowance), where nats tell how odd a value is (`usual`) and values that are
higher by less than what matters count nothing. Values that speak for a rise are learned only once S
is back at zero, or when so many have gathered that they are rather the series' way. The tail of S
is measured by how high it climbed before it came back, as in `paramedic.diagnosis.evidence`; the
level is as much higher as it falls slower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from paramedic.diagnosis.application.usual import Past, Prior

_ALLOWANCE_NATS = 2.5
_MOST_PENDING = 4
_MARK = 1.0
_PRIOR_CLIMBS = 30.0
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class RiseRule:
    """What kind of series it is."""

    prior: Prior
    least_rise: float
    """Of the value; less does not matter."""


@dataclass(slots=True)
class Rise:
    """The evidence about one series, and what is usual for it."""

    rule: RiseRule
    past: Past = field(init=False)
    score: float = 0.0
    since: int = 0
    """The second in which the score left zero."""
    usual: float = math.nan
    """What a value was last measured against; NaN while nothing is known."""
    deviation: float = math.nan
    """How far the newest value is from it, in deviations."""
    calm: int = 0
    """Values in a row that did not matter."""
    _sum: float = 0.0
    _count: int = 0
    """Of the values since the score left zero."""
    _pending: list[float] = field(default_factory=list)
    _seen: int = 0
    _begun: int = 0
    _newest: int = 0
    _peak: float = 0.0
    _climbs: float = _PRIOR_CLIMBS
    _excess: float = _PRIOR_CLIMBS

    def __post_init__(self) -> None:
        self.past = Past(self.rule.prior)

    @property
    def fold(self) -> float:
        """How many nats of evidence are e times as rare as they should be."""
        return max(1.0, self._excess / self._climbs)

    @property
    def mean_rise(self) -> float:
        """By how much the values since the onset are above the usual."""
        return self._sum / self._count - self.usual if self._count else 0.0

    def level(self, false_alarms_per_day: float) -> float:
        """Where evidence decides, at this rate and at the pace of the series."""
        pace_seconds = max(1.0, (self._newest - self._begun) / max(1, self._seen - 1))
        return math.log(_DAY_SECONDS / pace_seconds / false_alarms_per_day) * self.fold

    def restart(self) -> None:
        """What was usual is so no longer; how the evidence climbs is not forgotten."""
        self.past = Past(self.rule.prior)
        self._pending.clear()
        self._fall(learn=False)

    def add(self, value: float, second: int, *, counts: bool = True, learn: bool = True) -> None:
        """Take a value in. Without `counts` it cannot matter; without `learn` it is not remembered.

        The latter is for a series of which it is told that it is unwell: nothing of it is usual.
        """
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
        if learn:
            self._learn(value, is_odd=nats > _ALLOWANCE_NATS)

    def is_beyond(self, false_alarms_per_day: float) -> bool:
        """Whether the evidence decides."""
        return self.score >= self.level(false_alarms_per_day)

    def settle(self) -> None:
        """The rise is over."""
        self._pending.clear()
        self._fall(learn=False)

    def _as_high(self, value: float) -> tuple[int, int]:
        known = [*self.past.values, *self._pending]
        return sum(one >= value for one in known), len(known)

    def _add_up(self, nats: float, value: float, second: int) -> None:
        if self.score == 0 and nats > _ALLOWANCE_NATS:
            self.since, self._sum, self._count = second, 0.0, 0
        self.score = max(0.0, self.score + nats - _ALLOWANCE_NATS)
        self._peak = max(self._peak, self.score)
        if self.score > 0:
            self._sum, self._count = self._sum + value, self._count + 1
        else:
            self._fall(learn=True)

    def _fall(self, *, learn: bool) -> None:
        if learn and self._peak > _MARK:
            self._climbs, self._excess = self._climbs + 1, self._excess + self._peak - _MARK
        self.score = self._peak = self._sum = 0.0
        self._count = 0

    def _learn(self, value: float, *, is_odd: bool) -> None:
        if is_odd:
            self._pending.append(value)
        else:
            self.past.learn(value)
        if self.score == 0 or len(self._pending) > _MOST_PENDING:
            for one in self._pending:
                self.past.learn(one)
            self._pending.clear()
