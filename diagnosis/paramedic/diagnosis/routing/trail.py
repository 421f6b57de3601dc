"""How far back in a partition somebody has to read to see the last seconds again."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

_STEP_SECONDS = 1.0
_HEARD = 15
"""Messages whose middle second is the time of the stream: one node's wrong clock moves nothing."""


@dataclass(frozen=True, slots=True)
class _Step:
    """From this message on the stream was at this second."""

    second: int
    offset: int
    arrived: float


class Trail:
    """Remembers where each second of a stream began, as far back as a span.

    A step is forgotten when it is older than the span both by the seconds in the messages and by
    their arrival: neither a wrong clock nor a backlog that is read quickly loses what is needed.
    What a predecessor has judged already arrived long ago: only its seconds count, or every crash
    would make the way back longer.
    """

    def __init__(self, span_seconds: float) -> None:
        self.span_seconds = span_seconds
        self._steps: deque[_Step] = deque()
        self._heard: deque[int] = deque(maxlen=_HEARD)
        self._heard_at = 0.0

    def note(self, second: int, offset: int, now: float, *, is_new: bool = True) -> None:
        """A message of this second has come; `now` is any steady clock, in seconds.

        `is_new` is False for what a predecessor has judged already.
        """
        self._heard.append(second)
        self._heard_at = now
        arrived = now if is_new else -math.inf
        middle = sorted(self._heard)[len(self._heard) // 2]
        last = self._steps[-1] if self._steps else None
        if last is None or middle > last.second or arrived - last.arrived >= _STEP_SECONDS:
            self._steps.append(_Step(middle, offset, arrived))

    def needed(self, now: float) -> int | None:
        """The oldest offset that still matters; None when nothing has come for a whole span."""
        oldest_arrival = now - self.span_seconds
        if self._heard_at < oldest_arrival:
            self._steps.clear()
        while len(self._steps) > 1 and self._is_past(self._steps[1], oldest_arrival):
            self._steps.popleft()
        return self._steps[0].offset if self._steps else None

    def _is_past(self, step: _Step, oldest_arrival: float) -> bool:
        """Whether all that came before this step is past."""
        oldest_second = self._steps[-1].second - self.span_seconds
        return step.arrived < oldest_arrival and step.second < oldest_second
