"""Finds the job's command before anything is started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from paramedic.api.wiring.errors import PreflightError


def resolve_command(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """The command with its program as an absolute path.

    Raises PreflightError when there is no such program or it cannot be executed.
    """
    program = command[0]
    if os.sep in program:
        path = folder / program
        if not path.is_file():
            why = "it is a folder" if path.is_dir() else "no such file"
            raise PreflightError(f"command not found: {program}: {why}")
        if not os.access(path, os.X_OK):
            raise PreflightError(f"command {program} cannot be executed: chmod +x {program}")
        return (str(path), *command[1:])
    found = shutil.which(program, path=environment.get("PATH", os.defpath))
    if found is None:
        raise PreflightError(f"command not found: {program}: not on PATH")
    return (str(Path(found).absolute()), *command[1:])
