"""How long to wait before something that ended is started again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BackOffRule:
    """Doubling delays, forgotten after a long enough life."""

    first_seconds: float = 0.5
    longest_seconds: float = 10.0
    reset_after_seconds: float = 60.0

    def __post_init__(self) -> None:
        if not 0 < self.first_seconds <= self.longest_seconds:
            raise ValueError(f"the first delay is above zero and at most the longest: {self}")


class BackOff:
    """Counts the short lives in a row of one thing."""

    def __init__(self, rule: BackOffRule) -> None:
        self._rule = rule
        self._next_seconds = rule.first_seconds

    def delay_after(self, lived_seconds: float) -> float:
        """Seconds to wait now that it ended after a life this long."""
        if lived_seconds >= self._rule.reset_after_seconds:
            self._next_seconds = self._rule.first_seconds
        delay_seconds = self._next_seconds
        self._next_seconds = min(2 * delay_seconds, self._rule.longest_seconds)
        return delay_seconds
