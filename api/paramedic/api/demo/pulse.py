"""How the training goes, from the telemetry that passes by: step, and steps a second."""

from __future__ import annotations

from collections import deque

_SPAN_SECONDS = 10.0


class Pulse:
    """The newest step and the speed over the last ten seconds."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()
        self.first_at_seconds: float | None = None
        """When the first finished step was seen."""

    @property
    def step(self) -> int | None:
        """The newest step seen."""
        return self._points[-1][1] if self._points else None

    def add(self, at_seconds: float, step: int) -> None:
        """Note a step; one older than the newest (a slow rank's) changes nothing."""
        if self._points and step < self._points[-1][1]:
            return
        if self.first_at_seconds is None and step > 0:
            self.first_at_seconds = at_seconds
        self._points.append((at_seconds, step))
        while at_seconds - self._points[0][0] > _SPAN_SECONDS:
            self._points.popleft()

    def steps_a_second(self) -> float:
        """Speed over the last ten seconds; 0 while there is too little to tell."""
        (first_at, first), (last_at, last) = self._ends()
        return (last - first) / (last_at - first_at) if last_at > first_at else 0.0

    def trained_seconds(self, now_seconds: float) -> float:
        """How long the job has been training by now."""
        return 0.0 if self.first_at_seconds is None else now_seconds - self.first_at_seconds

    def _ends(self) -> tuple[tuple[float, int], tuple[float, int]]:
        if not self._points:
            return (0.0, 0), (0.0, 0)
        return self._points[0], self._points[-1]
