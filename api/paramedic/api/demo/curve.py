"""Whether two loss curves are the same bit for bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Point = tuple[int, int]
"""Step and rank."""
Curve = Mapping[Point, Sequence[str]]
"""Every value that a rank wrote for a step, as `float.hex`; several when a step was done again."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer, and the first difference in words."""

    identical: bool
    difference: str = ""


def compare(reference: Curve, faulted: Curve, steps: int, ranks: int) -> Comparison:
    """Compare all steps from 0 to `steps` of all ranks with the undisturbed run.

    A recovery may split the commit of one step: whoever had not written it takes the next step
    from the others. So the ranks may leave one step incomplete, as long as one of them wrote it.
    """
    difference = _first_difference(reference, faulted) or _first_hole(faulted, steps, ranks)
    return Comparison(not difference, difference)


def steps_done(curve: Curve, ranks: int) -> int:
    """How many steps from 0 on have been written without a gap by some rank, and who finished.

    The last step must have been written by all ranks.
    """
    written: dict[int, int] = {}
    for step, _rank in curve:
        written[step] = written.get(step, 0) + 1
    count = 0
    while count in written:
        count += 1
    while count and written[count - 1] < ranks:
        count -= 1
    return count


def _first_difference(reference: Curve, faulted: Curve) -> str:
    for step, rank in sorted(faulted):
        wanted = reference.get((step, rank))
        if wanted is None:
            return f"the reference run has no step {step} of rank {rank}"
        for value in faulted[step, rank]:
            if value != wanted[-1]:
                return f"step {step}, rank {rank}: {value} instead of {wanted[-1]}"
    return ""


def _first_hole(faulted: Curve, steps: int, ranks: int) -> str:
    missing = [
        (step, rank)
        for step in range(steps)
        for rank in range(ranks)
        if (step, rank) not in faulted
    ]
    split = {step for step, _rank in missing}
    if not missing or (len(split) == 1 and len(missing) < ranks):
        return ""
    step, rank = missing[0]
    return f"step {step} of rank {rank} is missing ({len(missing)} values in {len(split)} steps)"
