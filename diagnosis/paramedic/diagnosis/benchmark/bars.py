"""What is promised of the product, figure by figure, and whether it holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paramedic.diagnosis.benchmark.disturbances import Disturbance
    from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
    from paramedic.diagnosis.benchmark.scoreboard import Row

_SLOWEST_SAMPLES, _SLOWEST_BASE_SECONDS = 3, 15
_CADENCES = {5: 0.03, 15: 0.06, 30: 0.10}
"""The most that F1 may lose at a cadence of so many seconds."""
_LOSSES = {"no_roles": 0.03, "stages": 0.04, "few_samples": 0.04, "few_metrics": 0.04}
_REAL = ("flight_recorder", "healthy_loss_curves", "loss_spike")


@dataclass(frozen=True, slots=True)
class Bar:
    """One promise."""

    words: str
    figure: float | None
    """None: not measured in this run."""
    limit: float
    is_least: bool = True
    """Whether the figure has to reach the limit, or must not exceed it."""
    detail: str = ""

    @property
    def holds(self) -> bool | None:
        """None where nothing was measured."""
        if self.figure is None:
            return None
        return self.figure >= self.limit if self.is_least else self.figure <= self.limit

    def line(self) -> str:
        """For people."""
        wanted = f"{'at least' if self.is_least else 'at most'} {self.limit:g}"
        if self.figure is None:
            return f"{self.words}: not measured ({wanted})"
        verdict = "held" if self.holds else "MISSED"
        return f"{self.words}: {self.figure:.3g} ({wanted}): {verdict}{self.detail}"

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return {**asdict(self), "holds": self.holds}


def bars_of(
    row: Row, disturbed: Sequence[Disturbance], real: Iterable[RealSetRow]
) -> Iterator[Bar]:
    """Every bar, in the order of the table that promises them."""
    further = row.figures
    yield Bar("one fault: precision", further.single_precision, 0.94)
    yield Bar("one fault: recall", further.single_recall, 0.94)
    yield Bar("one fault: F1", further.single_f1, 0.95)
    yield _most("onset to verdict, median (s)", further.single_delay_p50_seconds, 15)
    yield _most("onset to verdict, p90 (s)", further.single_delay_p90_seconds, 60)
    yield Bar("stops with 30 s of symptoms: named before", further.warned_stops_named, 0.90)
    lead = further.warned_stops_lead_p50_seconds
    yield Bar("stops with 30 s of symptoms: median lead (s)", lead, 20)
    yield _healthy(row)
    yield Bar("culprit named and no victim", further.culprit_alone, 0.95)
    losses = {one.name: one for one in disturbed}
    yield from _of_cadences(losses)
    yield _loss(losses, "no_roles")
    yield _most("confidence: calibration error", further.confidence_error, 0.05)
    yield Bar("recall of pcie_downgrade", further.recall_pcie_downgrade, 0.85)
    yield Bar("recall of gpu_execution_error", further.recall_gpu_execution_error, 0.85)
    yield Bar("recall of aoc_error", further.recall_aoc_error, 0.85)
    yield Bar("2 to 4 faults at once: precision", further.small_sets_precision, 0.90)
    yield Bar("2 to 4 faults at once: recall", further.small_sets_recall, 0.85)
    few = losses.get("few_machines")
    yield Bar("4 to 8 machines: F1", None if few is None else few.f1, 0.88)
    yield from (_loss(losses, name) for name in ("stages", "few_samples", "few_metrics"))
    yield Bar("fault family right first", row.family_top1, 0.75)
    yield from _of_real_sets(real)


def _most(words: str, figure: float | None, limit: float) -> Bar:
    return Bar(words, figure, limit, is_least=False)


def _healthy(row: Row) -> Bar:
    hours, bound = row.healthy_job_hours, row.false_alarms_upper_bound
    detail = f" in {hours:.0f} job-hours (95 %: below {bound:.2f} a job-day)"
    count = row.healthy_false_alarms if hours else None
    return Bar("false alarms on healthy runs", count, 0, is_least=False, detail=detail)


def _of_cadences(losses: Mapping[str, Disturbance]) -> Iterator[Bar]:
    for cadence, most in _CADENCES.items():
        known = losses.get(f"{cadence}s")
        slowest = _SLOWEST_SAMPLES * cadence + _SLOWEST_BASE_SECONDS
        yield _loss(losses, f"{cadence}s", most)
        delay = None if known is None else known.delay_p50_seconds
        yield _most(f"{cadence}s: onset to verdict, median (s)", delay, slowest)


def _loss(losses: Mapping[str, Disturbance], name: str, most: float | None = None) -> Bar:
    known = losses.get(name)
    limit = _LOSSES[name] if most is None else most
    return _most(f"{name}: F1 lost", None if known is None else known.f1_loss, limit)


def _of_real_sets(real: Iterable[RealSetRow]) -> Iterator[Bar]:
    known = {row.name: row for row in real}
    for name in _REAL:
        row = known.get(name)
        yield Bar(
            f"set of others {name}" + ("" if row is None else f", {row.promise}"),
            None if row is None else float(row.holds),
            1,
        )
