"""How the evidence of slowness stands against each rank of a node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.excuses import Excuses, Hold
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
_MOST = 50.0
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
    excuses: Excuses = field(default_factory=Excuses)

    def of(self, node: NodeName) -> Iterator[Standing]:
        """Each rank of the node by each symptom."""
        gate = why_not_compared(self.picture, self.second, self.settings)
        gates = () if gate is None else (gate,)
        trails = self.watch.trails_of(node)
        for row, trail in trails:
            yield self._of_trail(row, trail, gates)
        if not trails:
            note = "" if gates else "no rank of it has told of its steps"
            key = EntityKey(Entity.NODE, node)
            yield Standing(key, Tier.PATTERN, "slowness", None, None, note=note, holds=gates)

    def _of_trail(self, row: EntityKey, trail: Trail, gates: tuple[Hold, ...]) -> Standing:
        is_begun = trail.score > 0
        times = (trail.value, trail.peers) if is_begun else self._lately(row, trail.symptom.metric)
        return Standing(
            row,
            Tier.PATTERN,
            trail.symptom.metric,
            trail.score,
            trail.level,
            since=moment(trail.onset_second) if is_begun else None,
            note=_what(trail, *times),
            unit="standard deviations added up",
            holds=(*gates, *self._excuse(row, trail), *self._holds(trail, *times)),
        )

    def _excuse(self, row: EntityKey, trail: Trail) -> Iterator[Hold]:
        """Why a rank that is slow enough is not accused."""
        if trail.score >= trail.level > 0 and self.second is not None:
            excuse = self.excuses.of(row.node, self.second)
            yield from () if excuse is None else (excuse,)

    def _holds(self, trail: Trail, own: float, peers: float) -> Iterator[Hold]:
        """What keeps a rank that takes longer than its peers from being accused."""
        if not trail.score > 0 and not own > _ALIKE * peers:
            return
        extra, step = trail.symptom.worse * (own - peers), trail.peers_step_seconds
        if 0 < extra < LEAST_SHARE * step:
            words = "what it takes longer is too small a part of the whole step to matter"
            yield Hold(words, 100 * extra / step, 100 * LEAST_SHARE, "% of a step")
        turmoil = self.watch.turmoil_of(trail.symptom)
        if turmoil is not None:
            words = "most ranks are far out, as when something befalls the job: that adds nothing"
            yield Hold(words, 100 * turmoil, _MOST, "% of the ranks")
        most = self.settings.longest_wait_deviation
        if trail.waiting > most:
            yield Hold(
                "it waits for others itself, so it counts as a victim, unless that is as usual as"
                " it is for its peers",
                trail.waiting, most, "standard deviations",
            )  # fmt: skip

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


def _what(trail: Trail, own: float, peers: float) -> str:
    """How long it takes, and how long its peers."""
    if math.isnan(own) or math.isnan(peers):
        return "it, or everybody else, has told of no such time lately"
    measure = measure_of(trail.symptom.metric, max(own, peers))
    mine, theirs = f"{measure.text(own)} a step against", measure.text(peers)
    if trail.score == 0 and own <= _ALIKE * peers:
        return f"it {trail.symptom.wording} no longer than its peers ({mine} {theirs})"
    words = f"{mine} {theirs} of its peers"
    return words if trail.score > 0 else f"{words}, of which nothing has added up yet"
