"""Tells which unit the names of dcgm-exporter 4.9 carry on a page.

`DCGM_FI_DEV_GPU_UTIL_RATIO` is 0 to 1 in 4.9, but builds of DCGM 4.6 give that name to the old
percentage, and so it may be with other names of the new spelling. The decision is made for each
node and page, by what its own values give away:

1. a clock under 100 kHz is in MHz, and one above it is in Hz: that settles the whole node;
2. a utilisation with a fraction is a ratio; one above 1 (and up to 100) is a percentage;
3. else what was decided for the node before;
4. else nothing is known: 0 is 0 in both, and any other value is left out as `unit_undecided`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.catalogue.metric import Exported
from paramedic.ingest.contract import NodeName

_PERCENT = 100.0

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class OlderUnits:
    """Series of a page whose name has had another unit, ready for arithmetic."""

    at: Indices
    """Their positions among the used series."""
    factor: Floats
    older_factor: Floats
    above: Floats
    below: Floats
    """NaN where such values give nothing away."""
    node_of: Indices
    nodes: tuple[NodeName, ...]


def older_units_of(
    exported: Sequence[Exported | None], nodes: Sequence[NodeName]
) -> OlderUnits | None:
    """Collect such series; None when the page has none. One node a series."""
    found = [(at, one) for at, one in enumerate(exported) if one is not None and one.before]
    if not found:
        return None
    numbers = {node: n for n, node in enumerate(dict.fromkeys(nodes[at] for at, _ in found))}
    before = [one.before for _, one in found if one.before is not None]
    return OlderUnits(
        at=np.array([at for at, _ in found], np.intp),
        factor=np.array([one.factor for _, one in found]),
        older_factor=np.array([one.factor for one in before]),
        above=np.array([np.nan if one.above is None else one.above for one in before]),
        below=np.array([np.nan if one.below is None else one.below for one in before]),
        node_of=np.array([numbers[nodes[at]] for at, _ in found], np.intp),
        nodes=tuple(numbers),
    )


class UnitMemory:
    """Remembers what was decided for each node."""

    def __init__(self) -> None:
        self._verdicts: dict[NodeName, int] = {}

    def factors(self, older: OlderUnits, raw: Floats) -> Floats:
        """The factor of each such series; NaN where a value's unit cannot be told."""
        verdict = _decide(older, raw)
        for number, node in enumerate(older.nodes):
            if verdict[number] == 0:
                verdict[number] = self._verdicts.get(node, 0)
            else:
                self._verdicts[node] = int(verdict[number])
        verdicts = verdict[older.node_of]
        factor = np.where(verdicts > 0, older.older_factor, older.factor)
        factor[(verdicts == 0) & (raw != 0)] = np.nan
        return factor


def _decide(older: OlderUnits, raw: Floats) -> NDArray[np.int8]:
    """Per node: 1 the older units, -1 the newer, 0 undecided."""
    positive = raw > 0
    by_clock = positive & ~np.isnan(older.below)
    by_ratio = positive & ~np.isnan(older.above)
    count = len(older.nodes)
    verdict = np.zeros(count, np.int8)
    _vote(verdict, older, by_ratio & (raw > older.above) & (raw <= older.above * _PERCENT), 1)
    _vote(verdict, older, by_ratio & (raw < older.above), -1)
    _vote(verdict, older, by_clock & (raw >= older.below) & np.isfinite(raw), -1)
    _vote(verdict, older, by_clock & (raw < older.below), 1)
    return verdict


def _vote(verdict: NDArray[np.int8], older: OlderUnits, who: Booleans, vote: int) -> None:
    verdict[older.node_of[who]] = vote
