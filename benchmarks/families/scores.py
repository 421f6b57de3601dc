"""How well families are named, and the page that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.families.cases import AFTER_SECONDS, Case, is_found
from numpy.typing import NDArray

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.knowledge import Knowledge
from paramedic.diagnosis.family.naming import FamilyNamer

Floats = NDArray[np.float64]
Results = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Score:
    """How well cases were named."""

    cases: int
    right_first: float
    right_in_three: float
    calibration_error: float
    """Expected, in ten bins of the first family's probability."""
    said_unknown: float
    by_family: Mapping[str, tuple[int, float]]
    """Cases and the share that is right first."""


def scored(cases: Sequence[Case], namer: FamilyNamer) -> Score:
    """Every signature named; nobody is left out for being named unknown."""
    namings = [namer.name(case.signature) for case in cases]
    is_right = np.array([n.fault is case.fault for n, case in zip(namings, cases, strict=True)])
    in_three = [
        case.fault in list(n.probabilities)[:3] for n, case in zip(namings, cases, strict=True)
    ]
    kinds = np.array([case.fault.value for case in cases])
    return Score(
        cases=len(cases),
        right_first=float(is_right.mean()),
        right_in_three=float(np.mean(in_three)),
        calibration_error=calibration_error(np.array([n.probability for n in namings]), is_right),
        said_unknown=float(np.mean([n.fault is Fault.UNKNOWN for n in namings])),
        by_family={
            kind: (int((kinds == kind).sum()), float(is_right[kinds == kind].mean()))
            for kind in sorted(set(kinds.tolist()))
        },
    )


def calibration_error(probabilities: Floats, is_right: NDArray[np.bool_]) -> float:
    """How far probabilities are from the shares that are right, in the mean over ten bins."""
    bins = np.minimum((probabilities * 10).astype(int), 9)
    apart = [
        abs(float((probabilities[bins == b] - is_right[bins == b]).mean())) * (bins == b).mean()
        for b in np.unique(bins)
    ]
    return float(sum(apart))


def measured_well(cases: Sequence[Case], namer: FamilyNamer, knowledge: Knowledge) -> Results:
    """Those that show anything, while the machine runs; and apart those after it stopped."""
    found = [case for case in cases if is_found(case, knowledge)]
    running = [case for case in found if not case.has_ended]
    ended = [case for case in found if case.has_ended]
    return {
        "shown": scored(running, namer),
        "after_a_stop": scored(ended, namer) if ended else None,
        "shows_nothing": len(cases) - len(found),
    }


def page(results: Mapping[str, Results], knowledge: Knowledge, seed: int) -> str:
    """The results as a document."""
    return "\n".join([
        "# Fault families: how well they are named",
        "",
        (
            "Made by `python benchmarks/train_families.py` "
            f"(seed {seed}, knowledge {knowledge.digest}). A case is a machine that is broken, "
            f"{', '.join(map(str, AFTER_SECONDS))} s after the onset, measured by "
            "`family/measuring.py` from the recording alone. What a machine's stop hides is given "
            "apart: other tiers name a process that has ended or hangs."
        ),
        *(line for name, result in results.items() for line in _section(name, result)),
        "",
    ])  # fmt: skip


def _section(name: str, result: Results) -> Iterator[str]:
    score, ended = result["shown"], result["after_a_stop"]
    yield from ("", f"## {name}", "", "| | |", "|---|---|")
    yield f"| cases | {score.cases} |"
    yield f"| right first | {score.right_first:.3f} |"
    yield f"| among the first three | {score.right_in_three:.3f} |"
    yield f"| expected calibration error | {score.calibration_error:.3f} |"
    yield f"| called unknown | {score.said_unknown:.3f} |"
    yield f"| show nothing yet, not counted | {result['shows_nothing']} |"
    if ended is not None:
        told = f"{ended.cases}, {ended.right_first:.3f}"
        yield f"| after a stop, not counted: cases, right first | {told} |"
    yield from ("", "| family | cases | right first |", "|---|---|---|")
    for family, (number, share) in score.by_family.items():
        yield f"| `{family}` | {number} | {share:.2f} |"
