"""How far each row has departed from its peers, at a cost of one slot a slot.

A value is compared with the median of all other rows in the same slot (or of those in its circle),
so that what befalls all alike cancels out. What a row has long been different by is taken off,
within limits; as long as that is not known, anything within the limits is forgiven. The rest is
smoothed, and measured against how much the other rows' rests scatter, now and in the past. A metric
that is at zero most of the time has no scale and says nothing. Nothing depends on the number of
rows, on a metric's unit, or on a distribution that noise is assumed to have.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.cell_memory import CellMemory
from paramedic.models.contract import AnomalyScores
from paramedic.models.leave_one_out import leave_one_out_median, leave_one_out_quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window
    from paramedic.models.circles import Circles

    Cells = NDArray[np.float64]

_QUANTILES = (0.5, 0.8)
_NORMAL_QUANTILES = (0.6745, 1.2816)
"""The same quantiles of a standard normal's absolute value: a unit, not an assumption."""
_LEAST_ACTIVE_SHARE = 0.5
_LARGEST_GROWTH = 2.0
"""One slot counts as at most so many times the usual scatter: several faults do not hide each
other, and a crowd that scatters more from now on is believed within a memory's length."""
_FEWEST_MEMORY_SLOTS = 30
_FEWEST_TRUST_SLOTS = 10


@dataclass(frozen=True, slots=True)
class PeerDepartureConfig:
    """Settings of the model; `build` makes it."""

    smoothing_seconds: float = 2.0
    """How long the rest is averaged: longer finds smaller departures, later."""
    forgiven_share: float = 0.15
    """A steady difference is taken off up to this share of the metric's level …"""
    forgiven_spreads: float = 4.0
    """… or up to so many times the usual steady difference of a row, whichever is more."""
    floor_share: float = 0.02
    """The smallest scatter, as a share of the level: finer than sensors resolve is no departure."""
    memory_seconds: float = 300.0
    """How far back steady differences and scatter are remembered."""
    trust_seconds: float = 60.0
    """A row's own past counts in full after so long."""
    largest_jump: float = 10.0
    """One slot moves the smoothed rest by at most so many standard deviations."""
    largest_widening: float = 5.0
    """A slot in turmoil counts as so many times the usual scatter at most."""
    startling_deviation: float = 5.0
    """A row this far out teaches nothing: a fault does not become its steady difference."""
    limit: float = 1000.0
    """Deviations are cut off here, both ways."""

    def __post_init__(self) -> None:
        for name in ("floor_share", "memory_seconds", "trust_seconds", "largest_jump"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.forgiven_share < 0 or self.forgiven_spreads < 0:
            raise ValueError(
                f"forgiven_share ({self.forgiven_share}) and forgiven_spreads"
                f" ({self.forgiven_spreads}) must be 0 or more"
            )

    def build(self) -> PeerDeparture:
        """A model that has seen nothing yet."""
        return PeerDeparture(self)


class _Field(IntEnum):
    SEEN = 0
    """Slots that taught the steady difference."""
    STEADY = 1
    """The running difference from the peers' level."""
    SIZE = 2
    """The running level of the peers."""
    REST = 3
    """The smoothed rest."""
    MEDIAN = 4
    """The running median of the others' smoothed rests."""
    UPPER = 5
    """A running upper quantile of them."""
    LAST = 6
    """The last value."""
    CAME = 7
    """The rest with which the present value came: sensors may stand still."""
    VALUE = 8
    """The smoothed value."""
    LEVEL = 9
    """The smoothed level of the peers."""
    MET = 10
    """Whether there was a value before."""
    ACTIVE = 11
    """The running share of slots in which the peers' level is not zero."""


class PeerDeparture:
    """Scores slot after slot; keeps what it has to know of the past (a PatternModel)."""

    name = "peer_departure"

    def __init__(self, config: PeerDepartureConfig) -> None:
        self.config = config
        self._memory = CellMemory(len(_Field))
        self._slots = 0

    def restart(self) -> None:
        """Nothing of before speaks of now; what is known of the machines is kept."""
        if self._memory.cells.size:
            self._memory[_Field.REST][:] = 0.0
            self._memory[_Field.VALUE][:] = self._memory[_Field.LEVEL][:] = 0.0

    def score(self, window: Window, circles: Circles | None = None) -> AnomalyScores:
        """Deviations of the newest slot; NaN where the row or its peers were not observed.

        A row's level is that of its circle, or of all rows; its scatter is compared with all rows'.
        Call it for every slot once, in order. `value` and `peers` are smoothed like the deviation.
        """
        memory, config = self._memory, self.config
        memory.arrange(window.rows, window.metrics)
        pace = _Pace.of(config, window.slot_seconds)
        values = _newest(window)
        median = leave_one_out_median if circles is None else circles.median_of_others
        level = median(values)
        known = ~np.isnan(level)
        limit = self._limit(level, known, pace)
        forgiven, doubt = self._forgiven(level, limit, pace)
        rest = self._moved(values, level, forgiven, known)
        deviation = self._deviation(rest, doubt, known, pace)
        self._learn(values - level, deviation, limit, known, pace)
        for which, now in ((_Field.VALUE, values), (_Field.LEVEL, level)):
            _follow(memory[which], now, known, 1 / pace.smoothing, fresh=memory[which] == 0)
        return AnomalyScores(
            second=window.last_second,
            rows=window.rows,
            metrics=window.metrics,
            deviation=deviation.T,
            value=np.where(known, memory[_Field.VALUE], np.nan).T,
            peers=np.where(known, memory[_Field.LEVEL], np.nan).T,
        )

    def _limit(self, level: Cells, known: NDArray[np.bool_], pace: _Pace) -> Cells:
        """How much steady difference is taken off at most."""
        memory, config = self._memory, self.config
        size, active = memory[_Field.SIZE], memory[_Field.ACTIVE]
        is_new = memory[_Field.MET] == 0
        _follow(active, (level != 0).astype(np.float64), known, 1 / pace.memory, fresh=is_new)
        _follow(size, np.abs(level), known, 1 / pace.memory, fresh=size == 0)
        usual = np.median(np.abs(memory[_Field.STEADY]), axis=1, keepdims=True)
        spread = config.forgiven_spreads / _NORMAL_QUANTILES[0] * usual
        return np.maximum(config.forgiven_share * size, spread)

    def _forgiven(self, level: Cells, limit: Cells, pace: _Pace) -> tuple[Cells, Cells]:
        """What is taken off because it is known, and what is borne with because it is not.

        While the whole job pauses, differences are as much smaller as its level is.
        """
        memory = self._memory
        size = memory[_Field.SIZE]
        trust = np.minimum(memory[_Field.SEEN] / pace.trust, 1.0)
        share = np.where(size > 0, np.minimum(np.abs(level) / np.where(size > 0, size, 1), 1), 1.0)
        steady = _within(memory[_Field.STEADY], limit)
        return trust * share * steady, (1 - trust) * limit

    def _moved(
        self, values: Cells, level: Cells, forgiven: Cells, known: NDArray[np.bool_]
    ) -> Cells:
        """The rest; while a value stands still, at most the one with which it came.

        A sensor that hangs departs because all others move on, a machine because it moves.
        """
        memory = self._memory
        difference = values - level
        # Only ever taken off: who is like its peers has not departed, whatever it was before.
        taken = np.where(difference * forgiven > 0, _within(forgiven, np.abs(difference)), 0.0)
        rest = difference - taken
        last, came = memory[_Field.LAST], memory[_Field.CAME]
        has_changed = known & ((values != last) | (memory[_Field.MET] == 0))
        np.copyto(came, rest, where=has_changed)
        np.copyto(last, values, where=known)
        memory[_Field.MET][known] = 1.0
        same_way = rest * came > 0
        return np.where(same_way, np.sign(rest) * np.minimum(np.abs(rest), np.abs(came)), 0.0)

    def _deviation(self, rest: Cells, doubt: Cells, known: NDArray[np.bool_], pace: _Pace) -> Cells:
        memory, config = self._memory, self.config
        smooth = memory[_Field.REST]
        usual = self._usual_scatter()
        jump = np.where(usual > 0, config.largest_jump * pace.smoothing * usual + doubt, np.inf)
        step = (_within(rest, jump) - smooth) / pace.smoothing
        smooth += np.where(known, step, 0.0)
        middle, upper = leave_one_out_quantiles(np.where(known, np.abs(smooth), np.nan), _QUANTILES)
        weight = 1 / min(self._slots + 1, pace.memory)
        fresh = memory[_Field.MEDIAN] + memory[_Field.UPPER] == 0
        for which, now in ((_Field.MEDIAN, middle), (_Field.UPPER, upper)):
            believed = np.where(fresh, now, np.minimum(now, _LARGEST_GROWTH * usual))
            _follow(memory[which], believed, known, weight, fresh=fresh)
        self._slots += 1
        usual = self._usual_scatter()
        now = np.minimum(
            np.nan_to_num(middle) / _NORMAL_QUANTILES[0], config.largest_widening * usual
        )
        scatter = np.maximum(usual, now)
        excess = np.sign(smooth) * np.maximum(np.abs(smooth) - doubt, 0.0)
        means_something = known & (scatter > 0) & (memory[_Field.ACTIVE] >= _LEAST_ACTIVE_SHARE)
        deviation = excess / np.where(scatter > 0, scatter, 1.0)
        return np.where(means_something, _within(deviation, config.limit), np.nan)

    def _usual_scatter(self) -> Cells:
        memory = self._memory
        scatter = np.maximum(
            memory[_Field.MEDIAN] / _NORMAL_QUANTILES[0],
            memory[_Field.UPPER] / _NORMAL_QUANTILES[1],
        )
        return np.maximum(scatter, self.config.floor_share * memory[_Field.SIZE])

    def _learn(
        self,
        difference: Cells,
        deviation: Cells,
        limit: Cells,
        known: NDArray[np.bool_],
        pace: _Pace,
    ) -> None:
        """Take a slot's differences into the steady ones, unless they startle."""
        memory = self._memory
        calm = known & ~(np.abs(deviation) >= self.config.startling_deviation)
        seen = memory[_Field.SEEN]
        seen += calm
        weight = 1 / np.minimum(np.maximum(seen, 1.0), pace.memory)
        steady = memory[_Field.STEADY]
        step = _within(difference, 2 * limit) - steady
        steady += np.where(calm, weight * step, 0.0)


@dataclass(frozen=True, slots=True)
class _Pace:
    """Durations in slots."""

    smoothing: float
    memory: float
    trust: float

    @classmethod
    def of(cls, config: PeerDepartureConfig, slot_seconds: int) -> _Pace:
        return cls(
            max(1.0, config.smoothing_seconds / slot_seconds),
            max(_FEWEST_MEMORY_SLOTS, config.memory_seconds / slot_seconds),
            max(_FEWEST_TRUST_SLOTS, config.trust_seconds / slot_seconds),
        )


def _newest(window: Window) -> Cells:
    """The values of the newest slot, (metric, row); NaN where not observed or not a number."""
    values = window.values[:, :, -1].T.astype(np.float64)
    values[~(window.observed[:, :, -1].T & np.isfinite(values))] = np.nan
    return values


def _within(numbers: Cells, limit: Cells | float) -> Cells:
    """The numbers, cut off both ways; np.clip is slow on small arrays."""
    kept: Cells = np.minimum(np.maximum(numbers, -limit), limit)
    return kept


def _follow(
    running: Cells,
    now: Cells,
    known: NDArray[np.bool_],
    weight: float,
    *,
    fresh: NDArray[np.bool_],
) -> None:
    """Move a running mean towards what is now; it begins with the first that is known."""
    step = np.where(fresh, 1.0, weight) * (now - running)
    running += np.where(known, step, 0.0)
