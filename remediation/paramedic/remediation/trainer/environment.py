"""What the supervisor tells a worker through its environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.remediation.trainer.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTROL_SOCKET = "PARAMEDIC_CONTROL_SOCKET"
DEFAULT_CHECKPOINT_INTERVAL_SECONDS = 7200.0


@dataclass(frozen=True, slots=True)
class WorkerEnvironment:
    """The supervised worker's surroundings."""

    job: str
    node: str
    control_socket: Path
    telemetry_socket: Path | None
    """None: telemetry is measured and goes nowhere."""
    checkpoint_folder: Path | None
    """None: no checkpoints are written or read."""
    checkpoint_interval_seconds: float


def read_environment(variables: Mapping[str, str]) -> WorkerEnvironment | None:
    """The worker's surroundings, or None when no supervisor has started this process.

    Raises SetupError when the variables contradict themselves.
    """
    control_socket = variables.get(CONTROL_SOCKET)
    if not control_socket:
        return None
    return WorkerEnvironment(
        job=_required(variables, "PARAMEDIC_JOB"),
        node=_required(variables, "PARAMEDIC_NODE"),
        control_socket=Path(control_socket),
        telemetry_socket=_path(variables, "PARAMEDIC_TELEMETRY_SOCKET"),
        checkpoint_folder=_path(variables, "PARAMEDIC_CHECKPOINT_FOLDER"),
        checkpoint_interval_seconds=_interval(variables),
    )


def _required(variables: Mapping[str, str], name: str) -> str:
    value = variables.get(name)
    if not value:
        raise SetupError(f"{name} is not set although {CONTROL_SOCKET} is: set both or neither")
    return value


def _path(variables: Mapping[str, str], name: str) -> Path | None:
    value = variables.get(name)
    return Path(value) if value else None


def _interval(variables: Mapping[str, str]) -> float:
    name = "PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS"
    text = variables.get(name) or str(DEFAULT_CHECKPOINT_INTERVAL_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        raise SetupError(f"{name}={text!r} is not a number: give seconds, such as 600") from None
    if not seconds > 0:
        raise SetupError(f"{name}={text} must be above 0: give seconds, such as 600")
    return seconds
