"""Whether what is learned goes well: the loss and the norm of the gradient against their usual.

Both are measured in their logarithms, by step where the job tells its steps: a slot that repeats a
step says nothing new, and a job that goes back to an earlier one begins anew. What is no number is
told at once. Evidence of both adds up: where they rise together less of each is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.application.claim import Claim, confidence_of, shown
from paramedic.diagnosis.application.rising import Rise, RiseRule
from paramedic.diagnosis.application.unsaid import Unsaid
from paramedic.diagnosis.application.usual import Prior
from paramedic.diagnosis.contract import Fault, Phase, Severity
from paramedic.diagnosis.finding import moment

if TYPE_CHECKING:
    from paramedic.diagnosis.application.reading import JobSlot
    from paramedic.diagnosis.application.settings import ApplicationSettings
    from paramedic.diagnosis.contract import Evidence

SERIES = 4
"""Loss, gradient, the share of data loading, throughput: among them false alarms are divided."""
_LOSS = Prior(deviation=0.04, weight=2.0, least_values=5, freedom=0)
"""Losses of language models vary by 1 to 4 %; others are learned soon."""
_GRADIENT = Prior(deviation=0.5, weight=8.0, least_values=1)
"""Its norm varies by a factor of 1.1 to 2, and may begin to explode at once."""
_NO_NUMBER = 0.99
_UNSAID = 0.8
"""Telemetry may lose it, too."""


@dataclass(slots=True)
class LearningWatch:
    """Follows one job's loss and gradient."""

    settings: ApplicationSettings
    loss: Rise = field(init=False)
    gradient: Rise = field(init=False)
    unsaid: Unsaid = field(default_factory=Unsaid)
    """Of loss and gradient together."""
    _step: float = -math.inf
    _is_linear: bool = False
    """A loss that is not always positive has no logarithm: then its own numbers are compared."""
    _calm: int = 0
    _slot: JobSlot | None = None

    def __post_init__(self) -> None:
        rate = self.settings.false_alarms_per_job_day / SERIES
        calm = self.settings.healthy_steps_to_resolve
        least = math.log(self.settings.least_loss_ratio)
        self.loss = Rise(RiseRule(_LOSS, least, rate, calm))
        least = math.log(self.settings.least_gradient_ratio)
        self.gradient = Rise(RiseRule(_GRADIENT, least, rate, calm))

    @property
    def is_well(self) -> bool:
        """Whether the training has been as usual for long enough."""
        return self._calm >= self.settings.healthy_steps_to_resolve

    def follow(self, slot: JobSlot) -> bool:
        """Take a slot in; whether it says anything new."""
        if slot.step == self._step:
            return False
        if slot.step < self._step:
            self.loss.restart()
            self.gradient.restart()
        self._step = slot.step if not math.isnan(slot.step) else self._step
        self._slot = slot
        is_told = not (math.isnan(slot.loss) and math.isnan(slot.gradient_norm))
        if is_told or not math.isnan(slot.learning_rate):  # it comes the same way as the loss
            self.unsaid.follow(slot.second, is_told=is_told)
        if is_told:
            self._take(slot)
        else:
            self._calm = 0
        return True

    def claim(self) -> Claim | None:
        """What is wrong now, if anything is."""
        slot = self._slot
        if slot is None:
            return None
        return self._no_number(slot) or self._unsaid(slot) or self._too_high(slot)

    def _take(self, slot: JobSlot) -> None:
        calm = True
        if math.isfinite(slot.loss):
            self.loss.add(self._scaled(slot.loss), slot.second)
            calm = self.loss.calm > 0 or math.isnan(self.loss.usual)
        if math.isfinite(slot.gradient_norm) and slot.gradient_norm > 0:
            self.gradient.add(math.log(slot.gradient_norm), slot.second)
            calm = calm and (self.gradient.calm > 0 or math.isnan(self.gradient.usual))
        is_number = not (math.isinf(slot.loss) or math.isinf(slot.gradient_norm))
        self._calm = self._calm + 1 if calm and is_number else 0

    def _scaled(self, loss: float) -> float:
        if loss <= 0 and not self._is_linear:
            self._is_linear = True
            self.loss.restart()
        return loss if self._is_linear else math.log(loss)

    def _no_number(self, slot: JobSlot) -> Claim | None:
        broken = [
            (metric, value)
            for metric, value in (("loss", slot.loss), ("gradient_norm", slot.gradient_norm))
            if math.isinf(value)
        ]
        if not broken:
            return None
        metric, value = broken[0]
        fault = Fault.LOSS_DIVERGENCE if metric == "loss" else Fault.GRADIENT_EXPLOSION
        names = " and the ".join(_WORDS[name] for name, _ in broken)
        return Claim(
            fault,
            Severity.P1,
            Phase.FAILED,
            _NO_NUMBER,
            moment(slot.second),
            moment(slot.second),
            f"the {names} {'is' if len(broken) == 1 else 'are'} no number any more{_at(slot)}",
            tuple(shown(name, value, math.nan, 0.0, slot.second) for name, _ in broken),
        )

    def _unsaid(self, slot: JobSlot) -> Claim | None:
        if self.unsaid.nats < self.loss.level:
            return None
        since = self.unsaid.since
        return Claim(
            Fault.LOSS_DIVERGENCE,
            Severity.P1,
            Phase.SYMPTOM,
            _UNSAID,
            moment(since),
            moment(slot.second),
            f"steps go on, and their loss is told no more: it is no number, or is lost{_at(slot)}",
            (shown("loss", math.nan, self._usual_loss(), 0.0, since),),
        )

    def _too_high(self, slot: JobSlot) -> Claim | None:
        surpluses = [one.score - one.level for one in (self.loss, self.gradient)]
        if min(self.loss.score, self.gradient.score) > 0:
            together = max(self.loss.level, self.gradient.level)
            # The sum of two such scores has a tail that is heavier by this.
            both = self.loss.score + self.gradient.score - together - math.log(1 + together)
            surpluses.append(both)
        surplus = max(surpluses)
        if surplus < 0:
            return None
        is_loss = surpluses[0] >= 0 or self.loss.score >= self.gradient.score
        lead = self.loss if is_loss else self.gradient
        return Claim(
            Fault.LOSS_DIVERGENCE if is_loss else Fault.GRADIENT_EXPLOSION,
            self._severity(),
            Phase.DEGRADED,
            confidence_of(
                surplus,
                self.settings.false_alarms_per_job_day,
                self.settings.expected_troubles_per_job_day,
            ),
            moment(lead.since),
            moment(slot.second),
            f"the {self._told(slot, is_loss=is_loss)}{_at(slot)}",
            tuple(self._evidence(slot)),
        )

    def _severity(self) -> Severity:
        """A loss that has risen a little, or a gradient alone, may come back by itself."""
        grave = not self._is_linear and self.loss.mean_rise >= math.log(
            self.settings.grave_loss_ratio
        )
        return Severity.P1 if grave else Severity.P2

    def _told(self, slot: JobSlot, *, is_loss: bool) -> str:
        value, usual = slot.loss, self._usual_loss()
        if not is_loss:
            value, usual = slot.gradient_norm, math.exp(self.gradient.usual)
        word = _WORDS["loss" if is_loss else "gradient_norm"]
        return f"{word} has risen to {value:.4g} where {usual:.4g} was usual"

    def _usual_loss(self) -> float:
        return self.loss.usual if self._is_linear else math.exp(self.loss.usual)

    def _evidence(self, slot: JobSlot) -> list[Evidence]:
        found = []
        if self.loss.score > 0:
            found.append(
                shown("loss", slot.loss, self._usual_loss(), self.loss.deviation, self.loss.since)
            )
        if self.gradient.score > 0:
            usual = math.exp(self.gradient.usual)
            since, deviation = self.gradient.since, self.gradient.deviation
            found.append(shown("gradient_norm", slot.gradient_norm, usual, deviation, since))
        return found


_WORDS = {"loss": "loss", "gradient_norm": "gradient norm"}


def _at(slot: JobSlot) -> str:
    return "" if math.isnan(slot.step) else f", at step {slot.step:.0f}"
