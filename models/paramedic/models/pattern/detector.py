"""Our detector as the benchmark compares it: pattern scores, and a plain peer CUSUM on top."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.detection import Alarm
from paramedic.models.pattern.evidence import Evidence, EvidenceStream
from paramedic.models.pattern.scorer import PatternReader
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.training.fit_settings import FitSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.artifact import PatternArtifact

_QUIET_SECONDS = 60


class PatternDetector:
    """A FaultyMachineDetector; with an artifact it is trained already."""

    def __init__(
        self,
        artifact: PatternArtifact | None = None,
        settings: PatternSettings | None = None,
        name: str = "paramedic",
        fit_settings: FitSettings | None = None,
    ) -> None:
        """`settings`: a variant of the decision; what the artifact was trained with by default."""
        self.name = name
        self.thresholds: Sequence[float] = tuple(np.geomspace(20, 5000, 41).round(1).tolist())
        self._fit_settings = fit_settings or FitSettings()
        self._settings = settings
        self._reader: PatternReader | None = None
        if artifact is not None:
            self._take(artifact)

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Fit a model, unless one was given."""
        from paramedic.models.training.fitting import fit

        if self._reader is None:
            self._take(fit(list(histories), self._fit_settings))

    def examine(self, history: JobHistory) -> PatternExamination:
        """Score the whole history. Raises TrainingError before training."""
        from paramedic.models.pattern.errors import TrainingError

        if self._reader is None:
            raise TrainingError(f"{self.name} has no model yet: train it, or give it an artifact")
        return examine(self._reader, history)

    def _take(self, artifact: PatternArtifact) -> None:
        kept = PatternSettings.of(artifact.settings)
        self._reader = PatternReader(artifact, kept if self._settings is None else self._settings)


def examine(reader: PatternReader, history: JobHistory) -> PatternExamination:
    """Evidence against every machine in every slot of a history."""
    scorer = reader.scorer(history.windows, history.description)
    stream = EvidenceStream(scorer.panels, history.nodes, reader.settings)
    slots = len(history.seconds)
    step = reader.settings.block_slots
    parts = [
        stream.advance(scorer.advance(history.windows, slice(at, min(at + step, slots))))
        for at in range(0, slots, step)
    ]
    nodes = len(history.nodes)
    evidence = Evidence(
        np.concatenate([np.zeros((0, nodes)), *(one.nats for one in parts)]),
        np.concatenate([np.zeros((0, nodes), np.int16), *(one.gpu for one in parts)]),
    )
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
        found, told_until = [], np.full(len(self.nodes), -np.inf)
        for slot in np.flatnonzero(accused.any(axis=1)).tolist():
            second = self.seconds[slot]
            here = np.flatnonzero(accused[slot])
            news = [int(at) for at in here if second - told_until[at] > _QUIET_SECONDS]
            told_until[here] = second
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


def ablations(artifact: PatternArtifact) -> tuple[PatternDetector, ...]:
    """The detector without one of its ideas at a time."""
    whole = PatternSettings.of(artifact.settings)
    left_out = {
        "paramedic_no_network": replace(whole, use_network=False),
        "paramedic_no_calibration": replace(whole, use_network=False, use_calibration=False),
        "paramedic_whole_job": replace(whole, use_roles=False),
        "paramedic_single_metric": replace(whole, add_metrics=False),
    }
    return tuple(PatternDetector(artifact, one, name) for name, one in left_out.items())
