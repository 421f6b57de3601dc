"""What must hold of a run: the episodes are hard enough, ours is the best of all rows, and Minder
behaves as its paper says.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.counts import ratio
from paramedic.diagnosis.benchmark.episodes import Part

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from paramedic.diagnosis.benchmark.bootstrap import Comparison
    from paramedic.diagnosis.benchmark.episodes import Facts
    from paramedic.diagnosis.benchmark.scoreboard import Row

OURS = "paramedic"
"""The whole product, by its verdicts."""
OUR_SCORES = "paramedic_scores"
"""Its pattern model alone; what each idea brings is measured against it."""
DISTURBED = "@"
"""Between ours and the name of a disturbance: the product on disturbed episodes."""
TOO_EASY_ABOVE = {"robust_z_cusum": 0.5, "minder_every_second": 0.9}
"""F1 on test above which the episodes are too easy."""
ONE_METRIC_SHARE = 0.2
P_VALUE = 0.01
MINDER = "minder"
_WORSE_THAN_MINDER = {
    "minder_no_continuity": ("precision", "precision falls without continuity"),
    "minder_concatenated": ("f1", "concatenated metrics are worse"),
    "minder_one_model": ("f1", "one model for all metrics is worse"),
}
MINDER_AND_WORSE = (MINDER, *_WORSE_THAN_MINDER)
"""Minder, and what its paper finds to be worse; each with a threshold chosen for it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One condition."""

    words: str
    holds: bool

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)


def guard_lines(rows: Iterable[Row], facts: Iterable[Facts]) -> Iterator[Line]:
    """Whether the test episodes are hard enough, as far as those who measure it took part."""
    f1 = {row.detector: row.f1 for row in rows}
    for name, most in TOO_EASY_ABOVE.items():
        if name in f1:
            yield Line(f"{name}: F1 {f1[name]:.3f}, at most {most}", f1[name] <= most)
    shown = [
        fault.metrics_shown
        for one in facts
        if one.part is Part.TEST
        for fault in one.faults
        if fault.metrics_shown is not None
    ]
    if shown:
        share = ratio(sum(count <= 1 for count in shown), len(shown))
        yield Line(
            f"faults that show in one metric only: {share:.0%}, at least {ONE_METRIC_SHARE:.0%}",
            share >= ONE_METRIC_SHARE,
        )


def promise_lines(
    rows: Sequence[Row], against: Mapping[str, Comparison], wants_proof: bool
) -> Iterator[Line]:
    """Whether ours has the best F1; with `wants_proof` also by the paired test.

    Variants of ours are no rivals: they are there for what each idea brings.
    """
    f1 = {row.detector: row.f1 for row in rows}
    for rival, comparison in against.items():
        if is_variant_of_ours(rival):
            continue
        words = f"{OURS} {f1[OURS]:.3f} above {rival} {f1[rival]:.3f}"
        proof = f", p = {comparison.p_value:.2g}" if wants_proof else ""
        proved = comparison.p_value < P_VALUE or not wants_proof
        yield Line(words + proof, comparison.difference > 0 and proved)


def minder_lines(rows: Iterable[Row]) -> Iterator[Line]:
    """Whether Minder's variants are worse, as the paper says; all rows are on all episodes."""
    known = {row.detector: row for row in rows}
    for name, (figure, words) in _WORSE_THAN_MINDER.items():
        if MINDER in known and name in known:
            whole, variant = (getattr(known[one], figure) for one in (MINDER, name))
            told = f"Minder as in its paper, {words}: {figure} {whole:.3f}, without {variant:.3f}"
            yield Line(told, whole > variant)


def is_variant_of_ours(name: str) -> bool:
    """Whether a row is our detector with something left out, or disturbed."""
    return name.startswith((f"{OURS}_", f"{OURS}{DISTURBED}"))


def is_disturbed(name: str) -> bool:
    """Whether a row is the product on disturbed episodes."""
    return name.startswith(f"{OURS}{DISTURBED}")


def is_product(name: str) -> bool:
    """Whether a row's alarms are verdicts, and its scores confidences."""
    return name == OURS or is_disturbed(name)


def baseline_of(name: str, known: Container[str]) -> str:
    """What a row is compared with: ours, or where something is left out of it, the same with it."""
    is_ablation = name.startswith(f"{OURS}_") and name != OUR_SCORES
    return OUR_SCORES if is_ablation and OUR_SCORES in known else OURS
