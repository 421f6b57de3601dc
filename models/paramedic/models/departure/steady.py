"""What is left of a row's difference from its peers when all that is usual with it is taken off.

A row that has always been a little different is no suspect. Its steady difference is learned while
the row is calm, by steps that noise could make, so that a fault which grows slowly is not learned.
As long as it is not known, any ordinary difference is borne with (doubt). And a sensor that stands
still departs because all others move on: it counts with the difference with which its value came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from paramedic.models.cell_memory import CellMemory
from paramedic.models.leave_one_out import median_over_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey
    from paramedic.models.departure.character import Characters

    Cells = NDArray[np.float64]

_Cell = TypeVar("_Cell", np.float64, np.bool_)
_FORGIVEN_SHARE = 0.15
"""A steady difference is taken off up to this share of the metric's level …"""
_FORGIVEN_SPREADS = 4.0 / 0.6745
"""… or up to so many times the usual steady difference of a row, whichever is more."""


class _Field(IntEnum):
    STEADY = 0
    SEEN = 1
    """Calm slots."""
    LAST = 2
    CAME = 3
    """The rest with which the present value came."""
    MET = 4


class Rest(NamedTuple):
    """All (metric, row)."""

    rest: Cells
    difference: Cells
    """Before anything was taken off."""
    doubt: Cells | float
    trust: Cells | float
    """0..1: how far the row's own past is known; 1 where all of them are known in full, and then
    nothing is doubted."""
    reach: Cells
    """Up to so much a steady difference is taken off."""
    untaken: Cells | float
    """What would have been taken off as well, were the past known in full."""

    @property
    def is_settled(self) -> bool:
        """Whether all rows' pasts are known in full."""
        return isinstance(self.trust, float)


@dataclass(slots=True)
class Steady:
    """Steady differences of the rows of one kind."""

    memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    def arrange(self, rows: tuple[EntityKey, ...], metrics: tuple[str, ...]) -> None:
        """Be about these rows and metrics from now on."""
        self.memory.arrange(rows, metrics)

    def forget(self, most_slots: float) -> None:
        """The job has begun to do something else: what was learned counts for little."""
        seen = self.memory[_Field.SEEN]
        np.minimum(seen, most_slots, out=seen)

    def rest(
        self, values: Cells, level: Cells, size: Cells, known: NDArray[np.bool_],
        characters: Characters, trust_slots: float,
    ) -> Rest:  # fmt: skip
        """What is left of the differences; of what else runs on a host, whatever was always so is
        taken off, and from the beginning."""
        steady = self.memory[_Field.STEADY]
        limit = self._limit(size)
        trust = self._trust(trust_slots)
        reach = np.where(characters.of_others, np.inf, limit)
        forgiven = _within(steady, reach)
        untaken: Cells | float = 0.0
        if not isinstance(trust, float):
            trusted = np.where(characters.of_others, 1.0, trust)
            untaken = forgiven * (1 - trusted)
            forgiven *= trusted
        # While the whole job pauses, differences are as much smaller as its level is.
        share = np.abs(level)
        share /= np.where(size > 0, size, 1.0)
        np.minimum(share, 1.0, out=share)
        np.copyto(share, 1.0, where=~characters.linear)
        forgiven *= share
        difference = np.subtract(values, level, out=share)
        if np.count_nonzero(known) < known.size:
            np.copyto(difference, 0.0, where=~known)
        # Only ever taken off: who is like its peers has not departed, whatever it was before.
        taken = np.maximum(forgiven, np.minimum(difference, 0.0), out=forgiven)
        np.minimum(taken, np.maximum(difference, 0.0), out=taken)
        rest = np.subtract(difference, taken, out=taken)
        self._hold(values, rest, known)
        doubt = 0.0 if isinstance(trust, float) else (1 - trust) * limit
        return Rest(rest, difference, doubt, trust, reach, untaken)

    def learn(
        self, rest: Rest, noise: Cells, calm: NDArray[np.bool_], memory_slots: float,
        trust_slots: float,
    ) -> Cells:  # fmt: skip
        """Follow the differences of calm cells; returns how much each weighed.

        `noise` is what a healthy row's slot may depart by.
        """
        seen, steady = self.memory[_Field.SEEN], self.memory[_Field.STEADY]
        counts = calm.astype(np.float64)
        seen += counts
        weight = np.maximum(seen, 1.0)
        np.minimum(weight, memory_slots, out=weight)
        np.divide(counts, weight, out=weight)
        step = _within(rest.difference, 2 * rest.reach)
        step -= steady
        bound = _within(step, noise)
        if not rest.is_settled:
            np.copyto(bound, step, where=seen < trust_slots)
        bound *= weight
        steady += bound
        return weight

    def is_early(self, trust_slots: float) -> NDArray[np.bool_]:
        """Cells of which little is known."""
        return self.memory[_Field.SEEN] < trust_slots

    def _trust(self, trust_slots: float) -> Cells | float:
        seen = self.memory[_Field.SEEN]
        if seen.min(initial=trust_slots) >= trust_slots:
            return 1.0
        return np.minimum(seen / trust_slots, 1.0)

    def _limit(self, size: Cells) -> Cells:
        rows = sample(self.memory[_Field.STEADY])
        usual = median_over_time(np.abs(rows))[:, None]
        return np.maximum(_FORGIVEN_SHARE * size, _FORGIVEN_SPREADS * usual)

    def _hold(self, values: Cells, rest: Cells, known: NDArray[np.bool_]) -> None:
        """While a value stands still, leave at most the rest with which it came."""
        last, came = self.memory[_Field.LAST], self.memory[_Field.CAME]
        met = self.memory[_Field.MET]
        changed = values != last
        if np.count_nonzero(met) < met.size:
            changed |= met == 0
            np.copyto(met, 1.0, where=known)
        changed &= known
        np.copyto(came, rest, where=changed)
        np.copyto(last, values, where=known)
        held = np.flatnonzero(rest != came)
        if held.size:
            rest.ravel()[held] = _held(rest.ravel()[held], came.ravel()[held])


_ENOUGH_ROWS = 64


def sample(cells: NDArray[_Cell]) -> NDArray[_Cell]:
    """So many of the rows as tell of all of them."""
    return cells[..., :: max(1, cells.shape[-1] // _ENOUGH_ROWS)]


def _held(rest: Cells, came: Cells) -> Cells:
    """Each rest, but no larger than the one with which it came, and none the other way."""
    size = np.minimum(np.abs(rest), np.abs(came))
    np.copyto(size, 0.0, where=rest * came <= 0)
    return np.copysign(size, rest, out=size)


def _within(numbers: Cells, limit: Cells) -> Cells:
    """The numbers, cut off both ways; np.clip is slow on small arrays."""
    kept = np.maximum(numbers, -limit)
    return np.minimum(kept, limit, out=kept)
