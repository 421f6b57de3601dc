"""How much is drawn: for a look, and for figures that can be quoted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.episodes import Part

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Amount:
    """Of one part."""

    fault_episodes: int
    healthy_hours: int
    for_variants: float = 1.0
    """The share of both that variants examine of which nothing is promised: they are many, and
    their rows need less."""
    for_disturbed: float = 1.0
    """The share of the faulty episodes that are also examined disturbed."""


@dataclass(frozen=True, slots=True)
class Size:
    """Of a run. Faults and healthy hours are in the same proportion on validation and test."""

    name: str
    amounts: Mapping[Part, Amount]
    wants_proof: bool
    """Whether there is enough of it for the paired test to have to be won."""

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return {"name": self.name, **{p.value: asdict(a) for p, a in self.amounts.items()}}


QUICK = Size(
    "quick",
    {Part.TRAIN: Amount(2, 1), Part.VALIDATION: Amount(6, 1), Part.TEST: Amount(10, 1)},
    wants_proof=False,
)
FULL = Size(
    "full",
    {
        Part.TRAIN: Amount(16, 12),
        Part.VALIDATION: Amount(60, 40, for_variants=0.4),
        Part.TEST: Amount(300, 200, for_variants=0.1, for_disturbed=0.5),
    },
    wants_proof=True,
)
SIZES = {size.name: size for size in (QUICK, FULL)}
