"""A number that was told with every step and is told no more, although steps go on.

On the bus and in recordings NaN means "not observed", so a loss that has become none may just stop
coming. Each step without it tells minus the logarithm of the share of earlier steps without it: a
loss that is logged every tenth step may be absent for long, one that always came may not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_MEMORY = 1000.0
"""Older steps are forgotten."""


@dataclass(slots=True)
class Unsaid:
    """One number of a job."""

    nats: float = 0.0
    since: int = 0
    """The second of the first step without it."""
    _told: float = 0.0
    _missed: float = 0.0
    _missing: int = 0

    def follow(self, second: int, *, is_told: bool) -> None:
        """Another step has ended."""
        if is_told:
            self._told, self._missed = self._told + 1, self._missed + self._missing
            if self._told + self._missed > _MEMORY:
                self._told, self._missed = self._told / 2, self._missed / 2
            self.nats, self._missing = 0.0, 0
            return
        if not self._missing:
            self.since = second
        self._missing += 1
        share = (self._missed + 1) / (self._told + self._missed + 2)
        self.nats += -math.log(share) if self._told else 0.0
