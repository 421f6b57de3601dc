"""A row of the table: one detector at its chosen threshold on all episodes of one part."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.bootstrap import f1_interval
from paramedic.diagnosis.benchmark.counts import Counts, poisson_upper_bound, quantile, ratio
from paramedic.diagnosis.benchmark.figures import figures_of
from paramedic.diagnosis.benchmark.guard import is_product

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.diagnosis.benchmark.figures import Figures
    from paramedic.diagnosis.benchmark.outcome import GroupEvent, Outcome

_DAY, _HOUR = 86_400.0, 3_600.0
DEADLINES = (15, 30, 60, 120, 300, 600)
"""Seconds after the onset for which the curve of recall is given."""


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of formats, section 5, first; then what goes beyond them."""

    detector: str
    split: str
    precision: float
    recall: float
    f1: float
    f1_low: float
    f1_high: float
    delay_p50_seconds: float | None
    delay_p90_seconds: float | None
    false_alarms_per_job_day: float
    """On healthy episodes alone."""
    false_alarms_upper_bound: float
    """Of the same, at 95 % (Poisson)."""
    family_top1: float | None
    """None where the detector names no fault at all."""
    set_precision: float | None
    set_recall: float | None
    compute_seconds_per_second: float
    episodes: int
    """Faulty ones."""
    healthy_job_hours: float
    threshold: float
    hits: int
    false_alarms: int
    misses: int
    healthy_false_alarms: int
    set_exact: float | None
    groups: int
    groups_reported: int
    groups_one_accused: int
    recall_within_seconds: Mapping[str, float]
    pr_auc: float | None
    """Area under precision over recall, all thresholds; None where they are not known."""
    figures: Figures
    """What goes beyond."""

    def to_json(self) -> dict[str, object]:
        """Plain JSON values, all side by side."""
        fields = asdict(self)
        return {**fields, **fields.pop("figures")}


def row_of(
    detector: str,
    split: str,
    threshold: float,
    outcomes: Sequence[Outcome],
    pr_auc: float | None = None,
) -> Row:
    """Everything that the table says of a detector."""
    counts, interval = Counts.of(outcomes), f1_interval(outcomes)
    healthy, sets, groups = _Healthy.of(outcomes), _Sets.of(outcomes), _groups(outcomes)
    delays = delays_of(outcomes)
    compute_seconds = sum(one.compute_seconds for one in outcomes)
    return Row(
        detector=detector,
        split=split,
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        f1_low=interval.low,
        f1_high=interval.high,
        delay_p50_seconds=quantile(delays, 0.5),
        delay_p90_seconds=quantile(delays, 0.9),
        false_alarms_per_job_day=ratio(healthy.false_alarms, healthy.seconds / _DAY),
        false_alarms_upper_bound=ratio(
            poisson_upper_bound(healthy.false_alarms), healthy.seconds / _DAY
        ),
        family_top1=_family_top1(outcomes),
        set_precision=sets.precision,
        set_recall=sets.recall,
        compute_seconds_per_second=ratio(
            compute_seconds, sum(one.facts.seconds for one in outcomes)
        ),
        episodes=sum(not one.facts.is_healthy for one in outcomes),
        healthy_job_hours=healthy.seconds / _HOUR,
        threshold=threshold,
        hits=counts.hits,
        false_alarms=counts.false_alarms,
        misses=counts.misses,
        healthy_false_alarms=healthy.false_alarms,
        set_exact=sets.exact,
        groups=len(groups),
        groups_reported=sum(one.is_reported for one in groups),
        groups_one_accused=sum(one.is_one_accused for one in groups),
        recall_within_seconds=_curve(outcomes),
        pr_auc=pr_auc,
        figures=figures_of(outcomes, has_confidence=is_product(detector)),
    )


def delays_of(outcomes: Sequence[Outcome]) -> list[int]:
    """Seconds from onset to alarm of all that was found in time."""
    found = (one for outcome in outcomes for one in outcome.found)
    return [one.delay_seconds for one in found if one.in_time and one.delay_seconds is not None]


@dataclass(frozen=True, slots=True)
class _Healthy:
    """What was raised where nothing broke."""

    false_alarms: int
    seconds: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> _Healthy:
        healthy = [one for one in outcomes if one.facts.is_healthy]
        return cls(
            sum(one.false_alarms for one in healthy), sum(one.facts.seconds for one in healthy)
        )


@dataclass(frozen=True, slots=True)
class _Sets:
    """How well several machines that broke at once were named; None where none did."""

    precision: float | None
    recall: float | None
    exact: float | None

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> _Sets:
        sets = [one.named_set for one in outcomes if one.named_set is not None]
        if not sets:
            return cls(None, None, None)
        right = sum(one.right for one in sets)
        return cls(
            ratio(right, sum(one.accused for one in sets)),
            ratio(right, sum(one.broken for one in sets)),
            ratio(sum(one.right == one.accused == one.broken for one in sets), len(sets)),
        )


def _groups(outcomes: Sequence[Outcome]) -> list[GroupEvent]:
    return [group for one in outcomes for group in one.groups]


def _family_top1(outcomes: Sequence[Outcome]) -> float | None:
    found = [one for outcome in outcomes for one in outcome.found if one.in_time]
    if all(one.family is None for one in found):
        return None
    return ratio(sum(one.is_family_right for one in found), len(found))


def _curve(outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """Which share of the faulty machines was found so soon."""
    delays, faulty = delays_of(outcomes), sum(len(one.found) for one in outcomes)
    return {str(d): ratio(sum(delay <= d for delay in delays), faulty) for d in DEADLINES}
