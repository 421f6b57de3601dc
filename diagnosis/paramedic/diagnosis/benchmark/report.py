"""From the ledger to the report: thresholds from validation, rows from test."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.bars import bars_of
from paramedic.diagnosis.benchmark.bootstrap import compare
from paramedic.diagnosis.benchmark.counts import Counts, area_under_precision_recall
from paramedic.diagnosis.benchmark.disturbances import disturbance
from paramedic.diagnosis.benchmark.episodes import Part
from paramedic.diagnosis.benchmark.guard import (
    DISTURBED,
    OURS,
    baseline_of,
    guard_lines,
    is_disturbed,
    minder_lines,
    promise_lines,
)
from paramedic.diagnosis.benchmark.outcome import judge
from paramedic.diagnosis.benchmark.scoreboard import row_of
from paramedic.diagnosis.benchmark.slices import slices_of
from paramedic.diagnosis.benchmark.thresholds import best_threshold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.diagnosis.benchmark.bars import Bar
    from paramedic.diagnosis.benchmark.bootstrap import Comparison
    from paramedic.diagnosis.benchmark.disturbances import Disturbance
    from paramedic.diagnosis.benchmark.guard import Line
    from paramedic.diagnosis.benchmark.ledger import ResultsLedger
    from paramedic.diagnosis.benchmark.outcome import Outcome
    from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
    from paramedic.diagnosis.benchmark.scoreboard import Row
    from paramedic.diagnosis.benchmark.slices import Slice


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run found."""

    rows: tuple[Row, ...]
    """The best F1 first; after them those that examined a share of the episodes."""
    slices: tuple[Slice, ...]
    comparisons: Mapping[str, Comparison]
    """Ours against each other row; against each row with something left out, ours with it."""
    guard: tuple[Line, ...]
    promises: tuple[Line, ...]
    settings: Mapping[str, object]
    real: tuple[RealSetRow, ...] = field(default=())
    """Rows on data of others, where its folder was given."""
    disturbed: tuple[Disturbance, ...] = field(default=())
    bars: tuple[Bar, ...] = field(default=())
    """What is promised of the product, where it took part."""
    is_bound: bool = field(default=False)
    """Whether the run is large enough for the bars to have to hold."""

    @property
    def rows_of_all(self) -> tuple[Row, ...]:
        """Those that examined as much as anybody."""
        most = max((row.episodes for row in self.rows), default=0)
        return tuple(row for row in self.rows if row.episodes == most)

    @property
    def holds(self) -> bool:
        """Whether the episodes are hard enough and what is promised is kept."""
        conditions = [one.holds for one in (*self.guard, *self.promises)]
        return not self.missed and all((*conditions, *(row.holds for row in self.real)))

    @property
    def missed(self) -> tuple[Bar, ...]:
        """The bars that do not hold and have to."""
        return tuple(bar for bar in self.bars if self.is_bound and bar.holds is False)

    def to_json(self) -> dict[str, object]:
        """The report as formats, section 5, has it."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "comparisons": [
                {"detector": self._baseline_of(name), "against": name, **asdict(comparison)}
                for name, comparison in self.comparisons.items()
            ],
            "slices": [one.to_json() for one in self.slices],
            "real": [row.to_json() for row in self.real],
            "guard": [line.to_json() for line in self.guard],
            "promises": [line.to_json() for line in self.promises],
            "disturbed": [one.to_json() for one in self.disturbed],
            "bars": [bar.to_json() for bar in self.bars],
            "holds": self.holds,
            "settings": dict(self.settings),
        }

    def _baseline_of(self, name: str) -> str:
        return baseline_of(name, {row.detector for row in self.rows})


@dataclass(frozen=True, slots=True)
class Scored:
    """A detector at the threshold that validation chose, or at the only one that it has."""

    detector: str
    threshold: float
    test: tuple[Outcome, ...]
    pr_auc: float
    """On test."""

    @property
    def row(self) -> Row:
        """Its row of the table."""
        return row_of(self.detector, Part.TEST.value, self.threshold, self.test, self.pr_auc)


def score(ledger: ResultsLedger, detector: str) -> Scored:
    """Choose the detector's threshold, and judge its test episodes with it."""
    validation, test = (_outcomes(ledger, detector, one) for one in (Part.VALIDATION, Part.TEST))
    threshold = best_threshold(validation) if validation else next(iter(test))
    area = area_under_precision_recall(Counts.of(outcomes) for outcomes in test.values())
    return Scored(detector, threshold, tuple(test[threshold]), area)


def report_on(
    ledger: ResultsLedger,
    detectors: Sequence[str],
    settings: Mapping[str, object],
    wants_proof: bool,
    real: Sequence[RealSetRow] = (),
) -> Report:
    """Score everybody on test and compare. `wants_proof`: ours must also win the paired test."""
    validation = (one for one in ledger.facts.values() if one.part is Part.VALIDATION)
    known_kinds = {fault.kind for one in validation for fault in one.faults}
    scored = {name: score(ledger, name) for name in detectors if not is_disturbed(name)}
    rows = [one.row for one in scored.values()]
    against = _comparisons(scored)
    disturbed = _disturbed(ledger, detectors, scored)
    ours = [row for row in rows if row.detector == OURS]
    return Report(
        rows=tuple(sorted(rows, key=lambda row: (-row.episodes, -row.f1, row.detector))),
        slices=tuple(
            one
            for name, those in scored.items()
            for one in slices_of(name, those.test, known_kinds)
        ),
        comparisons=against,
        guard=tuple(guard_lines(rows, ledger.facts.values())),
        promises=(*promise_lines(rows, against, wants_proof), *minder_lines(rows)),
        settings=settings,
        real=tuple(real),
        disturbed=disturbed,
        bars=tuple(bar for row in ours for bar in bars_of(row, disturbed, real)),
        is_bound=wants_proof,
    )


def _outcomes(ledger: ResultsLedger, detector: str, part: Part) -> dict[float, list[Outcome]]:
    """What came of the part's episodes, at each threshold."""
    outcomes: dict[float, list[Outcome]] = {}
    for facts in sorted(ledger.facts.values(), key=lambda one: one.name):
        if facts.part is part and ledger.has(facts.name, detector):
            result = ledger.results[facts.name, detector]
            for threshold, alarms in result.alarms.items():
                outcome = judge(facts, alarms, result.compute_seconds)
                outcomes.setdefault(threshold, []).append(outcome)
    return outcomes


def _comparisons(scored: Mapping[str, Scored]) -> dict[str, Comparison]:
    """Each against its baseline, on the episodes that it has examined itself."""
    found = {}
    for name, one in scored.items():
        baseline = baseline_of(name, scored)
        if name != baseline and baseline in scored:
            known = {outcome.facts.name: outcome for outcome in scored[baseline].test}
            same = [known[outcome.facts.name] for outcome in one.test]
            found[name] = compare(same, one.test)
    return found


def _disturbed(
    ledger: ResultsLedger, detectors: Sequence[str], scored: Mapping[str, Scored]
) -> tuple[Disturbance, ...]:
    """The product on disturbed episodes, where it has seen them undisturbed too."""
    names = [name for name in detectors if is_disturbed(name) and OURS in scored]
    seen = {name: _outcomes(ledger, name, Part.TEST) for name in names}
    return tuple(
        disturbance(name.partition(DISTURBED)[2], outcomes, scored[OURS].test)
        for name, by_threshold in seen.items()
        for outcomes in by_threshold.values()
    )
