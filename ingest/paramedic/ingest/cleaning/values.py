"""Judges raw values: blanks, infinities and what no such device can show are left out.

DCGM prints its blank values on old releases: 0x7ffffff0, 0x7ffffffffffffff0 and 2^47, each also
plus 1 (not found), 2 (not supported) and 3 (not permitted). After the trip through a double the
64-bit ones are all 2^63.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from paramedic.ingest.catalogue.metric import Exported
from paramedic.ingest.cleaning.units import (
    Booleans,
    Floats,
    Indices,
    OlderUnits,
    UnitMemory,
    older_units_of,
)
from paramedic.ingest.contract import NodeName

_BLANK_32 = float(0x7FFFFFF0)
_BLANK_FLOAT = float(2**47)
_BLANK_64 = 9.2233720368e18
_ABOVE_BLANK_64 = 9.2233720369e18
_KINDS_OF_BLANK = 3
_DIALECTS_WITH_BLANKS = "dcgm"


class Reason(IntEnum):
    """Why a value is left out; its name in lower case is what people see."""

    NONE = 0
    BLANK_SENTINEL = 1
    NOT_A_NUMBER = 2
    INFINITE = 3
    OUT_OF_RANGE = 4
    UNIT_UNDECIDED = 5
    ABSENT = 6
    """Not on this page: nothing was left out."""


@dataclass(frozen=True, slots=True)
class ValuePlan:
    """What is to be done with the values of a page's used series."""

    take: Indices
    factor: Floats
    low: Floats
    high: Floats
    """Limits of the canonical value; of a raw counter, 0 and no limit."""
    may_be_blank: Booleans
    older: OlderUnits | None
    metrics: tuple[str, ...]
    """The metric of each series, under which it is counted."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Canonical values (counters still raw) and why some are left out."""

    values: Floats
    reasons: np.ndarray[tuple[int], np.dtype[np.int8]]


def value_plan(
    take: Sequence[int],
    exported: Sequence[Exported | None],
    names: Sequence[str],
    nodes: Sequence[NodeName],
    metrics: Sequence[str],
) -> ValuePlan:
    """Plan for series whose exporter's name is one of `names`, in their order."""
    return ValuePlan(
        take=np.array(take, np.intp),
        factor=np.array([1.0 if one is None else one.factor for one in exported]),
        low=np.array([_low(one) for one in exported]),
        high=np.array([_high(one) for one in exported]),
        may_be_blank=np.array([_may_be_blank(name) for name in names], np.bool_),
        older=older_units_of(exported, nodes),
        metrics=tuple(metrics),
    )


def judge(raw: Floats, is_there: Booleans | None, plan: ValuePlan, units: UnitMemory) -> Judged:
    """Canonical values of the used series, in the plan's order."""
    taken = raw[plan.take]
    reasons = np.zeros(len(taken), np.int8)
    with np.errstate(over="ignore", invalid="ignore"):
        values = taken * plan.factor
        if plan.older is not None:
            at = plan.older.at
            values[at] = taken[at] * units.factors(plan.older, taken[at])
            reasons[at[np.isnan(values[at])]] = Reason.UNIT_UNDECIDED
        outside = ~((values >= plan.low) & (values <= plan.high))
    reasons[outside & (reasons == Reason.NONE)] = Reason.OUT_OF_RANGE
    reasons[np.isinf(taken)] = Reason.INFINITE
    reasons[np.isnan(taken)] = Reason.NOT_A_NUMBER
    reasons[plan.may_be_blank & is_blank(taken)] = Reason.BLANK_SENTINEL
    if is_there is not None:
        reasons[~is_there[plan.take]] = Reason.ABSENT
    return Judged(values, reasons)


def is_blank(raw: Floats) -> Booleans:
    """Whether values are one of DCGM's blanks."""
    return (
        ((raw >= _BLANK_32) & (raw <= _BLANK_32 + _KINDS_OF_BLANK))
        | ((raw >= _BLANK_FLOAT) & (raw <= _BLANK_FLOAT + _KINDS_OF_BLANK))
        | ((raw >= _BLANK_64) & (raw < _ABOVE_BLANK_64))
    )


def count_reasons(judged: Judged, plan: ValuePlan, into: Counter[tuple[str, str]]) -> None:
    """Count what was left out, by reason and metric."""
    is_counted = (judged.reasons != Reason.NONE) & (judged.reasons != Reason.ABSENT)
    for at in np.flatnonzero(is_counted):
        reason = Reason(int(judged.reasons[at])).name.lower()
        into[(reason, plan.metrics[at])] += 1


def _low(one: Exported | None) -> float:
    if one is None:
        return -np.inf
    return 0.0 if one.is_rate else one.metric.low


def _high(one: Exported | None) -> float:
    return np.inf if one is None or one.is_rate else one.metric.high


def _may_be_blank(name: str) -> bool:
    return name.lower().startswith(_DIALECTS_WITH_BLANKS)
