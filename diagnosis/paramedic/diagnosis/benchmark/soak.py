"""The soak: healthy jobs for two months of job-hours, and who was accused in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.counts import poisson_upper_bound, ratio
from paramedic.diagnosis.benchmark.episodes import Part
from paramedic.diagnosis.benchmark.guard import OURS
from paramedic.diagnosis.benchmark.outcome import judge
from paramedic.diagnosis.benchmark.sizes import Amount, Size
from paramedic.diagnosis.benchmark.synthetic_source import SyntheticSource
from paramedic.diagnosis.benchmark.verdicts.detector import AS_IT_IS
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.benchmark.ledger import ResultsLedger

JOB_HOURS = 1440
MOST_IN_JOB_HOURS = 3
_SEEDS_APART = 1_000_000
_HOUR_SECONDS, _DAY_HOURS = 3600.0, 24.0


def soak_source(job_hours: int, seed: int) -> SyntheticSource:
    """Healthy jobs that no other benchmark draws."""
    nothing = Amount(0, 0)
    amounts = {Part.TRAIN: nothing, Part.VALIDATION: nothing, Part.TEST: Amount(0, job_hours)}
    return SyntheticSource(
        Size("soak", amounts, wants_proof=False), seed + _SEEDS_APART, has_twins=False
    )


@dataclass(frozen=True, slots=True)
class SoakReport:
    """What was raised, as far as the soak has come."""

    planned_job_hours: int
    job_hours: float
    false_alarms: int
    accusations: tuple[str, ...]
    """Every one, with its episode; repeats are here and are not counted."""

    @property
    def upper_bound(self) -> float:
        """Of false alarms in a job-day, at 95 % (Poisson)."""
        return ratio(_DAY_HOURS * poisson_upper_bound(self.false_alarms), self.job_hours)

    @property
    def most(self) -> int:
        """So many are allowed in the hours that are planned."""
        return MOST_IN_JOB_HOURS * self.planned_job_hours // JOB_HOURS

    @property
    def holds(self) -> bool:
        """Whether there are no more than that, so far."""
        return self.false_alarms <= self.most

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "planned_job_hours": self.planned_job_hours,
            "job_hours": self.job_hours,
            "false_alarms": self.false_alarms,
            "false_alarms_allowed": self.most,
            "false_alarms_upper_bound": self.upper_bound,
            "accusations": list(self.accusations),
            "holds": self.holds,
        }

    def lines(self) -> Iterator[str]:
        """For people."""
        yield from self.accusations
        yield (
            f"{counted(self.false_alarms, 'false alarm')} in {self.job_hours:.1f} of"
            f" {counted(self.planned_job_hours, 'healthy job-hour')} (95 %: below"
            f" {self.upper_bound:.3f} a job-day); at most {self.most} allowed:"
            f" {'held' if self.holds else 'MISSED'}"
        )


def soak_report(ledger: ResultsLedger, planned_job_hours: int) -> SoakReport:
    """Of all episodes that have been examined."""
    seconds, false_alarms, told = 0, 0, []
    for name, facts in sorted(ledger.facts.items()):
        if not ledger.has(name, OURS):
            continue
        alarms = ledger.results[name, OURS].alarms[AS_IT_IS]
        seconds += facts.seconds
        false_alarms += judge(facts, alarms, 0.0).false_alarms
        told += [
            f"{name}: {', '.join(alarm.nodes)} accused of {alarm.family} at"
            f" {alarm.second - facts.first_second} s"
            for alarm in alarms
        ]
    return SoakReport(planned_job_hours, seconds / _HOUR_SECONDS, false_alarms, tuple(told))
