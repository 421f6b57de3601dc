"""Keeps the step of running jobs up to date: it is asked of the launcher, once a review.

Events tell a step only when a job's state changes. Telling each step over the bus would fill the
event topic and the ledger's history with what is out of date a second later.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobState
from paramedic.remediation.launchers.port import LauncherUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from paramedic.remediation.launchers.port import Launcher, Placement
    from paramedic.remediation.store.store import Store

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StepFollower:
    """From what the launcher sees to the step of each running job."""

    store: Store
    launcher: Launcher

    def follow(self, now: datetime) -> None:
        """Store the newest step of every running job. Raises StoreUnavailableError.

        A launcher that cannot be reached is asked again next time: nothing waits for a step.
        """
        with self.store.reading() as view:
            running = [job for job in view.jobs.all() if _runs(job.state)]
        for job in running:
            try:
                step = newest_step(self.launcher.observe(job.name))
            except LauncherUnavailableError as error:
                _log.debug("the step of %s is not known: %s", job.name, error)
                return
            if step is not None and step != job.step:
                with self.store.writing() as tx:
                    tx.jobs.set_step(job.name, step, now)


def newest_step(placements: Sequence[Placement]) -> int | None:
    """The newest step that any rank has done; None when no rank has told one."""
    steps = [placement.step for placement in placements if placement.rank is not None]
    return max((step for step in steps if step is not None), default=None)


def _runs(state: JobState | None) -> bool:
    return state not in (None, JobState.FINISHED)
