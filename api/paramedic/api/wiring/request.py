"""What a run is asked to do, and the place it was given once everything was checked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.wiring.bus import check_bus
from paramedic.api.wiring.command import resolve_command
from paramedic.api.wiring.known_errors import known_errors_in
from paramedic.api.wiring.run_folder import create_run_folder, job_name
from paramedic.api.wiring.socket_folder import socket_folder
from paramedic.ingest.contract import JobName

if TYPE_CHECKING:
    import socket

    from paramedic.api.settings.schema import Settings


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What `paramedic run` was asked to do."""

    command: tuple[str, ...]
    job: str | None
    run_folder: Path | None
    bare: bool
    settings: Settings
    folder: Path
    """The current folder; relative paths start there."""
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens: everything has been checked, nothing has been started."""

    job: JobName
    command: tuple[str, ...]
    run_folder: Path
    sockets: Path
    listener: socket.socket | None
    """Where REST will be served; None in a bare run."""

    @property
    def control_socket(self) -> Path:
        """The supervisor's socket."""
        return self.sockets / "control.sock"

    @property
    def telemetry_socket(self) -> Path:
        """The agent's socket."""
        return self.sockets / "telemetry.sock"

    @property
    def logs(self) -> Path:
        """Where every process writes its log."""
        return self.run_folder / "logs"


def prepare(request: RunRequest, stack: ExitStack, now: datetime) -> Place:
    """Check everything; what is opened is closed by the stack.

    Raises PreflightError, BusError or ApiError for the first thing that cannot work.
    """
    settings = request.settings
    command = resolve_command(request.command, request.folder, request.environment)
    job = job_name(request.job, request.command)
    if not request.bare:
        check_bus(settings, request.environment)
        known_errors_in(settings)
    listener = None if request.bare else _listen(settings, stack)
    runs_folder = request.folder / settings.job.runs_folder
    asked_for = None if request.run_folder is None else request.folder / request.run_folder
    run_folder = create_run_folder(asked_for, runs_folder, job, now)
    sockets = stack.enter_context(socket_folder())
    return Place(JobName(job), command, run_folder, sockets, listener)


def _listen(settings: Settings, stack: ExitStack) -> socket.socket:
    from paramedic.api.rest.loopback import loopback_socket

    return stack.enter_context(loopback_socket(settings.api.host, settings.api.port))
