"""What is left of a job's throughput: nothing while no step ends, else its pace by the usual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.diagnosis.application.watch import ApplicationWatch
    from paramedic.diagnosis.pace import Pace


@dataclass(frozen=True, slots=True)
class JobSpeed:
    """How fast one job is, by whoever follows it."""

    pace: Pace
    application: ApplicationWatch

    def left(self, second: float) -> float:
        """The throughput in this second by that of before; NaN where nobody tells."""
        if self.pace.stands(second):
            return 0.0
        return self.application.flow.throughput_left(second)
