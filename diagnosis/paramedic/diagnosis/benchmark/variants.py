"""Ours, and ours with something left out: one model, fitted once, and several ways to use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.guard import OURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paramedic.models.detection import Examination, FaultyMachineDetector
    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.training.fit_settings import FitSettings

LEFT_OUT = (
    "paramedic_no_network",
    "paramedic_no_calibration",
    "paramedic_whole_job",
    "paramedic_single_metric",
)


@dataclass(slots=True)
class SharedFit:
    """The model of several detectors: the first that is trained fits it."""

    settings: FitSettings
    artifact: PatternArtifact | None = None

    def once(self, histories: Iterable[JobHistory]) -> PatternArtifact:
        """The model; all who share it have to bring the same histories."""
        from paramedic.models.training.fitting import fit

        if self.artifact is None:
            self.artifact = fit(list(histories), self.settings)
        return self.artifact


@dataclass(slots=True)
class Variant:
    """A use of the shared model (a FaultyMachineDetector)."""

    name: str
    fit: SharedFit
    thresholds: Sequence[float]
    _detector: FaultyMachineDetector | None = field(default=None)

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Fit the shared model, or take it from whoever did."""
        from paramedic.models.pattern.detector import PatternDetector, ablations

        artifact = self.fit.once(histories)
        known = (PatternDetector(artifact), *ablations(artifact))
        self._detector = next(one for one in known if one.name == self.name)

    def examine(self, history: JobHistory) -> Examination:
        """Score the whole history. Raises ValueError before training."""
        if self._detector is None:
            raise ValueError(f"{self.name} has not been trained")
        return self._detector.examine(history)


def ours_and_variants(settings: FitSettings) -> Sequence[Variant]:
    """Ours first; untrained."""
    from paramedic.models.pattern.detector import PatternDetector

    fit, thresholds = SharedFit(settings), PatternDetector().thresholds
    return [Variant(name, fit, thresholds) for name in (OURS, *LEFT_OUT)]
