"""A fault of the plan as an influence on the causes."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults.catalogue import Effect, kind_of
from paramedic.ingest.synthetic.faults.instance import completed
from paramedic.ingest.synthetic.faults.place import place_of
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.faults.stopping import Stopping
from paramedic.ingest.synthetic.layout import Layout


@dataclass(frozen=True, slots=True)
class _Shown:
    """A symptom that is ready to press."""

    effect: Effect
    strength: float


class PlannedFault:
    """A fault at its place, from its onset to its end.

    Raises UnknownFaultError when its kind, place, strength or an effect cannot be.
    """

    def __init__(self, plan: FaultPlan, layout: Layout) -> None:
        kind = kind_of(plan.kind)
        self.plan = completed(plan)
        self._cards = place_of(plan, layout, kind.is_group).cards
        known = {**kind.effects, **kind.flags}
        self._shown = [_Shown(known[one.effect], one.strength) for one in self.plan.symptoms]
        stop = self.plan.stop
        self._stopping = None if stop is None else Stopping(stop, self._cards)

    def press(self, causes: Causes, second: int) -> None:
        """Have the effects, when it is time."""
        age = second - self.plan.onset
        if age >= 0 and (self.plan.end is None or second < self.plan.end):
            strength = self._strength(age)
            for one in self._shown if strength > 0.0 else ():
                one.effect(causes, self._cards, one.strength * strength, age)
        if self._stopping is not None:
            self._stopping.press(causes, second)

    def _strength(self, age: int) -> float:
        """Which share of its strength it has reached; none in its pauses."""
        plan = self.plan
        pauses = plan.intermittence
        if pauses is not None and age % pauses.period_seconds >= (
            pauses.on_ratio * pauses.period_seconds
        ):
            return 0.0
        return min(1.0, (age + 1) / plan.ramp_seconds) if plan.ramp_seconds else 1.0
