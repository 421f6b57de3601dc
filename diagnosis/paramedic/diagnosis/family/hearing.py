"""Who is heard of no more, or only now and then, while others are: absence as a symptom.

Telemetry is lost everywhere now and then, so a machine or a card is compared with what is heard of
its peers in the same seconds, and of itself before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, Window

    Bools = NDArray[np.bool_]

_OFTEN_UNHEARD = 0.7
"""Who is heard in less than this share of what the peers are has holes, whatever the peers lose."""
_LESS = 0.85
"""A smaller loss than this is a hiccup, unless it comes again."""
_LITTLE_LESS, _AGAIN = 0.95, 2
_NEW_LOSS = 0.05
_CLEAR = 4.0
"""Standard deviations of what the peers' losses explain."""
_NEWEST_SLOTS = 10


@dataclass(frozen=True, slots=True)
class Loss:
    """What is not heard of one that should be."""

    share: float
    """What is heard, by what is heard of the peers."""
    is_clear: bool
    """More is lost than the peers' losses explain, and more than before."""

    @property
    def is_often(self) -> bool:
        """Whether it is enough to say so without a look at chance."""
        return self.share < _OFTEN_UNHEARD

    @classmethod
    def of(cls, mine: Bools, others: Bools, before: Bools) -> Loss:
        """Slots in which one is heard, (slots,), and its peers, (rows, slots)."""
        usual, own = float(np.median(others.mean(axis=1))), float(mine.mean())
        share = own / usual if usual else 1.0
        rate = (float((~others).sum()) + 1.0) / (others.size + 2.0)
        expected = rate * mine.size
        clear = expected + _CLEAR * float(np.sqrt(expected * (1.0 - rate)))
        is_less = share <= _LESS or (share <= _LITTLE_LESS and _holes(mine) >= _AGAIN)
        return cls(share, is_less and _is_new(mine, before) and float((~mine).sum()) >= clear)


def _holes(heard: Bools) -> int:
    """How many there are, of whatever length."""
    return int((heard[:-1] & ~heard[1:]).sum()) + int(not heard[0])


def _is_new(heard: Bools, before: Bools) -> bool:
    """Whether it was heard better when nothing was wrong: evidence begins late, so only the first
    half of what is before counts."""
    early = before[: (len(before) + 1) // 2]
    return not early.size or float(heard.mean()) < float(early.mean()) - _NEW_LOSS


@dataclass(frozen=True, slots=True)
class Hearing:
    """In which slots the rows of one kind are heard."""

    mine: Bools
    """(rows of the node, slots)."""
    others: Bools
    new: slice
    past: slice
    card: int | None = None
    """Which of the node's rows is accused; None: no card by itself."""

    @classmethod
    def of(
        cls, window: Window, node: NodeName, new: slice, past: slice, gpu: int | None = None
    ) -> Hearing:
        """Of the node's rows, and of all the others'; `gpu` is the card that is accused."""
        heard: Bools = np.any(window.observed, axis=1)
        is_mine = np.array([row.node == node for row in window.rows], np.bool_)
        indices = [row.index for row in window.rows if row.node == node]
        card = indices.index(gpu) if gpu is not None and gpu in indices else None
        return cls(heard[is_mine], heard[~is_mine], new, past, card)

    @property
    def any(self) -> Bools:
        """Whether any of the node's rows is heard, (slots,)."""
        found: Bools = np.any(self.mine, axis=0)
        return found

    @property
    def is_heard_now(self) -> bool:
        """Whether any of the node's rows has been heard in the newest slots."""
        return bool(self.any[self.new][-_NEWEST_SLOTS:].any())

    def loss(self) -> Loss | None:
        """Of the node as a whole; None where there is nobody to compare it with."""
        others = self.others[:, self.new]
        if not self.mine.size or not others.size:
            return None
        heard = self.any
        return Loss.of(heard[self.new], others, heard[self.past])

    def has_lost_cards(self, host_is_heard: bool) -> bool:
        """Whether a card that was heard is heard no more, while a sister or else the host is."""
        was: Bools = np.any(self.mine[:, self.past], axis=1)
        is_heard: Bools = np.any(self.mine[:, self.new][:, -_NEWEST_SLOTS:], axis=1)
        others_are = bool(is_heard.any()) or (len(self.mine) == 1 and host_is_heard)
        return others_are and any(bool(was[at]) and not is_heard[at] for at in self._asked)

    def has_unsteady_cards(self) -> bool:
        """Whether a card is heard only now and then in slots in which its sisters are."""
        if len(self.mine) < 2:
            return False
        return any(self._is_unsteady(at) for at in self._asked)

    @property
    def _asked(self) -> list[int]:
        """The cards that count: who is accused has its own troubles, not those of its sisters."""
        return list(range(len(self.mine))) if self.card is None else [self.card]

    def _is_unsteady(self, card: int) -> bool:
        own, sisters = self.mine[card], np.delete(self.mine, card, axis=0)
        told: Bools = np.any(sisters, axis=0)
        new, before = (told[part] for part in (self.new, self.past))
        if not new.any():
            return False
        loss = Loss.of(own[self.new][new], sisters[:, self.new][:, new], own[self.past][before])
        return loss.is_clear and bool(own[self.new].any())


def has_holes(hearings: list[Hearing]) -> bool:
    """Whether rows of the node are missing in every kind of telemetry that there is of it."""
    losses = [one for hearing in hearings if (one := hearing.loss()) is not None]
    is_often = all(one.is_often for one in losses)
    return bool(losses) and (is_often or all(one.is_clear for one in losses))
