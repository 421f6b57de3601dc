"""The batches of a scene as a history, and as a recording with its truth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from diagnosis.synthetic import JOB, START, Scene, node_name
from paramedic.ingest.contract import Entity, EntityKey, Event, TelemetryBatch, Window
from paramedic.ingest.recordings.description import JobDescription, NodeRoles
from paramedic.ingest.recordings.writing import RecordingWriter
from paramedic.models.history import JobHistory

SLOW = Scene(ranks=4, seconds=45, slow={2: 2.0}, slow_from=22)
TRUTH: dict[str, Any] = {
    "kind": "single", "healthy": False, "cadence_seconds": 1, "nodes": 4, "size": "x",
    "faults": [
        {"fault": "straggler", "nodes": [node_name(2)], "gpu": None, "onset": START + 22.5,
         "halted_at": START + 40, "end": None, "group": False, "mechanism": "slow"},
    ],
}  # fmt: skip


def recorded(folder: Path, batches: Sequence[TelemetryBatch], truth: object = TRUTH) -> Path:
    nodes = tuple(NodeRoles(node_name(n), 0) for n in range(4))
    with RecordingWriter(folder, JobDescription(JOB, 1.0, nodes)) as writer:
        for batch in batches:
            writer.append(batch, dict.fromkeys(map(node_name, range(4)), batch.second + 1.0))
    (folder / "truth.json").write_text(json.dumps(truth))
    return folder


def history_of(batches: Sequence[TelemetryBatch], events: Sequence[Event] = ()) -> JobHistory:
    """What the batches say, a window for each kind of row."""
    windows = {entity: window for entity in Entity if (window := _window(entity, batches))}
    return JobHistory(JOB, windows, events=tuple(events))


def _window(entity: Entity, batches: Sequence[TelemetryBatch]) -> Window | None:
    cells = {
        (node, index, metric, batch.second - START): float(value)
        for batch in batches
        for table in batch.tables
        if table.entity is entity
        for metric, column in table.columns.items()
        for node, index, value in zip(
            table.nodes, table.indices or [None] * len(table.nodes), column, strict=True
        )
    }
    if not cells:
        return None
    rows = sorted({(node, -1 if index is None else index) for node, index, _, _ in cells})
    metrics = sorted({metric for _, _, metric, _ in cells})
    values = np.full((len(rows), len(metrics), len(batches)), np.nan)
    for (node, index, metric, second), value in cells.items():
        at = rows.index((node, -1 if index is None else index))
        values[at, metrics.index(metric), second] = value
    keys = [EntityKey(entity, node, None if index < 0 else index) for node, index in rows]
    return Window(JOB, 0, entity, START, tuple(keys), tuple(metrics), values, ~np.isnan(values))
