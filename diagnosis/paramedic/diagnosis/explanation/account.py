"""What evidence against a row has to get past before it decides, and how far each of that is.

Figures are those of the newest slot, and of what the row and the others have added lately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.evidence import STEP_SAYS
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.measures import measure_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.evidence import Terms
    from paramedic.diagnosis.rows_test import RowsTest

_MUCH_HIGHER = 1.2
"""A level so many times as high as in a calm job is worth mention."""
_GOOD_PART = 0.25
"""So much of what is added is worth mention when it is taken off."""
_LONE = 0.75
"""Who says so much of it is supported by nothing else."""
_NEARLY = 0.9


def holds_of_row(test: RowsTest, row: int, second: int) -> Iterator[Hold]:
    """What keeps the evidence against one row from adding up, or from being enough."""
    terms, evidence = test.terms, test.evidence
    if terms is None or not evidence.rows:
        return
    yield from _learning(test, terms, row)
    strength = float(evidence.strength[row])
    if strength >= 1:
        return
    yield from _of_the_crowd(test, terms, row)
    if strength > 0:
        yield from _patience(test, terms, row, second)
        yield from _one_step(test, terms, row)
        yield from _raised_level(test, terms, row)


def _learning(test: RowsTest, terms: Terms, row: int) -> Iterator[Hold]:
    """A row counts when it has been seen for long enough; one that came late, for longer."""
    left = terms.settle_slots - test.evidence.seen_slots(row)
    if left >= 0:
        whole = terms.settle_slots if left <= terms.settle_slots else terms.newcomer_slots
        width = test.slot_seconds
        words = "what it shows counts when it has been seen for long enough"
        yield Hold(words, max(whole - left, 0.0) * width, whole * width, "s")


def _of_the_crowd(test: RowsTest, terms: Terms, row: int) -> Iterator[Hold]:
    """What many show is nobody's own: it adds up only beyond three times what others show."""
    for pace in range(test.evidence.paces):
        added, taken = test.evidence.lately(pace)
        calm = float(terms.calm[pace, 0, 0])
        own, off = float(added[row]), float(taken[row])
        if own <= calm or off < _GOOD_PART * own or own > off + calm:
            continue
        nodes = {one.node for one in test.evidence.rows}
        alike = {test.evidence.rows[at].node for at in np.flatnonzero(added > calm).tolist()}
        yield Hold(
            f"{len(alike)} of {len(nodes)} nodes show such things, and three times what the others"
            " add in the mean is taken off: it has to add more than that",
            own, off + calm, "nats a slot",
        )  # fmt: skip
        return


def _patience(test: RowsTest, terms: Terms, row: int, second: int) -> Iterator[Hold]:
    """What says most has to go on for as long as it may pass by itself."""
    assert test.slot is not None  # it has evidence
    speakers = test.evidence.speakers(row)
    total = float(speakers.sum())
    if total <= 0:
        return
    loudest = int(speakers.argmax())
    is_alone = float(speakers[loudest]) >= _LONE * total
    slots = float((terms.lone_slots if is_alone else terms.patience_slots)[loudest, 0])
    haste = test.slot.haste
    slots *= haste if isinstance(haste, float) else float(haste[loudest, row])
    slots += float(terms.smoothing[test.evidence.pace_of(row), 0, 0])
    needed = max(slots, terms.least_slots) * test.slot_seconds
    lasted = second - test.evidence.since(row) + test.slot_seconds
    if lasted < needed < np.inf:
        what = measure_of(test.slot.metrics[loudest]).name
        alone = ", of which nothing else tells," if is_alone else ""
        yield Hold(f"{what}{alone} has to depart for so long", lasted, needed, "s")


def _one_step(test: RowsTest, terms: Terms, row: int) -> Iterator[Hold]:
    """One step of the job says no more than so much of a machine's work."""
    pace = test.evidence.pace_of(row)
    room = STEP_SAYS * float(test.evidence.levels[pace])
    said = float(test.evidence.said(row)[pace])
    if terms.step_slots > 1 and said >= _NEARLY * room:
        seconds = terms.step_slots * test.slot_seconds
        words = f"a step takes {seconds:.3g} s, and one step says no more than so much of its work"
        yield Hold(words, said, room, "nats")


def _raised_level(test: RowsTest, terms: Terms, row: int) -> Iterator[Hold]:
    """Rows that look odd and recover tell how odd healthy rows of this job look."""
    level = float(test.evidence.levels[test.evidence.pace_of(row)])
    if level >= _MUCH_HIGHER * terms.base_level:
        yield Hold(
            f"rows of this job have looked odd and recovered again and again, so that {level:.3g}"
            f" nats are needed and not {terms.base_level:.3g}"
        )
