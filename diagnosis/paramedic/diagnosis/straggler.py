"""Finds the rank that makes the others wait: evidence adds up slot by slot until it is safe.

Each rank and symptom has one sequential test on its deviation from the peers. In a synchronous job
all step times grow alike, so only a rank's own work (computing, loading data) can accuse it; time
in collectives is waiting, which marks the victims.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paramedic.diagnosis.noise import Wander, noise_of_others
from paramedic.diagnosis.sequential import Noise, decision_level
from paramedic.diagnosis.symptoms import SYMPTOMS, WAITING_METRIC, Symptom

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.ingest.contract import EntityKey, NodeName
    from paramedic.models.contract import AnomalyScores


_SLOW_SLOT_UNDOES = 2
"""Noise makes one slot in six of a healthy rank look slow; a run without any would hardly come."""


@dataclass(slots=True)
class Mean:
    """A running mean that passes over what was not observed."""

    total: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        """Take a value in, unless it is NaN."""
        if not math.isnan(value):
            self.total += value
            self.count += 1

    @property
    def value(self) -> float:
        """The mean, NaN before the first value."""
        return self.total / self.count if self.count else math.nan


class _Seen(NamedTuple):
    """One rank in one slot; NaN for what was not observed."""

    value: float
    peers: float
    deviation: float
    waiting: float
    waited: float
    peers_waited: float


@dataclass(slots=True)
class Trail:
    """The evidence against one rank by one symptom, since it last stood at zero."""

    symptom: Symptom
    score: float = 0.0
    level: float = 0.0
    """What would have decided in the newest slot."""
    onset_second: int = 0
    healthy_slots: int = 0
    """Slots without slowness; a slow one takes two of them back."""
    value: Mean = field(default_factory=Mean)
    peers: Mean = field(default_factory=Mean)
    deviation: Mean = field(default_factory=Mean)
    waiting: Mean = field(default_factory=Mean)
    """Deviation of the time in collectives over the same slots."""
    waited: Mean = field(default_factory=Mean)
    peers_waited: Mean = field(default_factory=Mean)

    def take(self, seen: _Seen) -> None:
        """Add what was seen of the rank in a slot to the means."""
        self.value.add(seen.value)
        self.peers.add(seen.peers)
        self.deviation.add(seen.deviation)
        self.waiting.add(seen.waiting)
        self.waited.add(seen.waited)
        self.peers_waited.add(seen.peers_waited)

    def begin(self, second: int) -> None:
        """Evidence leaves zero in this slot."""
        self.onset_second = second
        self.value, self.peers, self.deviation = Mean(), Mean(), Mean()
        self.waiting, self.waited, self.peers_waited = Mean(), Mean(), Mean()


@dataclass(frozen=True, slots=True)
class Slowness:
    """A rank whose evidence has reached the level."""

    row: EntityKey
    trail: Trail
    level: float
    noise: Noise
    """What the level was set by."""
    second: int
    """The slot that decided."""
    peers: int
    """How many others were observed in it."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """Scores of one slot by metric; a metric that the job does not send is NaN everywhere."""

    scores: AnomalyScores

    def seen(self, metric: str) -> list[_Seen]:
        """Every rank by this metric. All at once: a number taken out of an array is slow."""
        columns = [
            column(name).tolist()
            for name in (metric, WAITING_METRIC)
            for column in (self.value, self.peers, self.deviation)
        ]
        value, peers, deviation, waited, peers_waited, waiting = columns
        return list(map(_Seen, value, peers, deviation, waiting, waited, peers_waited))

    def deviation(self, metric: str) -> NDArray[np.float64]:
        return self._column(self.scores.deviation, metric)

    def value(self, metric: str) -> NDArray[np.float64]:
        return self._column(self.scores.value, metric)

    def peers(self, metric: str) -> NDArray[np.float64]:
        return self._column(self.scores.peers, metric)

    def _column(self, array: NDArray[np.float64], metric: str) -> NDArray[np.float64]:
        if metric not in self.scores.metrics:
            return np.full(len(self.scores.rows), np.nan)
        column: NDArray[np.float64] = array[:, self.scores.metrics.index(metric)]
        return column


class StragglerWatch:
    """The sequential tests of one job's ranks."""

    def __init__(self, settings: StragglerSettings) -> None:
        self._settings = settings
        self._trails: dict[tuple[EntityKey, str], Trail] = {}
        self._wanders: dict[tuple[EntityKey, str], Wander] = {}

    def restart(self) -> None:
        """Forget all evidence: ranks have moved, nothing of before speaks of now.

        What is known of the noise of those who stay is kept.
        """
        self._wanders = {row: w for row, w in self._wanders.items() if row in self._trails}
        for wander in self._wanders.values():
            wander.restart()
        self._trails.clear()

    def weigh(self, scores: AnomalyScores) -> list[Slowness]:
        """Add a slot to the evidence; returns the ranks whose evidence has reached the level."""
        slot = _Slot(scores)
        return [
            slowness
            for symptom in SYMPTOMS
            for slowness in self._weigh_symptom(symptom, slot)
            if not self._is_victim(slowness.trail)
        ]

    def suspicion(self) -> dict[EntityKey, float]:
        """The strongest evidence against each rank."""
        found: dict[EntityKey, float] = {}
        for (row, _), trail in self._trails.items():
            found[row] = max(found.get(row, 0.0), trail.score)
        return found

    def trails_of(self, node: NodeName) -> list[tuple[EntityKey, Trail]]:
        """The evidence against each rank of the node, by each symptom."""
        return [(row, trail) for (row, _), trail in self._trails.items() if row.node == node]

    def is_well(self, node: NodeName) -> bool:
        """Whether the node's ranks were without slowness for long enough, by every symptom."""
        trails = [trail for (owner, _), trail in self._trails.items() if owner.node == node]
        enough = self._settings.healthy_slots_to_resolve
        return bool(trails) and all(trail.healthy_slots >= enough for trail in trails)

    def _level(self, ranks: int, noise: Noise) -> float:
        settings = self._settings
        tests = ranks * len(SYMPTOMS)
        return decision_level(settings.false_alarms_per_job_day, tests, settings.allowance, noise)

    def _weigh_symptom(self, symptom: Symptom, slot: _Slot) -> Iterator[Slowness]:
        """Adds the slot to the evidence of those observed in it, and yields who reaches the level.

        Nobody else is accused by it: whoever was not observed may have left.
        """
        deviation = symptom.worse * slot.deviation(symptom.metric)
        if self._is_turmoil(deviation):
            return
        rows, second, seen = slot.scores.rows, slot.scores.second, slot.seen(symptom.metric)
        increments = self._increments(symptom, deviation, slot).tolist()
        peers = sum(not math.isnan(one.value) for one in seen) - 1
        levels: dict[Noise, float] = {}
        for at, noise in self._noises(symptom, deviation, slot):
            if noise not in levels:
                levels[noise] = self._level(len(rows), noise)
            trail = self._trails.get((rows[at], symptom.metric))
            if trail is None:
                trail = self._trails[rows[at], symptom.metric] = Trail(symptom)
            trail.level = levels[noise]
            self._add(trail, increments[at], levels[noise], second)
            trail.take(seen[at])
            if trail.score >= levels[noise]:
                yield Slowness(rows[at], trail, levels[noise], noise, second, peers)

    def _noises(
        self, symptom: Symptom, deviation: NDArray[np.float64], slot: _Slot
    ) -> Iterator[tuple[int, Noise]]:
        """The noise to judge each observed rank by; the slot is added to what is measured."""
        least = Noise.correlated(self._settings.noise_correlation)
        limit = self._settings.largest_deviation
        clipped = np.clip(deviation, -limit, limit).tolist()
        known = np.flatnonzero(~np.isnan(deviation)).tolist()
        keys = [(slot.scores.rows[at], symptom.metric) for at in known]
        wanders = [self._wanders.setdefault(key, Wander(least.wander**2)) for key in keys]
        for at, wander in zip(known, wanders, strict=True):
            wander.add(clipped[at])
        return zip(known, noise_of_others(wanders, least), strict=True)

    def _is_turmoil(self, deviation: NDArray[np.float64]) -> bool:
        known = deviation[~np.isnan(deviation)]
        far_out = np.count_nonzero(np.abs(known) >= self._settings.turmoil_deviation)
        return bool(2 * far_out > known.size)

    def _increments(
        self, symptom: Symptom, deviation: NDArray[np.float64], slot: _Slot
    ) -> NDArray[np.float64]:
        """What the slot adds for each rank: clipped, and nothing for what does not matter.

        NaN where the rank was not observed: absence neither accuses nor clears here.
        """
        excess = symptom.worse * (slot.value(symptom.metric) - slot.peers(symptom.metric))
        own, other = slot.peers(symptom.metric), slot.peers(symptom.yardstick)
        yardstick = np.abs(np.where(np.isnan(other), own, other))
        matters = excess >= (self._settings.smallest_slowdown_ratio - 1) * yardstick
        limit = self._settings.largest_deviation
        added = np.clip(deviation, -limit, limit) - self._settings.allowance
        return np.where(matters | np.isnan(added), added, np.minimum(added, 0.0))

    def _add(self, trail: Trail, increment: float, level: float, second: int) -> None:
        change = 1 if increment <= 0 else -_SLOW_SLOT_UNDOES
        enough = self._settings.healthy_slots_to_resolve
        trail.healthy_slots = min(enough, max(0, trail.healthy_slots + change))
        if trail.score == 0.0 and increment > 0:
            trail.begin(second)
        # Twice the level is kept at most, so that a rank that recovers is clear in finite time.
        trail.score = min(2 * level, max(0.0, trail.score + increment))

    def _is_victim(self, trail: Trail) -> bool:
        """Whether the rank has itself been waiting for others; unknown counts as no."""
        return trail.waiting.value > self._settings.longest_wait_deviation
