"""Why a whole recording gave nothing to judge: no values, none in time, hosts alone, no peers.

It looks on while the recording is played, and only until it has seen what can be judged.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import Entity, EventKind, JobState, format_time
from paramedic.ingest.some_names import some_names
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from paramedic.ingest.contract import Event, NodeName, Table, TelemetryBatch

_MOSTLY = 0.5
_FEWEST_NODES = 2
"""Who is alone has no peers."""


@dataclass(slots=True)
class _Span:
    """The first and the last second of something."""

    first: int
    last: int

    @property
    def seconds(self) -> int:
        return self.last + 1 - self.first

    def take_in(self, second: int) -> None:
        self.first, self.last = min(self.first, second), max(self.last, second)

    def __str__(self) -> str:
        return f"from {format_time(moment(self.first))} to {format_time(moment(self.last))}"


@dataclass(slots=True)
class Judgeable:
    """What has been seen of a job, as far as it matters to whether anything can be judged."""

    known: Collection[str]
    """Metrics by which ranks are judged; of GPUs any is compared."""
    settle_seconds: Mapping[Entity, int]
    """For so long none of the kind is judged."""
    rows: int = 0
    _told: _Span | None = None
    """Of telemetry."""
    _of_states: _Span | None = None
    """Of what events say that the job does."""
    _training_since: float | None = -math.inf
    """None while it does something else; a job without events counts as training."""
    _judged: dict[Entity, _Span] = field(default_factory=dict)
    """Of values that can be judged, while the job trains."""
    _others: set[str] = field(default_factory=set)
    """Metrics with a value by which nobody is judged."""
    _tell: set[NodeName] = field(default_factory=set)
    """Nodes with a value that can be judged."""

    def see(self, batch: TelemetryBatch) -> None:
        """Look at a batch."""
        self.rows += sum(len(table.nodes) for table in batch.tables)
        if self._has_lasted() and len(self._tell) >= _FEWEST_NODES:
            return
        self._told = _with(self._told, batch.second)
        for table in batch.tables:
            self._look(table, batch.second)

    def hear(self, event: Event) -> None:
        """Look at an event."""
        if event.kind is EventKind.JOB_STATE:
            at = event.timestamp.timestamp()
            self._of_states = _with(self._of_states, int(at))
            trains = event.details.get("state") == JobState.TRAINING
            self._training_since = at if trains else None

    def why_nothing(self, rows_late: int) -> str:
        """What keeps everything from being judged, in words; empty where nothing does."""
        if not self.rows:
            return "it holds no telemetry"
        if not self._tell and not self._others:
            return f"all values are null in {counted(self.rows, 'row')}"
        if not self._tell:
            return (
                "no GPU tells anything, and no rank anything that is known: there is only"
                f" {some_names(sorted(self._others), 4)}"
            )
        if rows_late > _MOSTLY * self.rows:
            return (
                f"{rows_late} of {counted(self.rows, 'row')} arrived when their second was long"
                " over, as where time runs backwards"
            )
        if not self._judged:
            return (
                f"its telemetry is {self._told}, and its events, {self._of_states}, call the job"
                " training in no second of that: see that both have the same clock"
            )
        if not self._has_lasted():
            told = max(span.seconds for span in self._judged.values())
            settle = min(self.settle_seconds.values())
            return (
                f"it has {counted(told, 'second')} of training, and a job is given {settle} s"
                " to settle"
            )
        if len(self._tell) == 1:
            return f"only {min(self._tell)} tells anything, so that it has no peers"
        return ""

    def _has_lasted(self) -> bool:
        return any(one.seconds > self.settle_seconds[kind] for kind, one in self._judged.items())

    def _look(self, table: Table, second: int) -> None:
        begun = self._training_since
        for metric, column in table.columns.items():
            seen = np.flatnonzero(~np.isnan(np.asarray(column, np.float64)))
            if not seen.size:
                continue
            is_judged = table.entity is Entity.GPU or (
                table.entity is Entity.RANK and metric in self.known
            )
            if not is_judged:
                self._others.add(metric)
                continue
            if begun is not None and second + 1 > begun:
                self._judged[table.entity] = _with(self._judged.get(table.entity), second)
            if len(self._tell) < _FEWEST_NODES:
                self._tell.update(table.nodes[at] for at in seen.tolist())


def _with(span: _Span | None, second: int) -> _Span:
    if span is None:
        return _Span(second, second)
    span.take_in(second)
    return span
