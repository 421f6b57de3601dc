"""The silences that somebody has ended by being heard again: what is usual where samples get lost.

A silence says something of who is silent only when it is longer than those that others of the job
have come back from, while their peers were heard.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LONGEST_SILENCES = 1.5
"""So many times the longest usual silence is more than lost samples."""
_FEWEST = 3
"""So many make a length usual: one that stood for once and went on makes none."""
_KEPT = 8
_KEPT_SECONDS = 3600


@dataclass(slots=True)
class EndedSilences:
    """The longest of the last hour."""

    _lengths: dict[int, int] = field(default_factory=dict)
    """In seconds, by the second of their end: what ends at once may have one reason."""

    def note(self, seconds: int, second: int) -> None:
        """Somebody is heard in this second, after so long."""
        if seconds <= self._lengths.get(second, 0):
            return
        self._lengths[second] = seconds
        if len(self._lengths) > _KEPT:
            recent = self._recent(second)
            longest = sorted(recent, key=lambda at: (recent[at], at))[-_KEPT:]
            self._lengths = {at: recent[at] for at in longest}

    def usual_seconds(self, now: int) -> int:
        """The longest that is nothing unusual; 0: none is.

        >>> ended = EndedSilences()
        >>> for second, length in enumerate((5, 4, 60, 7)):
        ...     ended.note(length, second)
        >>> ended.usual_seconds(10), ended.usual_seconds(10_000)
        (5, 0)
        """
        lengths = sorted(self._recent(now).values())
        return lengths[-_FEWEST] if len(lengths) >= _FEWEST else 0

    def _recent(self, now: int) -> dict[int, int]:
        return {at: one for at, one in self._lengths.items() if now - at <= _KEPT_SECONDS}
