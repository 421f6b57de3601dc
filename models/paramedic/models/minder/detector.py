"""Minder as a detector that can be compared, called every eight minutes or every second.

history ─seven metrics, scaled─▶ aligned windows ─encoder─▶ distances ─▶ candidates   (examine)
candidates above the threshold ─continuity, metric by metric─▶ declared at a pull     (alarms)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.minder.alignment import Aligned
from paramedic.models.minder.candidates import Candidates, find_candidates
from paramedic.models.minder.continuity import TrackWatch, declared
from paramedic.models.minder.dissimilarity import Distance
from paramedic.models.minder.encoding import Encoder, VaePerMetric
from paramedic.models.minder.metrics import Limits, seven
from paramedic.models.minder.priority import order_by_tree
from paramedic.models.minder.samples import Samples
from paramedic.models.telling import QUIET_SECONDS, told_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paramedic.ingest.contract import NodeName
    from paramedic.models.detection import Alarm, MarkedHistory
    from paramedic.models.history import JobHistory

PULL_SECONDS = 900
"""A pull looks back so far."""
CALL_SECONDS = 480
CONTINUITY_SECONDS = 240
THRESHOLDS = (
    0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 2.75, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0,
)  # fmt: skip
"""Of the z-score; which one the paper uses is not known."""


@dataclass(frozen=True, slots=True)
class MinderExamination:
    """The candidates of one history (an Examination)."""

    seconds: range
    nodes: tuple[NodeName, ...]
    tracks: tuple[Candidates, ...]
    """In the order of priority."""
    every_seconds: int
    continuity_seconds: int

    def alarms(self, threshold: float) -> Sequence[Alarm]:
        """Whom the pulls declare. From one pull to the next nobody is quiet."""
        return told_once(self._declared(threshold), max(QUIET_SECONDS, self.every_seconds))

    def _declared(self, threshold: float) -> Iterator[tuple[int, NodeName, float]]:
        width = self.seconds.step
        needed = max(1, math.ceil(self.continuity_seconds / width))
        reach = max(1, PULL_SECONDS // width)
        watches = [TrackWatch(track, threshold, needed, reach) for track in self.tracks]
        watches = [watch for watch in watches if not watch.is_hopeless]
        for slot, second in enumerate(self.seconds if watches else ()):
            if (second + width) % self.every_seconds < width:
                found = declared(watches, slot)
                if found is not None:
                    yield second, self.nodes[found[0]], found[1]


@dataclass(slots=True)
class MinderDetector:
    """One row of a comparison (a FaultyMachineDetector)."""

    every_seconds: int = CALL_SECONDS
    name: str = ""
    encoder: Encoder = field(default_factory=VaePerMetric)
    distance: Distance = Distance.EUCLIDEAN
    continuity_seconds: int = CONTINUITY_SECONDS
    """Zero: a single window is enough."""
    thresholds: Sequence[float] = THRESHOLDS
    limits: Limits = field(default_factory=Limits.nothing_seen)
    order: tuple[int, ...] = ()
    """Tracks by priority; the paper's order until it is learnt anew."""

    def __post_init__(self) -> None:
        self.name = self.name or ("minder_every_second" if self.every_seconds == 1 else "minder")
        self.order = self.order or tuple(range(self.encoder.tracks))

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Learn the limits of metrics that have none by nature, and the encoder."""
        samples = Samples.of(seven(history) for history in histories)
        self.limits = samples.limits
        self.encoder.train(samples.scaled())

    def train_on_labels(self, examples: Sequence[MarkedHistory]) -> None:
        """Learn the priority of metrics, if there are several, from slots that close a window."""
        if self.encoder.tracks == 1:
            return
        features, labels = [], []
        for one in examples:
            tracks = self._candidates(one.history)
            features.append(np.stack([track.first.z for track in tracks], axis=-1))
            labels.append(one.is_faulty[len(one.is_faulty) - len(features[-1]) :])
        if any(len(one) for one in features):
            self.order = order_by_tree(np.concatenate(features), np.concatenate(labels))

    def examine(self, history: JobHistory) -> MinderExamination:
        """The candidates of every window."""
        tracks = self._candidates(history)
        by_priority = tuple(tracks[track] for track in self.order)
        return MinderExamination(
            history.seconds,
            history.nodes,
            by_priority,
            self.every_seconds,
            self.continuity_seconds,
        )

    def _candidates(self, history: JobHistory) -> tuple[Candidates, ...]:
        aligned = Aligned.of(self.limits.scaled(seven(history).values))
        return find_candidates(aligned, self.encoder, self.distance)
