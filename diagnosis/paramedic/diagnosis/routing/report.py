"""What a diagnosis process knows of itself: how far behind it is, and what it left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RoutingReport:
    """A snapshot. Counts are since the process began, shares that have moved on included."""

    shares: int = 0
    """Shares that this process holds."""
    shares_catching_up: int = 0
    jobs: int = 0
    lag_messages: Mapping[str, int] = field(default_factory=dict)
    """By topic, messages that are published and not yet judged, as far as the broker has told."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """`verdicts`, `dead_letters`, `sent_home` (messages under a key that is not their job's),
    `slots_published`, `slots_accepted`, `slots_repeated`, `rows_late` (of jobs of one shard),
    `rows_left_out` (of larger jobs), `shares_gained`, `shares_lost`, `commits`,
    `commits_refused`, `bus_losses`."""

    def to_json(self) -> bytes:
        """One line of JSON."""
        fields: dict[str, Any] = {
            "shares": self.shares,
            "shares_catching_up": self.shares_catching_up,
            "jobs": self.jobs,
            "lag_messages": dict(self.lag_messages),
            "counts": dict(self.counts),
        }
        return json.dumps(fields, sort_keys=True).encode()
