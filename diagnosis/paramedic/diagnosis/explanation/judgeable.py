"""Why a whole recording gave nothing to judge: no values, none in time, hosts alone, no peers.

It looks on while telemetry is played, and only until it has seen what can be judged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.ingest.contract import Entity
from paramedic.ingest.some_names import some_names
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName, Table, TelemetryBatch

_MOSTLY = 0.5
_FEWEST_NODES = 2
"""Who is alone has no peers."""


@dataclass(slots=True)
class Judgeable:
    """What has been seen of a job, as far as it matters to whether anything can be judged."""

    known: Collection[str]
    """Metrics by which ranks are judged; of GPUs any is compared."""
    settle_seconds: int
    """For so long nobody is judged."""
    rows: int = 0
    _seconds: set[int] = field(default_factory=set)
    _others: set[str] = field(default_factory=set)
    """Metrics with a value by which nobody is judged."""
    _tell: set[NodeName] = field(default_factory=set)
    """Nodes with a value that can be judged."""

    def see(self, batch: TelemetryBatch) -> None:
        """Look at a batch."""
        self.rows += sum(len(table.nodes) for table in batch.tables)
        if len(self._seconds) > self.settle_seconds and len(self._tell) >= _FEWEST_NODES:
            return
        self._seconds.add(batch.second)
        for table in batch.tables:
            self._look(table)

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
        if len(self._seconds) <= self.settle_seconds:
            told = counted(len(self._seconds), "second")
            return f"it has {told}, and a job is given {self.settle_seconds} s to settle"
        if len(self._tell) == 1:
            return f"only {min(self._tell)} tells anything, so that it has no peers"
        return ""

    def _look(self, table: Table) -> None:
        for metric, column in table.columns.items():
            seen = np.flatnonzero(~np.isnan(np.asarray(column, np.float64)))
            if not seen.size:
                continue
            is_judged = table.entity is Entity.GPU or (
                table.entity is Entity.RANK and metric in self.known
            )
            if not is_judged:
                self._others.add(metric)
            elif len(self._tell) < _FEWEST_NODES:
                self._tell.update(table.nodes[at] for at in seen.tolist())
