"""What a verb may take from the process it runs in, so that tests can hand it something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The process around a verb."""

    folder: Path
    """The current folder, absolute."""
    environment: Mapping[str, str]
    stdout: TextIO
    """Machine-readable output and nothing else."""
    stderr: TextIO
    """Progress, tables and logs."""
