"""The same figures for a part of the faults: by kind, loudness, size, missing share, novelty.

A kind or a loudness belongs to a fault, so its slice has recall and delay alone; a size or a
missing share belongs to the episode, whose false alarms count as well.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.counts import Counts, quantile, ratio
from paramedic.diagnosis.benchmark.scoreboard import delays_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from paramedic.diagnosis.benchmark.outcome import Found, Outcome

_SIZES = ((8, "up to 8 nodes"), (32, "up to 32 nodes"), (128, "up to 128 nodes"))
_MISSING = ((0.0, "none"), (0.1, "up to 10 %"), (0.3, "up to 30 %"))


@dataclass(frozen=True, slots=True)
class Slice:
    """One line of the breakdown."""

    detector: str
    by: str
    value: str
    faulty_machines: int
    recall: float
    delay_p50_seconds: float | None
    precision: float | None = None
    f1: float | None = None

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)


def slices_of(
    detector: str, outcomes: Sequence[Outcome], known_kinds: Collection[str]
) -> Iterator[Slice]:
    """All breakdowns of one detector's outcomes; `known_kinds`: those of validation, if any."""
    faulty = [one for one in outcomes if not one.facts.is_healthy]
    yield from _by_fault(detector, "kind", faulty, lambda one: one.kind)
    yield from _by_fault(detector, "loudness", faulty, lambda one: one.loudness)
    yield from _by_fault(
        detector, "novelty", faulty,
        lambda one: "known kinds" if one.kind in known_kinds else "kinds only in test",
    )  # fmt: skip
    yield from _by_episode(detector, "size", faulty, lambda one: size_of(one.facts.nodes))
    yield from _by_episode(
        detector, "missing", faulty, lambda one: missing_of(one.facts.missing_share)
    )
    yield from _by_episode(
        detector, "broken at once", faulty, lambda one: str(len(one.found) or "a group")
    )


def size_of(nodes: int) -> str:
    """The size class of a job."""
    return next((words for most, words in _SIZES if nodes <= most), f"above {_SIZES[-1][0]} nodes")


def missing_of(share: float) -> str:
    """The class of a share of missing values."""
    return next((words for most, words in _MISSING if share <= most), "above 30 %")


def _by_fault(
    detector: str, by: str, outcomes: Sequence[Outcome], value_of: Callable[[Found], str]
) -> Iterator[Slice]:
    found: dict[str, list[Found]] = defaultdict(list)
    for one in (one for outcome in outcomes for one in outcome.found):
        found[value_of(one)].append(one)
    for value, some in sorted(found.items()):
        delays = [one.delay_seconds for one in some if one.in_time and one.delay_seconds]
        recall = ratio(sum(one.in_time for one in some), len(some))
        yield Slice(detector, by, value, len(some), recall, quantile(delays, 0.5))


def _by_episode(
    detector: str, by: str, outcomes: Sequence[Outcome], value_of: Callable[[Outcome], str]
) -> Iterator[Slice]:
    some: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        some[value_of(outcome)].append(outcome)
    for value, those in sorted(some.items()):
        counts = Counts.of(those)
        yield Slice(
            detector, by, value, counts.hits + counts.misses, counts.recall,
            quantile(delays_of(those), 0.5), counts.precision, counts.f1,
        )  # fmt: skip
