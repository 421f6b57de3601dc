"""Evidence of oddness that adds up over slots, for all rows of one kind at all paces at once.

S = max(0, S + gain). What a metric adds in a slot is by how many nats it exceeds the allowance,
divided by the slots of its average, which repeats itself; at most a share of the level, so that
what lasts less than the metric's patience decides nothing, however odd; and less what the metric
adds for the other rows in the mean, so that a crowd that is restless as a whole accuses nobody.

Were healthy oddness exponential and new in every slot, S would exceed h in a share of less than
e^-h of all row-slots. How fast the tail of S really falls is measured by how high it climbed before
it came back to zero, and the level is as much higher as it falls slower. What never comes back,
which a fault does not, raises no level for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.climbs import Climbs
from paramedic.diagnosis.node_evidence import SUSPECT
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey
    from paramedic.models.departure.model import Departures

    Cells = NDArray[np.float64]

SECONDS_PER_DAY = 86_400
_CALM_NATS = 1.5
"""What a slot without oddness takes off, divided by the slots of the average."""
STEP_SAYS = 0.6
"""So much of what decides can be said within one step."""
_CROWD = 3.0
"""So many times what the others show in the mean is taken off."""
_FEW_SLOTS = 20
_FEWEST_SLOTS = 3.0
_TOLD_OF = 0.97
"""By how much the account of who has added what is forgotten in a slot."""
_SUPPORTED = 3.0
"""What a metric says counts up to so many times what the others say with it."""
_KEPT_LATELY = 1.5 * SUSPECT
"""Of the level: who is no longer odd is soon not suspected, however sure it was."""
_SEVERAL = 2
_ONE = ("evidence",)


def level_nats(false_alarms_per_job_day: float, tests: int, slot_seconds: int) -> float:
    """The level at which so many tests together give the stated rate, by an exponential tail.

    >>> round(level_nats(0.01, 512, 1), 1)
    22.2
    """
    slots = SECONDS_PER_DAY / slot_seconds * max(tests, 1)
    return math.log(slots / false_alarms_per_job_day)


class _Row(IntEnum):
    """Of every pace."""

    SCORE = 0
    SINCE = 1
    """The second in which the score left zero."""
    PEAK = 2
    """The highest score since."""
    SAID = 3
    """What its work has added within about a step."""
    LATELY = 4
    """The score, of which only a little is kept: it tells soon that nothing speaks any more."""


class _Told(IntEnum):
    LATELY = 0
    IN_ALL = 1
    """Forgotten as the score forgets it."""


class _Life(IntEnum):
    SEEN = 0
    """Slots in which the row was observed, less those that it has to settle longer."""
    CALM = 1
    """Slots since the row was last suspected, at any pace, by what was added lately."""
    MET = 2


@dataclass(frozen=True)
class Terms:
    """By what evidence is judged in one slot."""

    base_level: float
    """What independent slots would need, in nats."""
    allowance_nats: float
    least_slots: float
    """No fewer slots than these decide."""
    settle_slots: float
    newcomer_slots: float
    """A row that comes later than the others has to settle so long."""
    smoothing: Cells
    """The paces in slots, (pace, 1, 1)."""
    patience_slots: Cells
    """(metric, 1)."""
    lone_slots: Cells
    """The same for a metric that departs alone, (metric, 1)."""
    memory_slots: float
    forgetting_slots: float
    step_slots: float = 0.0
    """How long a step of the job takes, or what is over so soon that it might be one."""

    @cached_property
    def calm(self) -> Cells:
        """What a slot without oddness takes off, (pace, 1, 1)."""
        return _CALM_NATS / self.smoothing

    @cached_property
    def full_least_slots(self) -> Cells:
        """To how many slots the fewest that decide come, (pace, 1)."""
        # An average shows what is over for as many slots more as it takes in.
        least = max(self.least_slots, _FEWEST_SLOTS) + self.smoothing[:, 0] - 1
        return _full_slots(least, self.forgetting_slots)

    @cached_property
    def full_slots(self) -> Cells:
        """To how many slots those of a metric's patience come, (pace, metric, 1)."""
        return _full_slots(self.patience_slots + self.smoothing, self.forgetting_slots)

    @cached_property
    def full_lone_slots(self) -> Cells:
        """The same for a metric that departs alone."""
        return _full_slots(self.lone_slots + self.smoothing, self.forgetting_slots)

    def hastened(self, haste: Cells | float) -> tuple[Cells, Cells]:
        """The slots of each metric's patience, and of a lone one's, where some have less of it."""
        if isinstance(haste, float):
            return self.full_slots, self.full_lone_slots
        patience, lone = (
            _full_slots(one * haste + self.smoothing, self.forgetting_slots)
            for one in (self.patience_slots, self.lone_slots)
        )
        return patience, lone


@dataclass(slots=True)
class Evidence:
    """The scores of the rows of one kind."""

    paces: int
    tails: list[Climbs] = field(init=False)
    _rows: CellMemory = field(init=False)
    _life: CellMemory = field(default_factory=lambda: CellMemory(len(_Life)))
    _mean: CellMemory = field(init=False)
    """What each metric of each row has added lately, in the mean, by pace."""
    _told: CellMemory = field(default_factory=lambda: CellMemory(len(_Told)))
    """What each metric of each row has added, at all paces together."""
    _level: Cells = field(init=False)
    _strength: Cells | None = None
    """As long as the scores are the same."""
    _slots: int = 0

    def __post_init__(self) -> None:
        self.tails = [Climbs() for _ in range(self.paces)]
        self._rows = CellMemory(len(_Row) * self.paces)
        self._mean = CellMemory(self.paces)
        self._level = np.zeros(self.paces)

    @property
    def rows(self) -> tuple[EntityKey, ...]:
        """Whose scores these are."""
        return self._rows.rows  # type: ignore[return-value]

    @property
    def strength(self) -> Cells:
        """Each row's evidence as a share of the level, at the pace that has most of it."""
        if not self._slots:
            return np.zeros(len(self.rows))
        if self._strength is None:
            self._strength = (self._of(_Row.SCORE) / self._level[:, None]).max(axis=0)
        return self._strength

    @property
    def nats(self) -> Cells:
        """Each row's evidence at the pace that has most of it, in nats that count fully."""
        return self.strength * self.level

    @property
    def level(self) -> float:
        """The decision level of the quickest pace, in nats."""
        return float(self._level[0])

    @property
    def calm_slots(self) -> Cells:
        """How long each row has not been suspected."""
        return self._life.line(_Life.CALM)

    @property
    def decides(self) -> NDArray[np.bool_]:
        """Whose evidence is at the level, and adds up still."""
        decided: NDArray[np.bool_] = self.strength >= 1
        return decided & (self.calm_slots == 0) if self._slots else decided

    def pace_of(self, row: int) -> int:
        """The pace at which most speaks against the row."""
        return int((self._of(_Row.SCORE)[:, row] / self._level).argmax())

    def since(self, row: int) -> int:
        """The second in which the row's evidence began."""
        return int(self.sinces(np.array([row]))[0])

    def sinces(self, rows: NDArray[np.intp]) -> Cells:
        """`since` of several rows."""
        paces = (self._of(_Row.SCORE)[:, rows] / self._level[:, None]).argmax(axis=0)
        sinces: Cells = self._of(_Row.SINCE)[paces, rows]
        return sinces

    def speakers(self, row: int) -> Cells:
        """How much each metric has added lately against the row."""
        return self._told.cells[_Told.LATELY, :, row].copy()

    def makers(self, row: int) -> Cells:
        """How much of what has added up against the row each metric has added, lately or before."""
        return self._told.cells[_Told.IN_ALL, :, row].copy()

    @property
    def levels(self) -> Cells:
        """What decides at each pace, in nats."""
        return self._level.copy()

    def seen_slots(self, row: int) -> float:
        """In how many slots the row was observed, less those that it has to settle longer."""
        return float(self._life.line(_Life.SEEN)[row])

    def said(self, row: int) -> Cells:
        """What its work has added within about a step, at each pace."""
        return self._of(_Row.SAID)[:, row].copy()

    def lately(self, pace: int) -> tuple[Cells, Cells]:
        """What each row has added a slot lately at a pace, and what was taken off for the others'
        showing as much, (row,)."""
        mean = self._mean.cells[pace]
        others = (mean.sum(axis=1, keepdims=True) - mean) / max(mean.shape[1] - 1, 1)
        return mean.sum(axis=0), _CROWD * others.sum(axis=0)

    def restart(self) -> None:
        """Nothing of before speaks of now."""
        self._strength = None
        if self._rows.cells.size:
            for one in (_Row.SCORE, _Row.PEAK, _Row.SAID, _Row.LATELY):
                self._of(one)[:] = 0.0
            self._told.cells[:] = 0.0
            self._life.line(_Life.CALM)[:] = 0.0

    def stand(self) -> None:
        """All do nothing, which makes nobody well: calm begins anew."""
        if self._life.cells.size:
            self._life.line(_Life.CALM)[:] = 0.0

    def settle(self, slots: float) -> None:
        """Let every row have at most so many slots behind it."""
        if self._life.cells.size:
            seen = self._life.line(_Life.SEEN)
            np.minimum(seen, slots, out=seen)

    def doubt(self, rows: list[int], kept_share: float) -> None:
        """Something else explains these rows: most of what speaks against them is dropped."""
        self._strength = None
        self._of(_Row.SCORE)[:, rows] *= kept_share
        self._of(_Row.LATELY)[:, rows] *= kept_share
        self._of(_Row.PEAK)[:, rows] = self._of(_Row.SCORE)[:, rows]

    def add(self, slot: Departures, second: int, terms: Terms) -> None:
        """Add a slot; what was not observed adds nothing either way."""
        self._arrange(slot)
        self._strength = None
        self._level = np.array([tail.level(terms.base_level) for tail in self.tails])
        holes = None if np.count_nonzero(slot.known) == slot.known.size else ~slot.known
        counts = self._live(holes, terms)
        self._fade(holes, terms)
        self._count_calm(holes)
        rows = self._concerned(slot, terms)
        for tail in self.tails:
            tail.live(len(slot.rows))
        if rows.size:
            gains = np.zeros((self.paces, len(slot.rows)))
            gains[:, rows] = self._gains(slot, rows, holes, terms)
            gains *= counts
            self._move(gains, second, terms)
        self._slots += 1

    def _count_calm(self, holes: NDArray[np.bool_] | None) -> None:
        """A slot more for everybody; who is not seen does not get better by what is forgotten."""
        calm = self._life.line(_Life.CALM)
        calm += 1
        if holes is not None:
            is_unseen = np.logical_and.reduce(holes, axis=0)
            calm[is_unseen & np.logical_or.reduce(self._of(_Row.SCORE) > 0, axis=0)] -= 1

    def _of(self, which: _Row) -> Cells:
        cells: Cells = self._rows.cells[which * self.paces : (which + 1) * self.paces, 0]
        return cells

    def _arrange(self, slot: Departures) -> None:
        self._rows.arrange(slot.rows, _ONE)
        self._life.arrange(slot.rows, _ONE)
        self._mean.arrange(slot.rows, slot.metrics)
        self._told.arrange(slot.rows, slot.metrics)

    def _fade(self, holes: NDArray[np.bool_] | None, terms: Terms) -> None:
        """What has been said before counts for less by now."""
        self._told.cells[_Told.LATELY] *= _TOLD_OF
        self._told.cells[_Told.IN_ALL] *= 1 - 1 / terms.forgetting_slots
        said = self._of(_Row.SAID)
        said *= 1 - 1 / max(terms.step_slots, 1.0)
        if self._slots > _FEW_SLOTS:
            kept = 1 - 1 / terms.memory_slots
            self._mean.cells *= kept if holes is None else np.where(holes, 1.0, kept)

    def _concerned(self, slot: Departures, terms: Terms) -> NDArray[np.intp]:
        """The rows that have evidence, or of which something is odd.

        Of most rows nothing is: what the others show takes nothing off where nothing is.
        """
        concerned = np.logical_or.reduce(self._of(_Row.SCORE) > 0, axis=0)
        odd = np.flatnonzero(slot.nats > terms.allowance_nats)
        concerned[odd % len(slot.rows)] = True
        return np.flatnonzero(concerned)

    def _gains(
        self,
        slot: Departures,
        rows: NDArray[np.intp],
        holes: NDArray[np.bool_] | None,
        terms: Terms,
    ) -> Cells:
        """What each of these rows gains at each pace, (pace, row)."""
        added, mean = self._added(slot, rows, terms), self._mean.cells
        self._told.cells[:, :, rows] += added.sum(axis=0)
        if self._slots > _FEW_SLOTS:
            mean[:, :, rows] += added / terms.memory_slots
        others = mean.sum(axis=2, keepdims=True) - mean.take(rows, axis=2)
        others *= _CROWD / max(mean.shape[2] - 1, 1)
        if holes is not None:
            np.copyto(others, 0.0, where=holes[:, rows])
        total = np.subtract(added, others, out=added).sum(axis=1)
        largest = self._level[:, None] / terms.full_least_slots
        gains: Cells = np.minimum(total - terms.calm[:, 0], largest)
        return gains

    def _added(self, slot: Departures, rows: NDArray[np.intp], terms: Terms) -> Cells:
        """What each metric of these rows adds at each pace, (pace, metric, row)."""
        level, calm = self._level[:, None, None], terms.calm
        haste = slot.haste if isinstance(slot.haste, float) else slot.haste[:, rows]
        patience, lone = terms.hastened(haste)
        added = slot.nats.take(rows, axis=2)
        added -= terms.allowance_nats
        np.maximum(added, 0.0, out=added)
        added /= terms.smoothing
        np.minimum(added, calm + level / patience, out=added)
        _agree(added, slot.characters.matters)
        _support(added, calm + level / lone, slot.characters.usage)
        self._ration(added, rows, slot.characters.work, terms)
        return added

    def _ration(
        self, added: Cells, rows: NDArray[np.intp], work: NDArray[np.bool_], terms: Terms
    ) -> None:
        """One step says no more than so much of a machine's work: a stall is over with its step,
        and who is slow shows it in a part of every one."""
        some = added[:, work]
        if not np.count_nonzero(some):
            return
        said, calm = self._of(_Row.SAID), terms.calm[:, 0]
        total = some.sum(axis=1)
        room = np.maximum(STEP_SAYS * self._level[:, None] - said[:, rows], 0.0) + calm
        share = np.minimum(1.0, room / np.where(total > 0, total, 1.0))
        if np.count_nonzero(share < 1):
            added[:, work] = some * share[:, None]
        said[:, rows] += np.maximum(total * share - calm, 0.0)

    def _live(self, holes: NDArray[np.bool_] | None, terms: Terms) -> NDArray[np.bool_]:
        """Count the slot for those who are seen; returns whose evidence counts by now."""
        slots, met = self._life.line(_Life.SEEN), self._life.line(_Life.MET)
        seen = np.ones(slots.size, np.bool_)
        if holes is not None:
            np.logical_not(np.logical_and.reduce(holes, axis=0), out=seen)
        is_new = seen > met
        if np.count_nonzero(is_new):
            met[is_new] = 1.0
            if self._slots > terms.settle_slots:
                slots[is_new] = terms.settle_slots - terms.newcomer_slots
        slots += seen
        return seen & (slots > terms.settle_slots)

    def _move(self, gains: Cells, second: int, terms: Terms) -> None:
        """Bring all scores up to date; whoever has none and gains nothing stays as he is."""
        score, since, peak, _, lately = (self._of(one) for one in _Row)
        since[(score == 0) & (gains > 0)] = second
        # Twice the level is kept at most, so that a row that recovers is clear in finite time.
        levels, kept = self._level[:, None], 1 - 1 / terms.forgetting_slots
        _add_up(score, gains, kept, 2 * levels)
        _add_up(lately, gains, kept, _KEPT_LATELY * levels)
        np.maximum(peak, score, out=peak)
        # Every healthy row has a little against it now and then.
        is_suspected = np.logical_or.reduce(lately >= SUSPECT * levels, axis=0)
        self._life.line(_Life.CALM)[is_suspected] = 0
        is_over = (score == 0) & (peak > 0)
        if np.count_nonzero(is_over):
            climbs = zip(self.tails, is_over, peak, self._level, strict=True)
            for tail, over, highest, level in climbs:
                tail.learn(np.minimum(highest[over], level))
            peak[is_over] = 0.0


def _add_up(scores: Cells, gains: Cells, kept: float, most: Cells) -> None:
    """Brings these scores up to date in place."""
    scores *= kept
    scores += gains
    np.maximum(scores, 0.0, out=scores)
    np.minimum(scores, most, out=scores)


def _full_slots(slots: Cells, memory: float) -> Cells:
    """To how many slots so many come, of which some is forgotten.

    With a gain g and a memory of m slots, S = g m (1 - e^(-n / m)) after n slots.
    """
    full: Cells = memory * -np.expm1(-slots / memory)
    return full


def _agree(added: Cells, matters: tuple[NDArray[np.intp], ...]) -> None:
    """Metrics of one matter add no more together than the loudest of them."""
    speaks = np.logical_or.reduce(added > 0, axis=(0, 2))
    for which in matters:
        if np.count_nonzero(speaks[which]) < _SEVERAL:
            continue
        some = added[:, which]
        total = some.sum(axis=1, keepdims=True)
        share = some.max(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
        added[:, which] = some * share


def _support(added: Cells, alone: Cells, usage: NDArray[np.bool_]) -> None:
    """A metric without the others adds up to what it may add alone, (pace, metric, 1).

    That a host is busy supports nothing else: it is so now and then, whatever else is wrong.
    """
    others = added.sum(axis=1, keepdims=True) - added
    if usage.any():
        others[:, ~usage] -= added[:, usage].sum(axis=1, keepdims=True)
    others *= _SUPPORTED
    np.maximum(others, alone, out=others)
    np.minimum(added, others, out=added)
