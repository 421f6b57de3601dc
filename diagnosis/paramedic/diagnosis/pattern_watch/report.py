"""What pattern scoring knows of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.contract import JobName

if TYPE_CHECKING:
    from paramedic.models.drift.report import DriftReport
    from paramedic.models.registry.fit import Fit


@dataclass(frozen=True, slots=True)
class JobPatterns:
    """One job that is scored."""

    model: str
    """The model's name."""
    version: int | None
    """In the registry; None: the model that ships."""
    fit: Fit
    """Metrics that the model misses, and those that are new to it."""
    oddest_nats: float
    """The oddest score of the newest slot: how rare it is to look so odd, -log p."""


@dataclass(frozen=True, slots=True)
class PatternReport:
    """A snapshot. Counts are since the process began."""

    jobs: Mapping[JobName, JobPatterns] = field(default_factory=dict)
    drift: DriftReport | None = None
    """Of the last window that has closed under the model in use."""
    scoring_seconds: float = 0.0
    """Time that was spent scoring."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """`slots_scored`, `slots_skipped` (beyond the budget), `scorers_built` (for new rows, new
    metrics and new models), `models_refused`, `jobs_failed` (times that scoring of a job has ended
    by an error)."""
