"""The model of departures: values of a slot go in, oddness of every metric of every row comes out.

A value is compared with the median of the other rows of its circle in the same slot, so that what
befalls all alike cancels out. Nothing depends on the number of rows, on a metric's unit, or on a
distribution that noise is assumed to have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.cell_memory import CellMemory
from paramedic.models.departure.character import characters_of
from paramedic.models.departure.growth import Growth
from paramedic.models.departure.scaling import scaled, size_of
from paramedic.models.departure.scatter import Scatter
from paramedic.models.departure.steady import Steady, sample
from paramedic.models.leave_one_out import leave_one_out_median, lower_median, median_over_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey
    from paramedic.models.circles import Circles
    from paramedic.models.departure.character import Characters
    from paramedic.models.departure.scatter import Odd

    Cells = NDArray[np.float64]

_FEWEST_MEMORY_SLOTS = 30
_FEWEST_TRUST_SLOTS = 10
_STARTLING_NATS = 6.7
"""A cell's row this odd teaches nothing: a fault does not become its steady difference."""
_ANOTHER_WORK = 2.0
"""When most work metrics are so many times as high as they have ever been lately, the job does
something else: it has begun to train."""
_FEWEST_MOVING = 2
_SLOTS_KNOWN_OF_IT = 5
_PAIR = 2
_STILL_SEEN = 1 / 3
"""Of what a slow average shows the next quicker one has to show so much, or it is over."""
_FIRST_OF_AVERAGES = 2
"""The paces from this one on follow one that is an average as well."""
_MANY_ROWS = 256
"""Leaving a row out of the median of so many others changes nothing."""


@dataclass(frozen=True, slots=True)
class DepartureConfig:
    """Settings of the model; `build` makes it."""

    smoothing_seconds: tuple[float, ...] = (1.0, 6.0, 30.0)
    """The paces: the first is quick, the last finds the weakest."""
    memory_seconds: float = 300.0
    """How far back steady differences and scatter are remembered."""
    trust_seconds: float = 60.0
    """A row's own past counts in full after so long."""
    least_nats: float = 0.0
    """What is less odd than this may be told as not odd at all: so most cells are soon done."""

    def __post_init__(self) -> None:
        if not self.smoothing_seconds:
            raise ValueError("smoothing_seconds must name one pace at least")
        for name in ("memory_seconds", "trust_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")

    def build(self) -> DepartureModel:
        """A model that has seen nothing yet."""
        return DepartureModel(self)


@dataclass(frozen=True)
class Departures:
    """What one slot says of all rows; arrays are (pace, metric, row)."""

    rows: tuple[EntityKey, ...]
    metrics: tuple[str, ...]
    nats: Cells
    """How odd: -ln of the share of healthy row-slots as far out; 0 where nothing is known."""
    measure: Callable[[int], Cells]
    """Gives the deviations at a pace."""
    known: NDArray[np.bool_]
    """(metric, row): observed, and so were peers."""
    characters: Characters
    has_turned: bool
    """The job has begun to do something else in this slot."""
    haste: Cells | float = 1.0
    """(metric, row): by how much patience is shorter than usual, at most 1."""

    _measured: dict[int, Cells] = field(default_factory=dict)

    def deviation(self, pace: int) -> Cells:
        """Signed, free of the job's size and of units; 0 where nothing is known. (metric, row).

        Worked out when it is asked for: of most slots nobody does.
        """
        if pace not in self._measured:
            self._measured[pace] = self.measure(pace)
        return self._measured[pace]


@dataclass(slots=True)
class DepartureModel:
    """Follows the rows of one kind slot after slot; keeps what it has to know of the past."""

    config: DepartureConfig
    _steady: Steady = field(default_factory=Steady)
    _growth: Growth = field(default_factory=Growth)
    _scatter: Scatter = field(init=False)
    _size: CellMemory = field(default_factory=lambda: CellMemory(2))
    """The running level of each metric, and the highest level lately."""
    _slots: int = 0

    def __post_init__(self) -> None:
        self._scatter = Scatter(len(self.config.smoothing_seconds), self.config.least_nats)

    def restart(self) -> None:
        """Nothing of before speaks of now; what is known of the machines is kept."""
        self._scatter.restart()

    def smoothing(self, slot_seconds: int) -> Cells:
        """The paces in slots, (pace, 1, 1)."""
        return _smoothing(self.config.smoothing_seconds, slot_seconds)

    def memory_slots(self, slot_seconds: int) -> float:
        """How far back it remembers."""
        return max(_FEWEST_MEMORY_SLOTS, self.config.memory_seconds / slot_seconds)

    def score(
        self, values: Cells, rows: tuple[EntityKey, ...], metrics: tuple[str, ...],
        circles: Circles | None, slot_seconds: int,
    ) -> Departures:  # fmt: skip
        """Add a slot of (metric, row) values, NaN where not observed; all metrics are `telling`.

        Call it for every slot once, in order. A row's level is that of its circle, or of all rows.
        """
        characters = characters_of(metrics)
        self._arrange(rows, metrics)
        values = scaled(self._grown(values, characters), characters)
        haste = _haste(values, characters, slot_seconds)
        level = _level(values, circles)
        if len(rows) == _PAIR:
            sided = (characters.only_rises | characters.only_falls)[:, 0]
            level[sided] = _other_of_two(values[sided])
        known = ~np.isnan(level)
        is_whole = np.count_nonzero(known) == known.size
        memory = self.memory_slots(slot_seconds)
        has_turned = self._follow_size(level, known, characters, memory)
        size = size_of(self._size.cells[0], characters)
        floor = np.maximum(characters.floor_share * size, characters.floor)
        trust = max(_FEWEST_TRUST_SLOTS, self.config.trust_seconds / slot_seconds)
        level = level if is_whole else np.where(known, level, 0.0)
        rest = self._steady.rest(values, level, size, known, characters, trust)
        smoothing = self.smoothing(slot_seconds)
        odd = self._scatter.weigh(
            rest, known, floor, smoothing, self._slots, memory, characters.harmless
        )
        calm = known.copy()
        calm.ravel()[odd.cells[odd.nats > _STARTLING_NATS] % calm.size] = False
        noise = self._scatter.noise(floor)
        weight = self._steady.learn(rest, noise, calm, memory, trust)
        early = None if rest.is_settled else self._steady.is_early(trust)
        self._scatter.learn(rest, weight, early, floor)
        self._slots += 1
        nats = np.zeros(odd.yardstick.smooth.shape)
        nats.ravel()[odd.cells] = self._blamed(odd, characters)
        return Departures(
            rows, metrics, nats, odd.yardstick.deviation, known, characters, has_turned, haste
        )

    def _blamed(self, odd: Odd, characters: Characters) -> Cells:
        """How odd the cells are, without what is nobody's fault."""
        if not odd.cells.size:
            return odd.nats
        smooth, rest = odd.yardstick.smooth, odd.yardstick.rest.rest
        cells = odd.cells % rest.size
        metrics = cells // rest.shape[1]
        is_harmless = smooth.ravel()[odd.cells] * characters.harmless[metrics, 0] > 0
        # After a pause each card warms up or cools at its own pace; one that fails gets hotter.
        is_harmless |= characters.temperature[metrics] & self._scatter.shrinks(rest, cells)
        is_harmless |= _is_over(smooth, odd.cells)
        return np.where(is_harmless, 0.0, odd.nats)

    def _arrange(self, rows: tuple[EntityKey, ...], metrics: tuple[str, ...]) -> None:
        self._steady.arrange(rows, metrics)
        self._scatter.arrange(rows, metrics)
        self._size.arrange(_ALL, metrics)

    def _grown(self, values: Cells, characters: Characters) -> Cells:
        """The values, of running totals what they have grown by."""
        totals = characters.growing
        if not totals.size:
            return values
        found = values.copy()
        rows, growing = self._steady.memory.rows, values.take(totals, axis=0)
        found[totals] = self._growth.of(growing, rows, characters.totals)
        return found

    def _follow_size(
        self, level: Cells, known: NDArray[np.bool_], characters: Characters, memory: float
    ) -> bool:
        """The running level of each metric; whether the job has begun to do something else."""
        size, highest = self._size.cells
        now, is_known = _middle(level, known)
        has_turned = bool(
            self._slots > _SLOTS_KNOWN_OF_IT
            and characters.works
            and _is_another(now, highest, characters.work[:, None] & is_known)
        )
        if has_turned:
            self._slots = _SLOTS_KNOWN_OF_IT
            self._steady.forget(_SLOTS_KNOWN_OF_IT)
            np.maximum(size, now, out=size, where=is_known)
        np.copyto(highest, np.maximum(now, (1 - 1 / memory) * highest), where=is_known)
        step = now - size
        step *= np.where(size == 0, 1.0, 1.0 / min(self._slots + 1, memory))
        np.add(size, step, out=size, where=is_known)
        return has_turned


_ALL = ("all",)


@lru_cache(maxsize=64)
def _smoothing(seconds: tuple[float, ...], slot_seconds: int) -> Cells:
    # Where samples come seldom, a slower pace still averages more of them than a quicker one.
    least = 2.0 ** np.arange(len(seconds))
    smoothing: Cells = np.maximum(np.array(seconds) / slot_seconds, least)[:, None, None]
    smoothing.flags.writeable = False
    return smoothing


def _is_over(smooth: Cells, cells: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether only a slow average shows it any more, which takes in what was long ago."""
    a_pace = smooth[0].size
    is_of_averages = cells >= _FIRST_OF_AVERAGES * a_pace
    slow = smooth.ravel()[cells]
    quick = smooth.ravel()[np.where(is_of_averages, cells - a_pace, cells)]
    return quick * np.sign(slow) < _STILL_SEEN * np.abs(slow)


def _level(values: Cells, circles: Circles | None) -> Cells:
    """What the others of each row's circle do, (metric, row); NaN where it cannot be said."""
    if circles is not None:
        return circles.median_of_others(values)
    if values.shape[1] < _MANY_ROWS or np.isnan(values).any():
        return leave_one_out_median(values)
    return np.broadcast_to(median_over_time(values)[:, None], values.shape)


def _is_another(now: Cells, highest: Cells, telling: NDArray[np.bool_]) -> bool:
    """Whether most metrics that tell are much higher than they have ever been; all (metric, 1)."""
    if not np.count_nonzero(now > _ANOTHER_WORK * highest):  # mostly not even one is
        return False
    moving = telling & (highest > 0)
    folds = now[moving] / highest[moving]
    return folds.size >= _FEWEST_MOVING and bool(median_over_time(folds) > _ANOTHER_WORK)


def _other_of_two(values: Cells) -> Cells:
    """What the other row does; who is odd of the two is known where only one way is bad."""
    return np.where(np.isnan(values), np.nan, values[:, ::-1])


def _middle(level: Cells, known: NDArray[np.bool_]) -> tuple[Cells, NDArray[np.bool_]]:
    """The median size of the level over rows, (metric, 1), and whether there is one."""
    some, seen = np.abs(sample(level)), sample(known)
    if np.count_nonzero(seen) != seen.size:
        some = np.where(seen, some, np.nan)
    middle = lower_median(some)[:, None]
    is_known = ~np.isnan(middle)
    return np.where(is_known, middle, 0.0), is_known


@lru_cache(maxsize=64)
def _passing(metrics: tuple[str, ...], slot_seconds: int) -> tuple[Cells, Cells]:
    """How many events of a slot may be a passing burst, (metric, 1), and what stands for them;
    infinite for metrics that do not count events."""
    characters = characters_of(metrics)
    seconds = np.where(characters.increments, slot_seconds, 1)[:, None]
    rate = np.where(characters.counted[:, None], characters.passing_rate * seconds, np.inf)
    return rate, np.log1p(rate)


def _haste(values: Cells, characters: Characters, slot_seconds: int) -> Cells | float:
    """How much less patience events need that no passing burst brings: (metric, row), or 1."""
    rate, passing = _passing(characters.metrics, slot_seconds)
    is_more = values > passing
    if not np.count_nonzero(is_more):
        return 1.0
    rates = np.expm1(np.where(is_more, values, 0.0))
    haste: Cells = np.where(is_more, rate / np.where(is_more, rates, 1.0), 1.0)
    return haste
