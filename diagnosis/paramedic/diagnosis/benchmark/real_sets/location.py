"""Where real data of others lies: a flag says it, or an environment variable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paramedic.diagnosis.benchmark.real_sets.errors import RealSetAbsentError

VARIABLE = "PARAMEDIC_REFERENCE_DATA"


def reference_folder(stated: Path | None, environment: Mapping[str, str]) -> Path:
    """The folder that was stated, or else the variable's. Raises RealSetAbsentError."""
    named = environment.get(VARIABLE)
    folder = stated or (Path(named) if named else None)
    if folder is None:
        raise RealSetAbsentError(
            f"no folder with real data: set {VARIABLE} or --reference-data to run the real sets"
        )
    if not folder.is_dir():
        raise RealSetAbsentError(f"{folder} is no folder: {VARIABLE} or --reference-data names it")
    return folder


def present(path: Path) -> Path:
    """The path, if it is there. Raises RealSetAbsentError."""
    if not path.exists():
        raise RealSetAbsentError(f"{path} is not there: this real set is left out")
    return path
