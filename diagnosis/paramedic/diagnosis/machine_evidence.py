"""Evidence of a machine for the fault that it is called by, beside what it is accused by.

What accuses a machine and what tells its fault need not be the same: all cards of a host lose work,
and it is the disk that says why. A verdict shows both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Evidence, Fault
from paramedic.diagnosis.family.grounds import grounds_of
from paramedic.diagnosis.family.symptoms import codes_of
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.recent import parted, recent_means
from paramedic.diagnosis.telling_apart import sets_apart
from paramedic.ingest.contract import Entity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.diagnosis.family.measuring import Stretch
    from paramedic.diagnosis.family.signature import Signature
    from paramedic.ingest.contract import NodeName, Window

_ABSENCES = {
    "cards_missing": Entity.GPU,
    "cards_unsteady": Entity.GPU,
    "rows_missing": Entity.NODE,
}
"""By sign, whose rows are missing."""
_BY_REASONS = frozenset({"slowed_by_heat", "slowed_by_power"})


def evidence_of(
    fault: Fault,
    signature: Signature,
    windows: Mapping[Entity, Window],
    node: NodeName,
    stretch: Stretch,
    gpu: int | None = None,
) -> Iterator[Evidence]:
    """What the machine, or this card of it, shows of the fault; the most telling first."""
    grounds, since = grounds_of(fault, signature), moment(stretch.onset)
    for code in sorted(codes_of(signature, fault)):
        yield Evidence("xid", float(code), None, 0.0, since)
    for sign in sorted(grounds.signs & _ABSENCES.keys()):
        yield from _absence(windows.get(_ABSENCES[sign]), node, stretch, gpu)
    if grounds.signs & _BY_REASONS and signature.slow_reasons is not None:
        yield Evidence("gpu_throttle_reasons", float(signature.slow_reasons), 0.0, 0.0, since)
    yield from evidence_by(grounds.metrics, signature, windows, node, stretch, gpu)


def evidence_by(
    metrics: Iterable[str],
    signature: Signature,
    windows: Mapping[Entity, Window],
    node: NodeName,
    stretch: Stretch,
    gpu: int | None = None,
) -> Iterator[Evidence]:
    """These metrics of the machine, where their numbers set it apart."""
    for metric in metrics:
        for entity, window in windows.items():
            if metric in window.metrics:
                card = gpu if entity is Entity.GPU else None
                value, peers = _numbers(window, metric, node, stretch, card)
                departure = signature.departures.get(metric)
                deviation = 0.0 if departure is None else round(departure.deviation, 2)
                if metric in signature.grown:
                    deviation = abs(deviation)
                evidence = Evidence(metric, value, peers, deviation, moment(stretch.onset))
                if sets_apart(evidence):
                    yield evidence


def _numbers(
    window: Window, metric: str, node: NodeName, stretch: Stretch, card: int | None
) -> tuple[float | None, float | None]:
    """Of the card, or the row that is farthest from the peers, and the peers' middle."""
    slots = max(1, (stretch.until + 1 - stretch.onset) // window.slot_seconds)
    means = recent_means(window, metric, slots)
    mine, peers_rows = parted(window, node, card)
    others, own = _known(means[peers_rows]), _known(means[mine])
    peers = float(np.median(others)) if others.size else None
    if not own.size:
        return None, peers
    farthest = np.abs(own - (0.0 if peers is None else peers)).argmax()
    return float(own[farthest]), peers


def _known(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return means[np.isfinite(means)]


def _absence(
    window: Window | None, node: NodeName, stretch: Stretch, card: int | None
) -> Iterator[Evidence]:
    """Which share of the time is heard of the row that is heard least, and of its peers."""
    if window is None:
        return
    share = window.observed[:, :, stretch.unheard(window)].any(axis=1).mean(axis=1)
    mine = np.array([row.node == node for row in window.rows])
    own = [
        float(share[at])
        for at, row in enumerate(window.rows)
        if row.node == node and card in (None, row.index)
    ]
    if own and not mine.all():
        peers = float(np.median(share[~mine]))
        yield Evidence("telemetry", min(own), peers, 0.0, moment(stretch.onset))
