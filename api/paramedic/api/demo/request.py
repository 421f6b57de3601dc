"""What a demo is asked to do, checked before anything is started."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from paramedic.api.demo.errors import DemoRequestError
from paramedic.api.settings.schema import Settings

DEFAULT_STEPS = 400
MOST_STEPS_A_SECOND = 50
"""Generous: how many steps to ask for when the run is ended by time."""


class InjectedFault(StrEnum):
    """What happens to the rank."""

    KILL = "kill"
    """SIGKILL: the process is gone at once."""
    FREEZE = "freeze"
    """SIGSTOP: the process stays and does nothing, and neither does its heart-beat."""
    SLOW = "slow"
    """Half of the processor time that it used before."""
    NONE = "none"
    """Nothing: whatever is said about the run is wrong."""


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """One demo."""

    fault: InjectedFault
    steps: int
    seconds: float | None
    """End a run without a fault after this much training; None: at the last step."""
    rank: int | None
    """None: one at random."""
    seed: int | None
    script: Path | None
    keep: bool
    run_folder: Path | None
    settings: Settings
    folder: Path
    environment: Mapping[str, str]

    @classmethod
    def checked(
        cls,
        *,
        fault: str,
        steps: int | None,
        seconds: float | None,
        rank: int | None,
        seed: int | None,
        script: Path | None,
        keep: bool,
        run_folder: Path | None,
        settings: Settings,
        folder: Path,
        environment: Mapping[str, str],
    ) -> DemoRequest:
        """The request, once it makes sense. Raises DemoRequestError when it does not."""
        kind = InjectedFault(fault)
        _refuse_odd_time(kind, seconds)
        _refuse_odd_rank(rank, settings.job.ranks)
        planned = steps if steps is not None else _steps_for(seconds)
        if planned < 1:
            raise DemoRequestError(f"--steps {planned}: needs at least 1")
        return cls(
            kind, planned, seconds, rank, seed, script, keep, run_folder, settings, folder,
            environment,
        )  # fmt: skip


def _steps_for(seconds: float | None) -> int:
    return DEFAULT_STEPS if seconds is None else int(seconds * MOST_STEPS_A_SECOND) + 1


def _refuse_odd_time(fault: InjectedFault, seconds: float | None) -> None:
    if seconds is None:
        return
    if fault is not InjectedFault.NONE:
        raise DemoRequestError(
            f"--seconds {seconds:g} goes with --fault none only; a fault's run ends at --steps"
        )
    if not 0 < seconds < math.inf:
        raise DemoRequestError(f"--seconds {seconds:g}: needs a number above 0")


def _refuse_odd_rank(rank: int | None, ranks: int) -> None:
    if rank is not None and not 0 <= rank < ranks:
        raise DemoRequestError(
            f"--rank {rank}: ranks go from 0 to {ranks - 1} with --nproc {ranks}"
        )
