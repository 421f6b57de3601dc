"""How the evidence of slowness stands against each rank of a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.diagnosis.straggler import StragglerWatch
    from paramedic.diagnosis.trails import Trail
    from paramedic.ingest.contract import NodeName


@dataclass(frozen=True, slots=True)
class RankEvidence:
    """What the standing of ranks is read from."""

    watch: StragglerWatch
    settings: StragglerSettings
    picture: JobPicture
    second: int | None
    """The newest closed slot."""

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
        notes = [self._what(trail), f"not compared now: {gate}" if gate else ""]
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

    def _what(self, trail: Trail) -> str:
        if trail.score == 0:
            return f"it {trail.symptom.wording} no longer than its peers"
        value, peers = trail.value, trail.peers
        measure = measure_of(trail.symptom.metric, max(value, peers))
        words = f"{measure.text(value)} a step against {measure.text(peers)} of its peers"
        if trail.waiting > self.settings.longest_wait_deviation:
            return f"{words}; it waits for others itself, so it counts as a victim"
        return words
