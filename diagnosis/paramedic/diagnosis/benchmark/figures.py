"""What a row says beyond formats, section 5: one fault at a time, warnings before a halt, culprits.

Shares and quantiles of nothing are None: they have not been measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.counts import Counts, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.diagnosis.benchmark.outcome import Claim, Found, Outcome

LEAST_SYMPTOM_SECONDS = 30
"""A machine that stops sooner after the onset has stopped in silence."""
MOST_IN_A_SET = 4
_BINS = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one row."""

    single_episodes: int
    """Faulty ones in which one machine broke."""
    single_precision: float | None
    single_recall: float | None
    single_f1: float | None
    single_delay_p50_seconds: float | None
    single_delay_p90_seconds: float | None
    warned_stops: int
    """Faults after which the machine stopped with symptoms before it."""
    warned_stops_named: float | None
    """The share that was named before the machine stopped."""
    warned_stops_lead_p50_seconds: float | None
    """From the accusation to the stop, of those that were named before it."""
    silent_stops: int
    silent_stops_named: float | None
    """The share that was named in time, which is after the stop."""
    silent_stops_delay_p50_seconds: float | None
    culprit_alone: float | None
    """The share of single-fault episodes in which the culprit was named in time and never anybody
    else."""
    culprit_alone_if_named: float | None
    """The same of those in which anybody was named."""
    claims: int
    """Accusations that a confidence was stated for."""
    confidence_error: float | None
    """Expected calibration error in ten bins; None where scores are no confidences."""
    small_sets: int
    """Episodes with 2 to 4 broken machines."""
    small_sets_precision: float | None
    small_sets_recall: float | None
    recall_pcie_downgrade: float | None
    recall_gpu_execution_error: float | None
    recall_aoc_error: float | None


def figures_of(outcomes: Sequence[Outcome], has_confidence: bool) -> Figures:
    """Everything; `has_confidence`: scores are confidences."""
    single = [one for one in outcomes if len(one.found) == 1 and not one.groups]
    found = [one for outcome in outcomes for one in outcome.found]
    counts, delays = Counts.of(single), _delays([one.found[0] for one in single])
    warned = [one for one in found if _symptom_seconds(one) >= LEAST_SYMPTOM_SECONDS]
    silent = [one for one in found if 0 <= _symptom_seconds(one) < LEAST_SYMPTOM_SECONDS]
    leads = [lead for one in warned if (lead := _lead(one)) is not None]
    alone = [one.hits == 1 and all(claim.is_right for claim in one.claims) for one in single]
    named = [is_so for is_so, one in zip(alone, single, strict=True) if one.claims]
    claims = [claim for one in outcomes for claim in one.claims] if has_confidence else []
    sets = [one.named_set for one in outcomes if one.named_set is not None]
    small = [one for one in sets if one.broken <= MOST_IN_A_SET]
    return Figures(
        single_episodes=len(single),
        single_precision=counts.precision if single else None,
        single_recall=counts.recall if single else None,
        single_f1=counts.f1 if single else None,
        single_delay_p50_seconds=quantile(delays, 0.5),
        single_delay_p90_seconds=quantile(delays, 0.9),
        warned_stops=len(warned),
        warned_stops_named=_share(len(leads), len(warned)),
        warned_stops_lead_p50_seconds=quantile(leads, 0.5),
        silent_stops=len(silent),
        silent_stops_named=_share(sum(one.in_time for one in silent), len(silent)),
        silent_stops_delay_p50_seconds=quantile(_delays(silent), 0.5),
        culprit_alone=_share(sum(alone), len(alone)),
        culprit_alone_if_named=_share(sum(named), len(named)),
        claims=len(claims),
        confidence_error=calibration_error(claims),
        small_sets=len(small),
        small_sets_precision=_share(sum(s.right for s in small), sum(s.accused for s in small)),
        small_sets_recall=_share(sum(s.right for s in small), sum(s.broken for s in small)),
        recall_pcie_downgrade=_recall(found, "pcie_downgrade"),
        recall_gpu_execution_error=_recall(found, "gpu_execution_error"),
        recall_aoc_error=_recall(found, "aoc_error"),
    )


def calibration_error(claims: Sequence[Claim]) -> float | None:
    """How far the stated confidence is from the share that was right, over bins of equal width."""
    bins: dict[int, list[Claim]] = {}
    for claim in claims:
        bins.setdefault(min(_BINS - 1, int(claim.score * _BINS)), []).append(claim)
    surplus = (abs(sum(one.score - one.is_right for one in some)) for some in bins.values())
    return sum(surplus) / len(claims) if claims else None


def _symptom_seconds(found: Found) -> int:
    """From the onset until the machine stopped; below 0 where it never did."""
    return -1 if found.stop_seconds is None else found.stop_seconds


def _lead(found: Found) -> int | None:
    """How long before the stop it was named; None where it was not."""
    if found.delay_seconds is None or found.stop_seconds is None:
        return None
    lead = found.stop_seconds - found.delay_seconds
    return lead if lead >= 0 else None


def _delays(found: Sequence[Found]) -> list[int]:
    return [one.delay_seconds for one in found if one.in_time and one.delay_seconds is not None]


def _recall(found: Sequence[Found], kind: str) -> float | None:
    those = [one.in_time for one in found if one.kind == kind]
    return _share(sum(those), len(those))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
