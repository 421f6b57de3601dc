"""What the detector of a job knows, beside the windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.downfall import Downfall
from paramedic.diagnosis.flight_recorder.watch import RecorderWatch
from paramedic.diagnosis.freed_memory import FreedMemory
from paramedic.diagnosis.going_on import GoingOn
from paramedic.diagnosis.known_errors.memory import KnownErrorMemory
from paramedic.diagnosis.pace import Pace

if TYPE_CHECKING:
    from paramedic.diagnosis.application.watch import ApplicationWatch
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.history.watch import FailureHistory
    from paramedic.diagnosis.liveness import Liveness
    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.rank_judging import RankMemory
    from paramedic.diagnosis.roles import JobRoles
    from paramedic.diagnosis.sight import JobSight
    from paramedic.diagnosis.silent_together import SilentTogether


@dataclass(slots=True)
class DetectorState:
    """All of it; a copy of it is its half of a snapshot."""

    liveness: Liveness
    ranks: RankMemory
    docket: Docket
    machines: MachineWatch
    application: ApplicationWatch
    slot_seconds: int
    """How often the job's telemetry comes."""
    picture: JobPicture
    history: FailureHistory
    roles: JobRoles
    sight: JobSight
    company: SilentTogether
    pace: Pace = field(default_factory=Pace)
    downfall: Downfall = field(default_factory=Downfall)
    memory: FreedMemory = field(default_factory=FreedMemory)
    told: KnownErrorMemory = field(default_factory=KnownErrorMemory)
    """What drivers and counters told of known errors."""
    recorder: RecorderWatch = field(default_factory=RecorderWatch)

    @property
    def going_on(self) -> GoingOn:
        """What tells of the job's progress."""
        return GoingOn(self.liveness, self.machines.absences.motion)
