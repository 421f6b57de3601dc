"""How a model is fitted; what must hold fails when the settings are made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from paramedic.models.pattern.settings import PatternSettings

Progress: TypeAlias = Callable[[str, float], None]
"""Hears what is being done, and what share of it is done."""

_COUNTS = (
    "windows",
    "windows_to_calibrate",
    "counted_every_slots",
    "most_epochs",
    "patience_epochs",
    "batch",
)


@dataclass(frozen=True, slots=True)
class FitSettings:
    """The defaults take about two minutes on one core."""

    pattern: PatternSettings = field(default_factory=PatternSettings)
    seed: int = 0
    windows: int = 40_000
    """Sequences that the network learns from, drawn from all histories alike."""
    windows_to_calibrate: int = 240_000
    """Sequences by which it is found out how often the network is surprised how much."""
    counted_every_slots: int = 5
    """Every so many slots all rows are counted for calibration."""
    most_epochs: int = 12
    patience_epochs: int = 3
    """So many epochs without a better held-out loss end training."""
    batch: int = 256
    learning_rate: float = 4e-3
    held_out_share: float = 0.2
    """Share of the jobs that only tell when to stop."""
    trimmed_share: float = 0.03
    """The oddest windows of a batch, so large a share, teach nothing: they may show faults."""
    accelerator: str = "cpu"
    """Lightning's word: cpu, gpu, auto."""
    checkpoint_folder: Path | None = None
    """Where a training that is stopped goes on from; the same histories and settings are needed."""

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("held_out_share", "trimmed_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in 0..1, not {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate must be above 0 and finite, not {self.learning_rate}")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, not {self.seed}")
