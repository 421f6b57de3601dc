"""How the evidence stands that a machine departs from its peers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.explanation.gates import why_not_compared
from paramedic.diagnosis.explanation.standing import Inspected, Standing
from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.departures import DepartureWatch
    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.diagnosis.paced import PacedTest
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import NodeName

_KIND = "departure"


def of_machine(
    node: NodeName, watch: MachineWatch, picture: JobPicture, second: int | None
) -> Iterator[Standing]:
    """The evidence against the node and its GPUs, and what keeps it from being compared."""
    gate = why_not_compared(node, picture, second, watch.settings)
    found = list(_told_by(watch, node))
    if not found:
        key, note = EntityKey(Entity.NODE, node), gate or "nothing of it has been compared yet"
        yield Standing(key, Tier.PATTERN, _KIND, None, None, note=note)
    for one in found:
        notes = (one.note, f"not compared now: {gate}" if gate else "")
        yield replace(one, note="; ".join(note for note in notes if note))


def _told_by(watch: MachineWatch, node: NodeName) -> Iterator[Standing]:
    """What the watch tells itself; where it cannot, what can be read from its tests."""
    asked: object = watch
    if isinstance(asked, Inspected):
        yield from asked.standing(node)
    else:
        yield from _read_from(watch.departures, node)


def _read_from(departures: DepartureWatch, node: NodeName) -> Iterator[Standing]:
    """Each row of the node by the test that has most evidence against it."""
    strongest: dict[EntityKey, Standing] = {}
    for test in departures._all():  # noqa: SLF001 (until the watch tells it itself)
        for at, row in enumerate(test.scores.rows if test.scores is not None else ()):
            if row.node == node:
                standing = _of_test(test, at, row)
                known = strongest.get(row, standing)
                strongest[row] = max(known, standing, key=lambda one: one.share)
    yield from strongest.values()


def _of_test(test: PacedTest, at: int, row: EntityKey) -> Standing:
    score = float(test.evidence.score[at])
    since = moment(int(test.evidence.since[at])) if score > 0 else None
    return Standing(row, Tier.PATTERN, _KIND, score, test.level, since, unit="nats")
