"""The folder of a run, and run.json in it, which says where everything is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from paramedic.api.wiring.errors import PreflightError, RunRecordError
from paramedic.api.wiring.writable import make_writable
from paramedic.ingest.contract import why_not
from paramedic.ingest.drafts import write_text

RECORD_FILE = "run.json"
WATCH_RECORD_FILE = "up.json"
"""What `paramedic up` leaves in its folder."""
DATABASE_FILE = "paramedic.sqlite"
SIGNING = ("diagnose", "collect")
"""Services that give signs of life in files, where they run."""
_JOB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What run.json says."""

    job: str
    command: tuple[str, ...]
    started_at: str
    """RFC 3339, UTC."""
    process_id: int
    """The supervisor."""
    bus: str | None
    api: str | None
    control_socket: str
    telemetry_socket: str | None
    schema: int = 1

    @classmethod
    def read(cls, run_folder: Path) -> RunRecord:
        """The record of a run. Raises RunRecordError when there is none or it is damaged."""
        path = run_folder / RECORD_FILE
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            known = {name: fields[name] for name in cls.__dataclass_fields__}
            return cls(**{**known, "command": tuple(known["command"])})
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunRecordError(f"{path}: not the record of a run: {why_not(error)}") from error

    def write(self, run_folder: Path) -> None:
        """Put the record in place at once, so that nobody ever reads half of it."""
        write_text(run_folder / RECORD_FILE, json.dumps(asdict(self), indent=2) + "\n")


def job_name(asked_for: str | None, command: Sequence[str]) -> str:
    """The job's name: as asked for, or of the script in the command.

    Raises PreflightError for a name that cannot be part of a key or a file name.
    """
    if asked_for is None:
        script = next((word for word in command if word.endswith(".py")), command[0])
        asked_for = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(script).stem).strip("-._") or "job"
    if not _JOB_NAME.fullmatch(asked_for):
        raise PreflightError(
            f"--job {asked_for!r}: use letters, digits, dot, dash and underscore, "
            "a letter or digit first, 100 at most"
        )
    return asked_for


def create_run_folder(asked_for: Path | None, runs_folder: Path, job: str, now: datetime) -> Path:
    """Make the folder with its `logs` and `checkpoints`.

    Raises PreflightError when it cannot be written or holds another run.
    """
    folder = asked_for if asked_for is not None else runs_folder / f"{job}-{now:%Y%m%d-%H%M%S-%f}"
    require_usable(folder, ("logs", "checkpoints"))
    return folder.resolve()


def require_usable(folder: Path, parts: Sequence[str] = ()) -> None:
    """Make the folder of a run, with these parts.

    Raises PreflightError when it cannot be written or holds another run.
    """
    try:
        make_writable(folder)
        for part in parts:
            (folder / part).mkdir(exist_ok=True)
    except OSError as error:
        raise PreflightError(
            f"run folder {folder} cannot be written ({error.strerror}): name another with "
            "--run-folder"
        ) from error
    require_unused(folder)


def require_unused(folder: Path) -> None:
    """Raises PreflightError when the folder holds a run already."""
    if any((folder / name).exists() for name in (RECORD_FILE, WATCH_RECORD_FILE)):
        raise PreflightError(
            f"run folder {folder} already holds a run: name another with --run-folder"
        )


def sign_file(run_folder: Path, service: str = "diagnose") -> Path:
    """The file whose age says when a service of the run last gave a sign of life."""
    return run_folder / f"{service}.alive"


def database_url(run_folder: Path) -> str:
    """Where the run's database is, as SQLAlchemy wants it."""
    return f"sqlite:///{run_folder.resolve() / DATABASE_FILE}"
