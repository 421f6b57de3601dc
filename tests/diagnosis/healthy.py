"""Long healthy jobs, made fast: the seconds of every rank as arrays, judged slot by slot.

What is simulated is what healthy machines do: noise that is correlated from second to second, now
and then a heavy tail, seconds in which the whole machine is slow, ranks that drift, one rank that
is always slower, pairs of ranks that take processor time from each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.settings import StragglerSettings
from paramedic.diagnosis.straggler import StragglerWatch
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.contract import AnomalyScores
from paramedic.models.peer_deviation import PeerDeviationConfig

Array = NDArray[np.float64]
SLOTS_PER_DAY = 86_400
_WINDOW = 60
_METRICS = ("compute_seconds", "collective_seconds")


@dataclass(frozen=True)
class Healthy:
    """One kind of healthy job."""

    ranks: int = 4
    noise: float = 0.1
    """Standard deviation of a rank's compute seconds from slot to slot, as a share."""
    correlation: float = 0.4
    degrees_of_freedom: float = math.inf
    """Of the noise's Student distribution: 3 is a heavy tail."""
    machine_slow_share: float = 0.0
    """Share of seconds in which the whole machine is 1.5 to 3 times as slow, each rank a little
    differently."""
    drift: float = 0.0
    """Standard deviation of each rank's slow wander, as a share; it comes back within hours. One
    that stays 15 % slower than its peers is no longer healthy, and is named."""
    always_slower: float = 0.0
    """Rank 0 is always slower by this share."""
    paired: float = 0.0
    """Ranks 2i and 2i + 1 share cores: what one has more by this share, the other has less."""

    def compute_seconds(self, slots: int, seed: int) -> Array:
        """Compute seconds, by slot and rank."""
        rng = np.random.default_rng(seed)
        shares = self.noise * self._noise(rng, slots)
        shares += self.drift * _correlated(rng.normal(size=(slots, self.ranks)), 1 - 1 / 3600)
        shares[:, 0] += math.log1p(self.always_slower)
        between = self.paired * _correlated(rng.normal(size=(slots, self.ranks // 2)), 0.8)
        shares += np.stack([between, -between], axis=2).reshape(slots, self.ranks)
        work = 0.25 * np.exp(shares + rng.normal(0, 0.05, (slots, 1)))
        slow = rng.random(slots) < self.machine_slow_share
        work[slow] *= rng.uniform(1.5, 3.0, (slow.sum(), 1))
        work[slow] *= np.exp(rng.normal(0, 0.2, (slow.sum(), self.ranks)))
        return work

    def _noise(self, rng: np.random.Generator, slots: int) -> Array:
        shape = (slots, self.ranks)
        if math.isinf(self.degrees_of_freedom):
            return _correlated(rng.normal(size=shape), self.correlation)
        scale = math.sqrt((self.degrees_of_freedom - 2) / self.degrees_of_freedom)
        return _correlated(scale * rng.standard_t(self.degrees_of_freedom, shape), self.correlation)


def _correlated(fresh: Array, correlation: float) -> Array:
    """First-order autoregressive noise of the same variance."""
    noise = fresh.copy()
    keep = math.sqrt(1 - correlation**2)
    for at in range(1, len(fresh)):
        noise[at] = correlation * noise[at - 1] + keep * fresh[at]
    return noise


def scores(work: Array) -> Iterator[AnomalyScores]:
    """The model's scores of every slot that has a full window before it."""
    slots, ranks = work.shape
    model = PeerDeviationConfig().build()
    waits = work.max(axis=1, keepdims=True) + 0.01 - work
    values = np.ascontiguousarray(np.stack([work, waits], axis=0).transpose(2, 0, 1))
    observed = np.ones((ranks, len(_METRICS), _WINDOW), dtype=np.bool_)
    rows = tuple(EntityKey(Entity.RANK, NodeName(f"node-{r:04d}"), r) for r in range(ranks))
    for first in range(slots - _WINDOW + 1):
        part = values[:, :, first : first + _WINDOW]
        window = Window(JobName("h"), 0, Entity.RANK, first, rows, _METRICS, part, observed)
        yield model.score(window)


def alarms(work: Array, settings: Sequence[StragglerSettings]) -> list[int]:
    """How often somebody is accused under each of these settings; all begins anew after it."""
    watches = [StragglerWatch(one) for one in settings]
    counts = [0] * len(watches)
    for score in scores(work):
        for at, watch in enumerate(watches):
            if watch.weigh(score):
                counts[at] += 1
                watch.restart()
    return counts


def slots_to_name(kind: Healthy, ratio: float, seed: int) -> int:
    """Slots from the moment at which rank 1 becomes so many times slower until it is accused."""
    work = kind.compute_seconds(_WINDOW + 200, seed)
    work[_WINDOW + 20 :, 1] *= ratio
    watch = StragglerWatch(StragglerSettings())
    for score in scores(work):
        accused = watch.weigh(score)
        if accused:
            assert accused[0].row.index == 1
            assert accused[0].trail.symptom.fault is Fault.STRAGGLER
            return score.second - _WINDOW - 20 + 1
    return 10**9


KINDS = {
    "quiet": Healthy(noise=0.03),
    "usual": Healthy(),
    "noisy": Healthy(noise=0.2),
    "wandering": Healthy(correlation=0.6),
    "heavy tail": Healthy(degrees_of_freedom=3),
    "busy machine": Healthy(machine_slow_share=0.05),
    "drifting": Healthy(drift=0.05),
    "one always slower": Healthy(always_slower=0.1),
    "shared cores": Healthy(paired=0.1),
    "8 ranks": Healthy(ranks=8, degrees_of_freedom=4),
    "64 ranks": Healthy(ranks=64, degrees_of_freedom=4),
}


def with_rate(false_alarms_per_job_day: float) -> StragglerSettings:
    return replace(StragglerSettings(), false_alarms_per_job_day=false_alarms_per_job_day)
