"""How much is asked for at once: as much time as an answer can hold, and instances in parts."""

from __future__ import annotations

_FIRST_SECONDS = 10.0
_SHORTEST_SECONDS = 1.0
_LONGEST_SECONDS = 300.0
_CALM_ANSWERS = 100


class QueryPlan:
    """Learns from answers that were too large, or smaller than they could be."""

    def __init__(self, sample_limit: int) -> None:
        self._sample_limit = sample_limit
        self._ceiling_seconds = _LONGEST_SECONDS
        self._calm = 0
        self.chunk_seconds = _FIRST_SECONDS
        """The time span of one query."""
        self.parts = 1
        """Into how many parts the instances are cut."""

    def answered(self, largest_samples: int) -> None:
        """All queries of a span were answered, the largest with so many samples."""
        self._calm += 1
        if self._calm % _CALM_ANSWERS == 0:
            self._ceiling_seconds = min(2 * self._ceiling_seconds, _LONGEST_SECONDS)
        if largest_samples > self._sample_limit:
            self.chunk_seconds = max(self.chunk_seconds / 2, _SHORTEST_SECONDS)
        elif 0 < largest_samples < self._sample_limit / 3:  # an empty past tells nothing of its end
            self.chunk_seconds = min(2 * self.chunk_seconds, self._ceiling_seconds)

    def too_large(self, instances: int) -> bool:
        """A query asked for too much: ask for less; False if there is nothing less to ask for."""
        self._calm = 0
        if self.chunk_seconds > _SHORTEST_SECONDS:
            self.chunk_seconds = max(self.chunk_seconds / 2, _SHORTEST_SECONDS)
            self._ceiling_seconds = self.chunk_seconds
            return True
        if self.parts < instances:
            self.parts = min(2 * self.parts, instances)
            return True
        return False
