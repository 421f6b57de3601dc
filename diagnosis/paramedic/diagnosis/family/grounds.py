"""What a name rests on: of the symptoms that a family is known by, those that are seen.

Slower work follows from almost every fault, so a name that rests on nothing else is a guess by how
often each fault happens. Whoever reads a name is told what gave it, or that nothing did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from paramedic.diagnosis.family.derived import BEYOND_POWER, BEYOND_THREADS
from paramedic.diagnosis.family.knowledge import Direction
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.symptoms import seen

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Fault
    from paramedic.diagnosis.family.knowledge import Symptom
    from paramedic.diagnosis.family.signature import Signature

_KNOWN_BY = 0.5
"""A family is known by what one of its mechanisms shows more often than not …"""
_OFTENER = 3.0
"""… and so many times as often as other troubles do."""
_SEEN = 0.5
_TOLD_BY = {BEYOND_POWER: "gpu_temperature_celsius", BEYOND_THREADS: "cpu_utilization_ratio"}
"""Amounts that no source tells are told by what they come of."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What is seen that the family is known by; false where there is nothing of the kind."""

    metrics: tuple[str, ...]
    """The one that departs farthest for each symptom, the most telling symptom first."""
    signs: frozenset[str]
    """What is no amount, by the names of the knowledge."""

    def __bool__(self) -> bool:
        return bool(self.metrics or self.signs)


def grounds_of(fault: Fault, signature: Signature) -> Grounds:
    """What the machine shows of this family."""
    surely = dict(zip(_names(), seen(signature, shipped_knowledge().symptoms), strict=True))
    shown = [one for one in _known_by(fault) if surely[one.name] >= _SEEN]
    metrics = (_farthest(one, signature) for one in shown if one.metrics)
    return Grounds(
        metrics=tuple(dict.fromkeys(_TOLD_BY.get(one, one) for one in metrics)),
        signs=frozenset(one.name for one in shown if one.direction is Direction.NONE),
    )


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(one.name for one in shipped_knowledge().symptoms)


@lru_cache(maxsize=64)
def _known_by(fault: Fault) -> tuple[Symptom, ...]:
    """The symptoms of the family, the most telling first."""
    knowledge = shipped_knowledge()
    shows: dict[str, float] = {}
    for family in knowledge.families:
        for mechanism in family.mechanisms if family.fault is fault else ():
            for name, share in mechanism.shows.items():
                shows[name] = max(share, shows.get(name, 0.0))
    usual = {one.name: one.usual for one in knowledge.symptoms}
    telling = {
        name: share / usual[name]
        for name, share in shows.items()
        if share >= _KNOWN_BY and share >= _OFTENER * usual[name]
    }
    known = [one for one in knowledge.symptoms if one.name in telling]
    return tuple(sorted(known, key=lambda one: -telling[one.name]))


def _farthest(symptom: Symptom, signature: Signature) -> str:
    """The metric that shows the symptom best; a counter that grew needs no more than that."""
    sign = 1.0 if symptom.direction is Direction.HIGHER else -1.0
    departures = signature.departures
    return max(
        symptom.metrics,
        key=lambda one: (
            one in signature.grown and symptom.direction is Direction.HIGHER,
            sign * departures[one].deviation if one in departures else float("-inf"),
        ),
    )
