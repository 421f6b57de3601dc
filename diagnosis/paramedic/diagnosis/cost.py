"""What it costs that a machine works differently: its work, the whole job's, its disks' time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.materiality import lost_seconds, times_slower_disk

if TYPE_CHECKING:
    from paramedic.diagnosis.departure import Departure
    from paramedic.ingest.contract import Window

BORNE_SECONDS = 9.0
"""So much work may be lost to a chore."""
CHORE_SECONDS = 240
"""A host that is busier for longer has no chore, unless the job is seen to go on as before."""
_SLIGHT_SHARE = 0.1
"""Less of the job's work is borne for as long as a chore takes."""
_DISK_BORNE = 4.0
"""No other program makes a disk answer so many times as slowly."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Since evidence began."""

    own_seconds: float
    """Work that the machine has lost, were all of the difference a loss."""
    job_seconds: float | None
    """Work that the whole job has lost; None where that is not known."""
    times_slower_disk: float
    is_slight: bool = False
    """What the whole job has lost is a small part of its work, and not for long."""

    @classmethod
    def of(cls, departure: Departure, window: Window) -> Cost:
        """As its window shows it."""
        return cls(
            own_seconds=lost_seconds(window, departure),
            job_seconds=departure.job_lost_seconds,
            times_slower_disk=times_slower_disk(window, departure),
            is_slight=(departure.job_lost_share or 0.0) < _SLIGHT_SHARE
            and departure.seconds < CHORE_SECONDS,
        )

    @property
    def is_known_of_job(self) -> bool:
        """Whether the cards tell what the whole job has lost."""
        return self.job_seconds is not None

    @property
    def lost_seconds(self) -> float:
        """Work that has been lost, the machine's or the job's, whichever is more."""
        return max(self.own_seconds, self.job_seconds or 0.0)

    @property
    def is_borne_by_itself(self) -> bool:
        """Whether the machine has lost little."""
        return self.own_seconds < BORNE_SECONDS

    @property
    def is_borne_by_job(self) -> bool:
        """Whether the job has lost little, as far as that is known."""
        return self.is_slight or (self.job_seconds or 0.0) < BORNE_SECONDS

    @property
    def is_borne_by_disks(self) -> bool:
        """Whether its disks answer about as soon as another program lets them."""
        return self.times_slower_disk < _DISK_BORNE

    @property
    def is_borne(self) -> bool:
        """Whether it has cost no more than a chore may."""
        return self.is_borne_by_itself and self.is_borne_by_job and self.is_borne_by_disks
