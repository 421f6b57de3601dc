"""What became of the rows that arrived, counted by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """What can become of one row of a batch (one entity in one second)."""

    ACCEPTED = "accepted"
    """Its values are in an open slot."""
    LATE = "late"
    """Its slot was closed; not used."""
    AHEAD = "ahead"
    """So far in the future that its clock cannot be believed (yet); not used."""
    STALE_GENERATION = "stale_generation"
    """A rank row of a generation that is over; not used."""
    DEPARTED = "departed"
    """Its node has left the job; not used."""


@dataclass(frozen=True, slots=True)
class WindowCounters:
    """Rows since the start, by what became of them; `received` is the sum of the fates."""

    accepted: int
    late: int
    ahead: int
    stale_generation: int
    departed: int
    duplicate: int
    """Accepted rows that wrote over a value of the same slot; the last one wins."""
    rebased: int
    """Rows whose second was moved because their node's clock is off; counted in a fate as well."""
    skipped_seconds: int
    """Closed seconds that `advance` left out because they were older than what is kept."""

    @property
    def received(self) -> int:
        """All rows that arrived."""
        return self.accepted + self.late + self.ahead + self.stale_generation + self.departed


class Tally:
    """Counts while the windows run."""

    def __init__(self, counts: Counter[str] | None = None) -> None:
        self._counts: Counter[str] = Counter(counts or {})

    def add(self, name: str, rows: int = 1) -> None:
        """Count rows under a name of WindowCounters."""
        self._counts[name] += rows

    def counters(self) -> WindowCounters:
        """The counts so far."""
        names = WindowCounters.__dataclass_fields__
        return WindowCounters(**{name: self._counts[name] for name in names})

    def snapshot(self) -> Counter[str]:
        """A copy of the counts, for a new Tally."""
        return Counter(self._counts)
