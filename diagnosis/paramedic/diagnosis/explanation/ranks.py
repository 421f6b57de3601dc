"""How the evidence of slowness stands against each rank of a node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.materiality import LEAST_SHARE
from paramedic.diagnosis.recent import recent_means
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.diagnosis.straggler import StragglerWatch
    from paramedic.diagnosis.trails import Trail
    from paramedic.ingest.contract import NodeName, Window

_LATELY_SECONDS = 30
_ALIKE = 1.05
"""Who takes so many times as long as the others takes no longer."""


@dataclass(frozen=True, slots=True)
class RankEvidence:
    """What the standing of ranks is read from."""

    watch: StragglerWatch
    settings: StragglerSettings
    picture: JobPicture
    second: int | None
    """The newest closed slot."""
    window: Window | None = None
    """What ranks have told that ends in it."""

    def of(self, node: NodeName) -> Iterator[Standing]:
        """Each rank of the node by each symptom."""
        gate = why_not_compared(node, self.picture, self.second, self.settings)
        trails = self.watch.trails_of(node)
        for row, trail in trails:
            yield self._of_trail(row, trail, gate)
        if not trails:
            note = gate or "no rank of it has told of its steps"
            key = EntityKey(Entity.NODE, node)
            yield Standing(key, Tier.PATTERN, "slowness", None, None, note=note)

    def _of_trail(self, row: EntityKey, trail: Trail, gate: str) -> Standing:
        notes = [self._what(row, trail), f"not compared now: {gate}" if gate else ""]
        return Standing(
            row,
            Tier.PATTERN,
            trail.symptom.metric,
            trail.score,
            trail.level,
            since=moment(trail.onset_second) if trail.score > 0 else None,
            note="; ".join(note for note in notes if note),
            unit="standard deviations added up",
        )

    def _what(self, row: EntityKey, trail: Trail) -> str:
        symptom = trail.symptom
        own, peers = trail.value, trail.peers
        if trail.score == 0:
            own, peers = self._lately(row, symptom.metric)
        if math.isnan(own) or math.isnan(peers):
            return "it, or everybody else, has told of no such time lately"
        measure = measure_of(symptom.metric, max(own, peers))
        mine, theirs = f"{measure.text(own)} a step against", measure.text(peers)
        if trail.score == 0 and own <= _ALIKE * peers:
            return f"it {symptom.wording} no longer than its peers ({mine} {theirs})"
        words = f"{mine} {theirs} of its peers"
        if own - peers < LEAST_SHARE * trail.peers_step_seconds:
            return f"{words}, which is too small a part of the whole step to matter"
        if trail.waiting > self.settings.longest_wait_deviation:
            return f"{words}; it waits for others itself, so it counts as a victim"
        return words if trail.score > 0 else f"{words}, of which nothing has added up yet"

    def _lately(self, row: EntityKey, metric: str) -> tuple[float, float]:
        """Of the rank, and the middle of the others, in the last half minute; NaN: not told."""
        window = self.window
        if window is None or metric not in window.metrics or row not in window.rows:
            return math.nan, math.nan
        means = recent_means(window, metric, max(1, _LATELY_SECONDS // window.slot_seconds))
        at = window.rows.index(row)
        others = np.delete(means, at)
        known = others[np.isfinite(others)]
        return float(means[at]), float(np.median(known)) if known.size else math.nan
