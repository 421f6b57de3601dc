"""Flight recorders: which ranks hang, when everybody waits?

A rank waits with reason when the oldest collective it has not completed lacks somebody who has not
begun it. Whoever is waited for and does not wait for anybody with reason is what holds the rest up:
it never came, or it came and its own device never finished what all the others have finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paramedic.diagnosis.flight_recorder.reading import Pending, RankDump


@dataclass(frozen=True, slots=True)
class Holdup:
    """A rank that the others wait for."""

    rank: int
    group: str
    """As people call it."""
    sequence: int
    """The number of the collective in its group."""
    waiting: int
    """How many ranks wait in it."""
    is_begun: bool
    """Whether the rank itself has begun it, and has not finished what the others have."""

    def words(self) -> str:
        """What the dumps say, as a summary puts it."""
        which = f"collective {self.sequence} of {self.group}"
        if self.is_begun:
            return f"rank {self.rank} has not finished {which}, which all others of it have"
        ranks = "1 rank waits" if self.waiting == 1 else f"{self.waiting} ranks wait"
        return f"rank {self.rank} has not begun {which}, in which {ranks}"


def hanging_ranks(dumps: Sequence[RankDump]) -> frozenset[int]:
    """The ranks that hold the others up; none where nobody waits."""
    by_rank = {dump.rank: dump for dump in dumps}
    waits = {
        dump.rank: frozenset(other for _, other in _missed_by(dump, by_rank)) for dump in dumps
    }
    waited_for = frozenset[int]().union(*waits.values())
    stuck = {dump.rank for dump in dumps if _stuck_in(dump, by_rank) is not None}
    return frozenset(rank for rank in waited_for | stuck if not waits.get(rank))


def holdups(dumps: Sequence[RankDump]) -> tuple[Holdup, ...]:
    """The ranks that hang, in their order, each with where most others wait for it."""
    by_rank = {dump.rank: dump for dump in dumps}
    return tuple(_holdup(rank, by_rank) for rank in sorted(hanging_ranks(dumps)))


def _holdup(rank: int, by_rank: Mapping[int, RankDump]) -> Holdup:
    own = by_rank.get(rank)
    stuck = None if own is None else _stuck_in(own, by_rank)
    if own is not None and stuck is not None:
        others, number = len(own.groups[stuck]) - 1, own.pending[stuck].oldest
        return Holdup(rank, own.names.get(stuck, stuck), number, others, is_begun=True)
    waiting: dict[tuple[str, int], list[RankDump]] = {}
    for dump in by_rank.values():
        for group, other in _missed_by(dump, by_rank):
            if other == rank:
                waiting.setdefault((group, dump.pending[group].oldest), []).append(dump)
    (group, number), those = max(waiting.items(), key=lambda one: (len(one[1]), one[0]))
    return Holdup(rank, those[0].names.get(group, group), number, len(those), is_begun=False)


def _missed_by(dump: RankDump, by_rank: Mapping[int, RankDump]) -> Iterator[tuple[str, int]]:
    """Whom a rank waits for, and in which group: who has not begun the oldest collective there that
    it has not completed."""
    for group, pending in dump.pending.items():
        for other in dump.groups.get(group, ()):
            if other != dump.rank and not _has_begun(by_rank.get(other), group, pending.oldest):
                yield group, other


def _stuck_in(dump: RankDump, by_rank: Mapping[int, RankDump]) -> str | None:
    """The group of which everybody else is past what this rank has not completed."""
    for group, pending in dump.pending.items():
        others = [other for other in dump.groups.get(group, ()) if other != dump.rank]
        theirs = [_pending_in(by_rank.get(other), group) for other in others]
        if theirs and all(one is not None and one.oldest > pending.newest for one in theirs):
            return group
    return None


def _has_begun(dump: RankDump | None, group: str, number: int) -> bool:
    pending = _pending_in(dump, group)
    return pending is not None and pending.newest >= number


def _pending_in(dump: RankDump | None, group: str) -> Pending | None:
    return None if dump is None else dump.pending.get(group)
