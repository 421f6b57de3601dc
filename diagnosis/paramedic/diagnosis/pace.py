"""How the steps of a job come, and whether it is heard of: what a standstill is measured by.

Seconds are counted by the batches that came, not by the clock: a job that was paused with its
telemetry, or whose telemetry has a hole, has not stood still for as long as the hole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.diagnosis.liveness import Liveness

_LONGEST_PAUSES = 1.5
_SHORTEST_STAND_SECONDS = 2.0
_FEWEST_ADVANCES = 10


@dataclass(slots=True)
class Pace:
    """The steps of one stretch of training, and the seconds since anything moved."""

    stretch: float = -math.inf
    """When the stretch began (Unix seconds)."""
    newest_step_second: int | None = None
    advances: int = 0
    """Seconds in which a step was made."""
    longest_pause_seconds: int = 0
    seconds_without_step: int = 0
    heard: int = 0
    """The newest second that half of the ranks or of the nodes have reached."""
    seconds_unheard: int = 0
    head: int = 0
    """The newest second of any batch."""

    def follow(self, second: int, stretch: float, liveness: Liveness) -> None:
        """A batch of this second has been taken in."""
        if stretch != self.stretch:
            self.stretch, self.newest_step_second = stretch, None
            self.advances, self.longest_pause_seconds = 0, 0
        is_new_second, self.head = second > self.head, max(self.head, second)
        self.seconds_without_step += is_new_second
        self.seconds_unheard += is_new_second
        progress = liveness.newest_progress()
        if progress is not None and progress >= self.stretch:
            self._step(progress)
        heard = max(liveness.ranks_reached() or 0, liveness.nodes_reached() or 0)
        if heard != self.heard:
            self.heard, self.seconds_unheard = heard, 0

    def stands(self, second: float) -> bool:
        """Whether no step has ended for longer than is usual; False while too little is known."""
        newest, longest = self.newest_step_second, _LONGEST_PAUSES * self.longest_pause_seconds
        is_known = newest is not None and self.advances >= _FEWEST_ADVANCES
        return is_known and second - (newest or 0) > max(longest, _SHORTEST_STAND_SECONDS)

    def _step(self, second: int) -> None:
        before = self.newest_step_second
        if before is None or second > before:
            pause = 0 if before is None else second - before
            self.longest_pause_seconds = max(self.longest_pause_seconds, pause)
            self.newest_step_second, self.seconds_without_step = second, 0
            self.advances += 1
