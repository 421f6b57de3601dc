"""How fast the training goes: waiting for data, and throughput, against what is usual for the job.

Speeds are judged only while the job trains steadily and by steps that end, so that a pause is no
slow step; they are compared within one stretch of training, for another has another size. A drop
that a named machine explains is that machine's business.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from paramedic.diagnosis.application.claim import Claim, confidence_of, shown
from paramedic.diagnosis.application.learning import SERIES
from paramedic.diagnosis.application.rising import Rise, RiseRule
from paramedic.diagnosis.application.usual import Prior
from paramedic.diagnosis.contract import Fault, Phase, Severity
from paramedic.diagnosis.finding import moment

if TYPE_CHECKING:
    from paramedic.diagnosis.application.reading import JobSlot
    from paramedic.diagnosis.application.settings import ApplicationSettings
    from paramedic.diagnosis.contract import Evidence

_SHARE = Prior(deviation=0.5, weight=4.0, least_values=10)
_PACE = Prior(deviation=0.05, weight=4.0, least_values=20)
_LEAST_SHARE = 0.01
"""Loading that takes less than this share of a step takes no time."""
_SHARE_RISE = math.log(2)
_RISES_KEPT = 3
_FRESH_SECONDS = 15.0
_THROUGHPUT = "samples_per_second"
_DURATION = "step_seconds"


@dataclass(slots=True)
class FlowWatch:
    """Follows the speed of one job."""

    settings: ApplicationSettings
    loading: Rise = field(init=False)
    slowness: Rise = field(init=False)
    _metric: str = ""
    """What speed is measured by in this stretch: samples, or the length of steps."""
    _step: float = -math.inf
    _slot: JobSlot | None = None
    _rises: deque[float] = field(default_factory=lambda: deque(maxlen=_RISES_KEPT))
    """By how much slower than usual the newest slots were (logarithm)."""

    def __post_init__(self) -> None:
        rate = self.settings.false_alarms_per_job_day / SERIES
        calm = self.settings.healthy_observations_to_resolve
        self.loading = Rise(RiseRule(_SHARE, _SHARE_RISE, rate, calm))
        least = -math.log(1 - self.settings.least_drop_share)
        self.slowness = Rise(RiseRule(_PACE, least, rate, calm))

    def restart(self) -> None:
        """Another stretch of training has begun."""
        self.loading.restart()
        self.slowness.restart()
        self._metric = ""
        self._rises.clear()

    def follow(self, slot: JobSlot) -> bool:
        """Take a slot in; whether it says anything new."""
        if slot.step == self._step:
            return False
        self._step = slot.step if not math.isnan(slot.step) else self._step
        self._slot = slot
        if not math.isnan(slot.loading_share):
            share = math.log(max(slot.loading_share, _LEAST_SHARE))
            counts = slot.loading_share >= self.settings.least_stall_share
            self.loading.add(share, slot.second, counts=counts)
        pace = self._pace(slot)
        if not math.isnan(pace):
            self.slowness.add(pace, slot.second)
            if len(self.slowness.past.values) >= _PACE.least_values:
                self._rises.append(pace - self.slowness.usual)
        return True

    def is_fed(self) -> bool:
        """Whether data have long come as usual."""
        return self.loading.calm >= self.settings.healthy_observations_to_resolve

    def is_fast(self) -> bool:
        """Whether throughput has long been as usual."""
        return self.slowness.calm >= self.settings.healthy_observations_to_resolve

    def throughput_left(self, second: float) -> float:
        """The newest speed by the usual one; NaN while either is unknown, or of long ago."""
        slot = self._slot
        if slot is None or len(self._rises) < _RISES_KEPT:
            return math.nan
        longest = _FRESH_SECONDS if math.isnan(slot.step_seconds) else 2 * slot.step_seconds
        if second - slot.second > max(_FRESH_SECONDS, longest):
            return math.nan
        return math.exp(-median(self._rises))

    def stall(self) -> Claim | None:
        """Most ranks wait for data."""
        slot = self._slot
        if slot is None or not self.loading.is_on:
            return None
        seconds = slot.second - self.loading.since
        share = math.exp(self.loading.usual + self.loading.mean_rise)
        if seconds < self.settings.stall_seconds:
            return None
        is_grave = (
            share >= self.settings.grave_stall_share
            and seconds >= self.settings.grave_stall_seconds
        )
        usual = math.exp(self.loading.usual)
        since, deviation = self.loading.since, self.loading.deviation
        return self._claim(
            Fault.DATA_STALL,
            Severity.P1 if is_grave else Severity.P2,
            self.loading,
            f"waiting for data takes {_percent(share)} of a step in the median rank, for"
            f" {seconds} s; {_percent(usual)} or less was usual",
            shown("dataloader_seconds", share * slot.step_seconds, math.nan, deviation, since),
        )

    def drop(self) -> Claim | None:
        """The whole job is slower than it was."""
        slot = self._slot
        if slot is None or not self.slowness.is_on:
            return None
        lost = 1 - math.exp(-self.slowness.mean_rise)
        seconds = slot.second - self.slowness.since
        is_grave = lost > self.settings.grave_drop_share
        needed = self.settings.grave_drop_seconds if is_grave else self.settings.drop_seconds
        if seconds < needed or lost < self.settings.least_drop_share:
            return None
        sign = -1.0 if self._metric == _THROUGHPUT else 1.0
        value, usual = getattr(slot, self._metric), math.exp(sign * self.slowness.usual)
        deviation = sign * self.slowness.deviation
        return self._claim(
            Fault.THROUGHPUT_DROP,
            Severity.P0 if is_grave else Severity.P2,
            self.slowness,
            f"the job has lost {_percent(lost)} of its throughput, for {seconds} s",
            shown(self._metric, value, usual, deviation, self.slowness.since),
        )

    def _pace(self, slot: JobSlot) -> float:
        """The logarithm of how slow the job is; by samples if it tells them, for batches grow."""
        if not self._metric:
            has_samples = not math.isnan(slot.samples_per_second)
            self._metric = _THROUGHPUT if has_samples else _DURATION
        value = getattr(slot, self._metric)
        if not (math.isfinite(value) and value > 0):
            return math.nan
        return -math.log(value) if self._metric == _THROUGHPUT else math.log(value)

    def _claim(
        self, fault: Fault, severity: Severity, rise: Rise, summary: str, evidence: Evidence
    ) -> Claim:
        slot, settings = self._slot, self.settings
        assert slot is not None  # something has been followed
        surplus = rise.score - rise.level
        return Claim(
            fault,
            severity,
            Phase.DEGRADED,
            confidence_of(
                surplus, settings.false_alarms_per_job_day, settings.expected_troubles_per_job_day
            ),
            moment(rise.since),
            moment(slot.second),
            summary,
            (evidence,),
        )


def _percent(share: float) -> str:
    """As people write it.

    >>> _percent(0.414)
    '41 %'
    """
    return f"{share:.0%}".replace("%", " %")
