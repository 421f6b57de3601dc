"""What is heard of a node: for how long nothing, and which metrics only its peers send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import Entity, EntityKey
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.absence import AbsenceWatch
    from paramedic.ingest.contract import NodeName, Window

_KINDS = {Entity.GPU: "GPU", Entity.NODE: "host", Entity.RANK: "rank"}
_SHOWN = 4
"""Metrics that are named."""
_UNIT = "s"


def of_hearing(
    node: NodeName, windows: Mapping[Entity, Window], absences: AbsenceWatch
) -> Iterator[Standing]:
    """Whether each kind of the node's telemetry comes; kinds that no node sends are left out."""
    for entity, window in windows.items():
        rows = [at for at, row in enumerate(window.rows) if row.node == node]
        if window.rows:
            yield _of_window(node, entity, window, np.array(rows, np.intp), absences)
    if not any(window.rows for window in windows.values()):
        key = EntityKey(Entity.NODE, node)
        yield Standing(key, Tier.HEARTBEAT, "telemetry", None, None, note="no node is heard of")


def _of_window(
    node: NodeName, entity: Entity, window: Window, rows: NDArray[np.intp], absences: AbsenceWatch
) -> Standing:
    kind = _KINDS[entity]
    key = EntityKey(Entity.NODE, node)
    level = absences.needed_seconds(entity, window)
    heard = window.observed[rows].any(axis=(0, 1))
    if not heard.any():
        counted = absences.silent_seconds(node, entity)
        others = ", though of others" if window.observed.any() else ", nor of any other"
        note = f"no {kind} telemetry of it in the last {_seconds(window)} s{others}"
        if counted is None:
            return Standing(key, Tier.HEARTBEAT, f"{kind} telemetry", None, level, note=note)
        silent, since = float(_seconds(window)), None
    else:
        last = window.seconds[int(np.flatnonzero(heard)[-1])]
        silent, since = float(window.last_second - last), moment(last)
        counted, note = absences.silent_seconds(node, entity), _note(window, rows)
        counted = silent if counted is None else min(silent, counted)
    return Standing(
        key,
        Tier.HEARTBEAT,
        f"{kind} telemetry",
        counted,
        level,
        since=since if silent else None,
        note=note,
        unit=_UNIT,
        holds=tuple(_holds(counted, silent, window)),
    )


def _holds(counted: float, silent: float, window: Window) -> Iterator[Hold]:
    """Of a silence only those seconds count in which most nodes are heard."""
    if counted + window.slot_seconds < silent:
        words = (
            "a silence counts while most other nodes are heard, and anew after what came late: so"
            " much of it does"
        )
        yield Hold(words, counted, silent, _UNIT)


def _note(window: Window, rows: NDArray[np.intp]) -> str:
    """How many peers there are, and what they send that it does not."""
    seen = np.asarray(window.observed.any(axis=2))
    others = np.delete(seen, rows, axis=0)
    peers = np.count_nonzero(others.any(axis=1))
    if not peers:
        return "nobody to compare it with"
    words = f"{peers} rows of others to compare it with"
    missing = [
        metric
        for at, metric in enumerate(window.metrics)
        if not seen[rows, at].any() and 2 * np.count_nonzero(others[:, at]) > peers
    ]
    named = some_names([measure_of(metric).name for metric in missing], _SHOWN)
    return f"{words}; most of them send and it does not: {named}" if missing else words


def _seconds(window: Window) -> int:
    return len(window.seconds) * window.slot_seconds
