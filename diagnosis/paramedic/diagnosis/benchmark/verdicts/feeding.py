"""A history told as `replay` tells a recording of it: batches, events, and stream time.

    history ──moments──▶ batches and events ──listen──▶ what was said, and when

Rows go through the assembler of recordings, which costs a small part of what a detector does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.ordering import StreamTime
from paramedic.ingest.contract import Event, NodeName, Window
from paramedic.ingest.recordings.assembling import Assembler
from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.recordings.introducing import introduced
from paramedic.ingest.recordings.moment import MICROSECONDS, Moment
from paramedic.ingest.recordings.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paramedic.diagnosis.contract import Detector, Verdict
    from paramedic.models.history import JobHistory

_ROWS_AT_ONCE = 60_000


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict, and when it came."""

    second: int
    """The newest second of telemetry that was there, or in the midst of which an event came."""
    verdict: Verdict


def listen(detector: Detector, moments: Iterable[Moment]) -> Iterator[Said]:
    """What the detector says, moment after moment, in stream time."""
    stream = StreamTime()
    for moment in moments:
        fact = moment.fact
        if isinstance(fact, Event):
            said, now = detector.record(fact), math.floor(fact.timestamp.timestamp())
        else:
            said, now = detector.accept(fact, stream.see(fact)), 0
        for verdict in said:
            yield Said(max(now, math.ceil(stream.seconds) - 1), verdict)


def moments(history: JobHistory) -> Iterator[Moment]:
    """Everything in the order of its time; what a slot holds is there when its second is over."""
    events = (Moment(_microseconds(event), event) for event in history.events)
    told = merge(_batches(history), events, key=lambda one: one.arrived)
    description = history.description or JobDescription(history.job, history.seconds.step, ())
    return introduced(told, description)


def _microseconds(event: Event) -> int:
    return round(event.timestamp.timestamp() * MICROSECONDS)


def _batches(history: JobHistory) -> Iterator[Moment]:
    places = {node: at for at, node in enumerate(history.nodes)}
    metrics = {entity: window.metrics for entity, window in history.windows.items()}
    assembler = Assembler(history.job, history.nodes, metrics)
    rows = sum(len(window.rows) for window in history.windows.values())
    slots = len(history.seconds)
    portion = max(1, _ROWS_AT_ONCE // max(1, rows))
    for begin in range(0, slots, portion):
        part = slice(begin, min(slots, begin + portion))
        for entity, window in history.windows.items():
            assembler.add(entity, _rows(window, part, places))
        yield from assembler.complete(None)


def _rows(window: Window, part: slice, places: dict[NodeName, int]) -> Rows:
    """What was observed in these slots, slot after slot."""
    values = window.values[:, :, part].transpose(1, 2, 0)
    metrics, slots, rows = values.shape
    seconds = np.repeat(np.array(window.seconds[part], np.int64), rows)
    nodes = np.array([places[row.node] for row in window.rows], np.int64)
    indices = np.array([0 if row.index is None else row.index for row in window.rows], np.int64)
    every = Rows(
        seconds=seconds,
        arrivals=(seconds + 1) * MICROSECONDS,
        generations=np.full(seconds.size, window.generation),
        nodes=np.tile(nodes, slots),
        indices=np.tile(indices, slots),
        positions=np.arange(seconds.size),
        values=values.reshape(metrics, slots * rows),
    )
    return every.taken(np.flatnonzero(window.observed[:, :, part].any(axis=1).T.ravel()))
