"""Flight recorders: which ranks hang, when everybody waits?

A rank waits with reason when the oldest collective it has not completed lacks somebody who has not
begun it. Whoever is waited for and does not wait for anybody with reason is what holds the rest up:
it never came, or it came and its own device never finished what all the others have finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from paramedic.diagnosis.benchmark.real_sets.flight_reading import Pending, RankDump, read_dumps
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow

_FOLDER = "flight_recorder"
EXPECTED = {
    "gpu_error_2nd": frozenset({9, 14}),
    "lock_gil_1st": frozenset({9, 14}),
    "lock_gil_2nd": frozenset({10, 15}),
}


def hanging_ranks(dumps: Sequence[RankDump]) -> frozenset[int]:
    """The ranks that hold the others up; none where nobody waits."""
    by_rank = {dump.rank: dump for dump in dumps}
    waits = {dump.rank: frozenset(_missed_by(dump, by_rank)) for dump in dumps}
    waited_for = frozenset[int]().union(*waits.values())
    stuck = {dump.rank for dump in dumps if _is_stuck(dump, by_rank)}
    return frozenset(rank for rank in waited_for | stuck if not waits.get(rank))


def evaluate(folder: Path) -> RealSetRow:
    """Judge all dumps. Raises RealSetError."""
    found = {name: hanging_ranks(read_dumps(folder / _FOLDER / name)) for name in EXPECTED}
    right = sum(found[name] == expected for name, expected in EXPECTED.items())
    named = {name: " ".join(map(str, sorted(ranks))) for name, ranks in found.items()}
    promise = "exactly the ranks that hang are named"
    return RealSetRow(
        "flight_recorder",
        {"right": right, "dumps": len(EXPECTED), **named},
        promise,
        right == len(EXPECTED),
    )


def _missed_by(dump: RankDump, by_rank: dict[int, RankDump]) -> Iterator[int]:
    """Whom a rank waits for: who has not begun the oldest collective that it has not completed."""
    for group, pending in dump.pending.items():
        for other in dump.groups.get(group, ()):
            if other != dump.rank and not _has_begun(by_rank.get(other), group, pending.oldest):
                yield other


def _is_stuck(dump: RankDump, by_rank: dict[int, RankDump]) -> bool:
    """Whether everybody else in a group is past what this rank has not completed."""
    for group, pending in dump.pending.items():
        others = [other for other in dump.groups.get(group, ()) if other != dump.rank]
        theirs = [_pending_in(by_rank.get(other), group) for other in others]
        if theirs and all(one is not None and one.oldest > pending.newest for one in theirs):
            return True
    return False


def _has_begun(dump: RankDump | None, group: str, number: int) -> bool:
    pending = _pending_in(dump, group)
    return pending is not None and pending.newest >= number


def _pending_in(dump: RankDump | None, group: str) -> Pending | None:
    return None if dump is None else dump.pending.get(group)
