"""Whether a job has gone on since something happened: then that is not why it stands or has ended.

Ranks tell of their steps. Where none of them tells anything, cards that have worked for long say
so: what was on its way when a process ended keeps them busy for seconds, and never for a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.liveness import Liveness
    from paramedic.diagnosis.motion import Motion

_LAST_STEP_SECONDS = 5.0
"""A step that is under way when a process ends is done by then; one that ends later is another."""


@dataclass(frozen=True, slots=True)
class GoingOn:
    """What tells of one job's progress."""

    liveness: Liveness
    motion: Motion

    def since(self, second: float) -> bool:
        """Whether work was done that nobody can have been in the midst of then."""
        progress, beat = self.liveness.newest_progress(), self.liveness.ranks_reached()
        latest = second + _LAST_STEP_SECONDS
        if progress is not None and progress > latest:
            return True
        is_told_of_steps = progress is not None and beat is not None and beat > latest
        return not is_told_of_steps and self.motion.has_worked_since(second)

    def after(self, verdict: Verdict) -> bool:
        """Whether the job has gone on since this was found, so that it explains nothing of now."""
        return self.since(verdict.detected_at.timestamp())
