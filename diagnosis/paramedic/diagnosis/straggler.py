"""Finds the rank that makes the others wait: evidence adds up slot by slot until it is safe.

Each rank and symptom has one sequential test on its deviation from the peers. In a synchronous job
all step times grow alike, so only a rank's own work (computing, loading data) can accuse it; time
in collectives is waiting, which marks the victims. A small part of the step may take many times
as long and cost nobody anything: what is lost has to be a share of the whole step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.materiality import LEAST_SHARE
from paramedic.diagnosis.node_evidence import SUSPECT
from paramedic.diagnosis.noise import NoiseMemory
from paramedic.diagnosis.sequential import Noise, decision_level, largest_in_step
from paramedic.diagnosis.symptoms import (
    PARTS_OF_STEP,
    STEP_METRIC,
    SYMPTOMS,
    WAITING_METRIC,
    Symptom,
)
from paramedic.diagnosis.trails import LANES, Trail, Trails

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.ingest.contract import EntityKey, NodeName
    from paramedic.models.contract import AnomalyScores


_FEWEST_HEALTHY_SLOTS = 10
"""So many say that a rank is well, however far apart they are."""


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
    beside: tuple[int, ...] = ()
    """The ranks of the same node that are suspected of the same."""
    others_of_node: int = 0
    """How many there are besides this one."""

    @property
    def lost_seconds(self) -> float:
        """How much longer all its steps have taken since evidence began."""
        trail = self.trail
        extra = trail.symptom.worse * (trail.value - trail.peers)
        whole = trail.peers_step_seconds + extra
        return extra / whole * (self.second - trail.onset_second + 1) if whole > 0 else math.inf

    @property
    def is_of_node(self) -> bool:
        """Whether most ranks of the node are slow, so that it is what they share."""
        return bool(self.beside) and 2 * (len(self.beside) + 1) > self.others_of_node + 1


@dataclass(frozen=True)
class _Slot:
    """Scores of one slot by metric; a metric that the job does not send is NaN everywhere."""

    scores: AnomalyScores
    telling: NDArray[np.bool_]
    """Of whom the slot is evidence."""

    def seen(self, metric: str, which: NDArray[np.intp]) -> NDArray[np.float64]:
        """What is seen of these ranks by this metric, (one of `Seen`, rank)."""
        columns = (
            self.value(metric),
            self.peers(metric),
            self.deviation(metric),
            self.deviation(WAITING_METRIC),
            self.value(WAITING_METRIC),
            self.peers(WAITING_METRIC),
            self.peers_step,
        )
        return np.array([column[which] for column in columns])

    @cached_property
    def peers_step(self) -> NDArray[np.float64]:
        """How long a step takes the peers: as they tell, or all that they tell of it together."""
        told = self.peers(STEP_METRIC)
        is_told = ~np.isnan(told)
        if is_told.all():
            return told
        parts = np.stack([self.peers(one) for one in PARTS_OF_STEP])
        known = np.where(np.isnan(parts).all(axis=0), np.nan, np.nansum(parts, axis=0))
        return np.where(is_told, told, known)

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
    """The sequential tests of one job's ranks.

    Whoever is not heard of any more stays until the next restart.
    """

    def __init__(self, settings: StragglerSettings) -> None:
        self._settings = settings
        self._trails = Trails(settings.healthy_slots_to_resolve)
        self._noise = NoiseMemory(Noise.correlated(settings.noise_correlation))
        self._rows: tuple[EntityKey, ...] = ()
        """Whose trails and noise these are, in the order in which they came."""
        self._of_node: dict[NodeName, list[int]] = {}
        """Which of them are whose."""
        self._met: tuple[EntityKey, ...] = ()
        self._places = np.zeros(0, np.intp)
        """Where those who were met last are among the rows."""
        self._turmoil: dict[str, float] = {}
        """Of each symptom that most ranks were far out in when it was last heard of: how many."""

    def restart(self) -> None:
        """Forget all evidence: ranks have moved, nothing of before speaks of now.

        What is known of the noise of those who stay is kept.
        """
        stays = self._trails.known & self._noise.known
        self._trails.clear()
        self._noise.restart(stays)
        self._turmoil.clear()
        some = np.flatnonzero(stays.any(axis=0)).tolist()
        self._arrange(tuple(self._rows[at] for at in some))

    def weigh(
        self, scores: AnomalyScores, telling: NDArray[np.bool_] | None = None
    ) -> list[Slowness]:
        """Add a slot to the evidence; returns the ranks whose evidence has reached the level.

        Who is not among those who are telling (None: all are) is only there as a peer.
        """
        self._meet(scores.rows)
        slot = _Slot(scores, np.ones(len(scores.rows), np.bool_) if telling is None else telling)
        return [
            slowness
            for lane in range(len(SYMPTOMS))
            for slowness in self._weigh_symptom(lane, slot)
            if not self._is_victim(slowness.trail) and _is_material(slowness.trail)
        ]

    def suspicion(self) -> dict[EntityKey, float]:
        """The strongest evidence against each rank, where there is any."""
        strongest = self._trails.scores.max(axis=0)
        suspects = np.flatnonzero(strongest > 0)
        found = zip(suspects.tolist(), strongest[suspects].tolist(), strict=True)
        return {self._rows[at]: score for at, score in found}

    def trails_of(self, node: NodeName) -> list[tuple[EntityKey, Trail]]:
        """The evidence against each rank of the node, by each symptom."""
        known = self._trails.known
        return [
            (self._rows[at], self._trails.trail(lane, at))
            for lane in range(len(SYMPTOMS))
            for at in self._of_node.get(node, ())
            if known[lane, at]
        ]

    def turmoil_of(self, symptom: Symptom) -> float | None:
        """The share of the ranks that are far out, where that is most: it befalls the job."""
        return self._turmoil.get(symptom.metric)

    def is_well(self, node: NodeName, slot_seconds: int) -> bool:
        """Whether the node's ranks were without slowness for long enough, by every symptom; not as
        long as evidence decides against one, or it would be accused again at once."""
        slots, enough = self.healthy_slots(node, slot_seconds)
        return slots is not None and slots >= enough

    def healthy_slots(self, node: NodeName, slot_seconds: int) -> tuple[float | None, float]:
        """For how many slots no rank of the node was slow, and how many are enough; none as long as
        evidence decides against one, and None where it has no ranks."""
        here = self._of_node.get(node, [])
        enough = max(_FEWEST_HEALTHY_SLOTS, self._settings.healthy_slots_to_resolve / slot_seconds)
        slots = self._trails.healthy_slots[:, here][self._trails.known[:, here]]
        if self._trails.decides[:, here].any():
            return 0.0, enough
        return (float(slots.min()) if slots.size else None), enough

    def _meet(self, rows: tuple[EntityKey, ...]) -> None:
        """Find the places of these rows; newcomers come last."""
        if rows is self._met:
            return
        self._arrange(tuple(dict.fromkeys((*self._rows, *rows))))
        places = {row: at for at, row in enumerate(self._rows)}
        self._places = np.array([places[row] for row in rows], np.intp)
        self._met = rows

    def _arrange(self, rows: tuple[EntityKey, ...]) -> None:
        self._trails.arrange(rows)
        self._noise.arrange(rows, LANES)
        self._rows, self._met, self._of_node = rows, (), {}
        for at, row in enumerate(rows):
            self._of_node.setdefault(row.node, []).append(at)

    def _weigh_symptom(self, lane: int, slot: _Slot) -> Iterator[Slowness]:
        """Adds the slot to the evidence of those observed in it, and yields who reaches the level.

        Nobody else is accused by it: whoever was not observed may have left.
        """
        symptom, rows, second = SYMPTOMS[lane], slot.scores.rows, slot.scores.second
        deviation = symptom.worse * slot.deviation(symptom.metric)
        there = np.flatnonzero(~np.isnan(deviation))
        here = there[slot.telling[there]]
        if not here.size:
            return
        self._turmoil.pop(symptom.metric, None)
        if self._is_turmoil(deviation, there, rows):
            far_out = np.abs(deviation[there]) >= self._settings.turmoil_deviation
            self._turmoil[symptom.metric] = float(far_out.mean())
            return
        wander = self._wander(lane, there, here, deviation[here])
        levels = self._levels(wander, len(rows))
        added = self._increments(symptom, deviation, slot)[here]
        seen = slot.seen(symptom.metric, here)
        scores = self._trails.add(lane, self._places[here], added, levels, seen, second)
        peers = int(np.count_nonzero(~np.isnan(slot.value(symptom.metric)))) - 1
        for at in np.flatnonzero(scores >= levels).tolist():
            trail = self._trails.trail(lane, int(self._places[here[at]]))
            noise, beside = Noise(float(wander[at])), self._beside(lane, rows[here[at]])
            slow = tuple(row.index for row, is_slow in beside if is_slow and row.index is not None)
            yield Slowness(
                rows[here[at]], trail, trail.level, noise, second, peers, slow, len(beside)
            )

    def _beside(self, lane: int, row: EntityKey) -> list[tuple[EntityKey, bool]]:
        """The other ranks of the node, and whether they are suspected by this symptom."""
        suspected = self._trails.strengths[lane] >= SUSPECT
        others = (at for at in self._of_node[row.node] if self._rows[at] != row)
        return [(self._rows[at], bool(suspected[at])) for at in others]

    def _wander(
        self,
        lane: int,
        there: NDArray[np.intp],
        here: NDArray[np.intp],
        deviation: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The noise to judge each rank of `here` by; their slot is added to what is measured."""
        limit = self._settings.largest_deviation
        self._noise.add(lane, self._places[here], np.clip(deviation, -limit, limit))
        wander = self._noise.wander_of_others(lane, self._places[there])
        if here.size == there.size:
            return wander
        return wander[np.isin(there, here, assume_unique=True)]

    def _levels(self, wander: NDArray[np.float64], ranks: int) -> NDArray[np.float64]:
        """The level for each noise, of which there are few: they are rounded."""
        settings, tests = self._settings, ranks * len(SYMPTOMS)
        found, which = (
            (wander[:1], np.zeros(wander.size, np.intp))
            if wander.min() == wander.max()  # as most often
            else np.unique(wander, return_inverse=True)
        )
        rate, allowance = settings.false_alarms_per_job_day, settings.allowance
        levels = [decision_level(rate, tests, allowance, Noise(one)) for one in found.tolist()]
        return np.array(levels)[which]

    def _is_turmoil(
        self,
        deviation: NDArray[np.float64],
        there: NDArray[np.intp],
        rows: tuple[EntityKey, ...],
    ) -> bool:
        """Whether most ranks that are there are far out; not where one node has all that are so
        the worse way.

        Beside all the ranks of one of two nodes those of the other are far out as well.
        """
        far_out = np.abs(deviation) >= self._settings.turmoil_deviation  # who is not there is not
        if 2 * np.count_nonzero(far_out) <= there.size:
            return False
        worse = np.flatnonzero(far_out & (deviation > 0)).tolist()
        return len({rows[at].node for at in worse}) != 1

    def _increments(
        self, symptom: Symptom, deviation: NDArray[np.float64], slot: _Slot
    ) -> NDArray[np.float64]:
        """What the slot adds for each rank: clipped, and nothing for what does not matter.

        NaN where the rank was not observed: absence neither accuses nor clears here.
        """
        excess = symptom.worse * (slot.value(symptom.metric) - slot.peers(symptom.metric))
        own, other = slot.peers(symptom.metric), slot.peers(symptom.yardstick)
        yardstick = np.abs(np.where(np.isnan(other), own, other))
        matters = excess >= np.fmax(
            (self._settings.smallest_slowdown_ratio - 1) * yardstick,
            LEAST_SHARE * slot.peers_step,
        )
        allowance = self._settings.allowance
        most = allowance + symptom.counts_ratio * (self._settings.largest_deviation - allowance)
        limit = largest_in_step(most, slot.peers_step)
        added = np.clip(deviation, -limit, limit) - allowance
        return np.where(matters | np.isnan(added), added, np.minimum(added, 0.0))

    def _is_victim(self, trail: Trail) -> bool:
        """Whether the rank has itself been waiting for others; unknown counts as no."""
        return trail.waiting > self._settings.longest_wait_deviation


def _is_material(trail: Trail) -> bool:
    """Whether what the rank takes longer is a share of the whole step that anybody would miss."""
    extra = trail.symptom.worse * (trail.value - trail.peers)
    return not extra < LEAST_SHARE * trail.peers_step_seconds
