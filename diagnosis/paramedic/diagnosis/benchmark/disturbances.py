"""What a disturbance costs: the product on disturbed episodes beside itself on the same ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.bootstrap import compare
from paramedic.diagnosis.benchmark.counts import Counts, quantile
from paramedic.diagnosis.benchmark.scoreboard import delays_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.diagnosis.benchmark.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One of them."""

    name: str
    episodes: int
    precision: float
    recall: float
    f1: float
    f1_undisturbed: float
    """On the same episodes."""
    f1_loss: float
    f1_loss_low: float | None
    f1_loss_high: float | None
    """95 % of resamples by job; None where the episodes are not the same."""
    delay_p50_seconds: float | None
    delay_p90_seconds: float | None

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)


def disturbance(
    name: str, disturbed: Sequence[Outcome], undisturbed: Sequence[Outcome]
) -> Disturbance:
    """Of outcomes on disturbed episodes; those of the same episodes are taken of the others."""
    plain = {one.facts.name: one for one in undisturbed}
    same = [plain[one.facts.name] for one in disturbed]
    lost = compare(same, disturbed)
    return _beside(name, disturbed, same, (lost.low, lost.high))


def unpaired(name: str, these: Sequence[Outcome], others: Sequence[Outcome]) -> Disturbance:
    """Of episodes that are of a harder sort from the beginning, beside others of the usual sort."""
    return _beside(name, these, others, (None, None))


def _beside(
    name: str,
    disturbed: Sequence[Outcome],
    plain: Sequence[Outcome],
    interval: tuple[float | None, float | None],
) -> Disturbance:
    counts, f1, delays = Counts.of(disturbed), Counts.of(plain).f1, delays_of(disturbed)
    return Disturbance(
        name=name,
        episodes=len(disturbed),
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        f1_undisturbed=f1,
        f1_loss=f1 - counts.f1,
        f1_loss_low=interval[0],
        f1_loss_high=interval[1],
        delay_p50_seconds=quantile(delays, 0.5),
        delay_p90_seconds=quantile(delays, 0.9),
    )
