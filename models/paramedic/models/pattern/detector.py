"""Our detector as the benchmark compares it: pattern scores, and a plain peer CUSUM on top."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.detection import Alarm
from paramedic.models.pattern.errors import TrainingError
from paramedic.models.pattern.following import evidence_of
from paramedic.models.pattern.scorer import PatternReader
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.telling import Telling
from paramedic.models.training.fit_settings import FitSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.pattern.evidence import Evidence


class TrainedOnce:
    """A model that several detectors share: the first that is trained fits it for all."""

    def __init__(self, artifact: PatternArtifact | None, settings: FitSettings) -> None:
        self._settings = settings
        self.artifact = artifact

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Fit the model, unless there is one."""
        from paramedic.models.training.fitting import fit

        if self.artifact is None:
            self.artifact = fit(list(histories), self._settings)


class PatternDetector:
    """A FaultyMachineDetector; with an artifact it is trained already."""

    def __init__(
        self,
        artifact: PatternArtifact | None = None,
        name: str = "paramedic",
        left_out: Mapping[str, bool] | None = None,
        fit_settings: FitSettings | None = None,
    ) -> None:
        """`left_out`: settings of the pattern model that are other than trained, for ablations."""
        self.name = name
        self.thresholds: Sequence[float] = tuple(np.geomspace(20, 5000, 41).round(1).tolist())
        self.model = TrainedOnce(artifact, fit_settings or FitSettings())
        self._left_out = dict(left_out or {})

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Fit a model, unless one was given."""
        self.model.train(histories)

    def examine(self, history: JobHistory) -> PatternExamination:
        """Score the whole history. Raises TrainingError before training."""
        return examine(self._reader, history)

    @cached_property
    def _reader(self) -> PatternReader:
        artifact = self.model.artifact
        if artifact is None:
            raise TrainingError(f"{self.name} has no model yet: train it, or give it an artifact")
        settings = PatternSettings.of({**artifact.settings, **self._left_out})
        return PatternReader(artifact, settings)


def examine(reader: PatternReader, history: JobHistory) -> PatternExamination:
    """Evidence against every machine in every slot of a history."""
    evidence = evidence_of(reader, history)
    return PatternExamination(history.nodes, history.seconds, evidence, reader.settings)


@dataclass(frozen=True)
class PatternExamination:
    """Evidence over a history; thresholds are applied to it."""

    nodes: tuple[NodeName, ...]
    seconds: range
    evidence: Evidence
    settings: PatternSettings

    def alarms(self, threshold: float) -> list[Alarm]:
        """Who is accused when, in the order of seconds."""
        nats = self.evidence.nats
        accused = self._accused(threshold)
        found, telling = [], Telling()
        for slot in np.flatnonzero(accused.any(axis=1)).tolist():
            second = self.seconds[slot]
            here = {self.nodes[at]: at for at in np.flatnonzero(accused[slot]).tolist()}
            news = [here[node] for node in telling.news(second, here)]
            if news:
                found.append(self._alarm(slot, news, float(nats[slot, news].max())))
        return found

    def _accused(self, threshold: float) -> NDArray[np.bool_]:
        """Everyone whose evidence is high and near the highest, unless that is a crowd."""
        nats, settings = self.evidence.nats, self.settings
        most = nats.max(axis=1, keepdims=True, initial=0.0)
        accused = nats >= np.maximum(threshold, settings.accused_share * most)
        crowd = max(1.0, settings.largest_crowd_share * len(self.nodes))
        kept: NDArray[np.bool_] = accused & (accused.sum(axis=1, keepdims=True) <= crowd)
        return kept

    def _alarm(self, slot: int, news: list[int], score: float) -> Alarm:
        gpu = int(self.evidence.gpu[slot, news[0]]) if len(news) == 1 else -1
        names = tuple(sorted(self.nodes[at] for at in news))
        return Alarm(self.seconds[slot], names, score, gpu=None if gpu < 0 else gpu)


_ABLATIONS: Mapping[str, Mapping[str, bool]] = {
    "paramedic_scores": {},
    "paramedic_no_network": {"use_network": False},
    "paramedic_no_calibration": {"use_network": False, "use_calibration": False},
    "paramedic_no_own_past": {"use_own_past": False},
    "paramedic_whole_job": {"use_roles": False},
    "paramedic_single_metric": {"add_metrics": False},
}


def pattern_detectors(
    artifact: PatternArtifact | None = None, fit_settings: FitSettings | None = None
) -> tuple[PatternDetector, ...]:
    """The detector, then without one of its ideas at a time; all share one model."""
    found = tuple(
        PatternDetector(artifact, name, left_out, fit_settings)
        for name, left_out in _ABLATIONS.items()
    )
    for one in found[1:]:
        one.model = found[0].model
    return found
