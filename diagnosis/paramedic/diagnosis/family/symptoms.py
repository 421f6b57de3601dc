"""From a signature to symptoms: how surely each physical change is seen, whatever its scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.knowledge import Direction
from paramedic.diagnosis.known_errors.entry import Kind
from paramedic.diagnosis.known_errors.reading import shipped_known_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.diagnosis.family.knowledge import Symptom
    from paramedic.diagnosis.family.signature import Signature

_TOLD = "told_"
_HALF_SEEN = 4.0
"""A departure of so many standard deviations is as likely a symptom as it is noise."""
_SOFTNESS = 0.8
_CERTAIN = 0.999
"""Nothing is surer than this."""
_NOISE = 2.0
_LEADING = (8.0, 60.0)
"""What departs most is taken for at least and at most so many standard deviations: beyond, it says
how quiet the metric is and not how bad the fault."""


def seen(signature: Signature, symptoms: Sequence[Symptom]) -> NDArray[np.float64]:
    """For each symptom, between 0 and 1, how surely it is seen; NaN where it cannot be.

    A fault shows most in what it breaks and less in what follows from that, so a symptom that may
    be a consequence counts by its size beside the largest departure, in logarithms.
    """
    amounts = np.array([_deviation(signature, symptom) for symptom in symptoms])
    leading = np.clip(np.nanmax(amounts, initial=0.0), *_LEADING)
    sizes = np.log(np.maximum(amounts, _NOISE) / _NOISE) / np.log(leading / _NOISE)
    follows = np.array([symptom.follows_others for symptom in symptoms])
    weights = np.where(follows, np.minimum(sizes, 1.0), 1.0)
    surely: NDArray[np.float64] = np.clip(sure(amounts) * weights, 1.0 - _CERTAIN, _CERTAIN)
    told = told_families(signature)
    for at, symptom in enumerate(symptoms):
        if symptom.direction is Direction.NONE:
            surely[at] = _sure_of(_is_given(signature, symptom.name, told))
    return surely


def sure(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """How surely departures of so many standard deviations are no noise.

    >>> sure(np.array([0.0, 4.0, 8.0])).round(2).tolist()
    [0.01, 0.5, 0.99]
    """
    steps = np.clip((deviations - _HALF_SEEN) / _SOFTNESS, -20.0, 20.0)
    surely: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-steps))
    return surely


def _deviation(signature: Signature, symptom: Symptom) -> float:
    """The farthest that any of the symptom's metrics has departed in its direction."""
    if symptom.direction is Direction.HIGHER and not signature.grown.isdisjoint(symptom.metrics):
        return _LEADING[1]
    sign = 1.0 if symptom.direction is Direction.HIGHER else -1.0
    found = (signature.departures.get(metric) for metric in symptom.metrics)
    known = [sign * one.deviation for one in found if one and not math.isnan(one.deviation)]
    return max(known, default=math.nan)


def _is_given(signature: Signature, name: str, told: frozenset[Fault]) -> bool | None:
    """None where it cannot be seen."""
    return True if _is_told(name, told) else getattr(signature, name, False)


def _sure_of(is_given: bool | None) -> float:
    if is_given is None:
        return math.nan
    return _CERTAIN if is_given else 1.0 - _CERTAIN


def _is_told(name: str, told: frozenset[Fault]) -> bool:
    return name.startswith(_TOLD) and name.removeprefix(_TOLD) in told


def told_families(signature: Signature) -> frozenset[Fault]:
    """The families of the driver's codes; a code that nobody knows tells nothing."""
    found = (_family_of(code) for code in signature.xids)
    return frozenset(fault for fault in found if fault is not None)


def codes_of(signature: Signature, fault: Fault) -> frozenset[int]:
    """The driver's codes that speak of this family."""
    return frozenset(code for code in signature.xids if _family_of(code) is fault)


def _family_of(code: int) -> Fault | None:
    known = shipped_known_errors().find(Kind.XID, code)
    return None if known is None else known.fault
