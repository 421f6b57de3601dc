"""Records the synthetic cluster: telemetry as it would have arrived, labels beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from paramedic.ingest.contract import NodeName, Table, TelemetryBatch
from paramedic.ingest.drafts import reason_of, remedy_for, write_text
from paramedic.ingest.recordings.errors import RecordingExistsError, RecordingWriteError
from paramedic.ingest.recordings.writing import RecordingWriter
from paramedic.ingest.synthetic.arrays import Booleans
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.faults.labels import labels_of
from paramedic.ingest.synthetic.reading import Second


def record(
    cluster: SyntheticCluster,
    folder: Path,
    labels: Path,
    seconds: int,
    first: int = 0,
    progress: Callable[[int], None] = lambda _done: None,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Write so many seconds, from `first` on; `progress` is told how many are done.

    `is_over` is asked after each second: what is there then is whole, and ends with it.

    Raises RecordingError when the folder or the label file exists or cannot be written.
    """
    if labels.exists():
        raise RecordingExistsError(f"{labels} exists: name another file for the labels")
    with RecordingWriter(folder, cluster.job) as writer:
        _write_labels(cluster, labels, folder.resolve().name)
        for done, second in enumerate(cluster.seconds(first, seconds), start=1):
            arrived = _arrivals(cluster, second)
            for batch in stamped(second):
                writer.append(batch, arrived)
            for event in second.events:
                writer.event(event)
            progress(done)
            if is_over():
                return


def stamped(second: Second) -> Iterator[TelemetryBatch]:
    """The second's batches, each node's rows under the second that its own clock shows."""
    batch = second.batch()
    shifts = np.floor(second.sight.clock_offset_seconds + 0.5).astype(int)
    for shift in np.unique(shifts).tolist():
        wanted = shifts == shift
        tables = batch.tables if wanted.all() else _of_nodes(batch, second, wanted)
        yield replace(batch, second=batch.second + shift, tables=tables)


def _write_labels(cluster: SyntheticCluster, file: Path, recording: str) -> None:
    """Say beside the telemetry what is broken in it."""
    config = cluster.config
    told = labels_of(config.faults, cluster.layout, config.first_second)
    labels = {"recording": recording, **told}
    try:
        write_text(file, json.dumps(labels) + "\n")
    except OSError as error:
        raise RecordingWriteError(
            f"{file} cannot be written: {reason_of(error)}", remedy_for(error, "name another file")
        ) from error


def _arrivals(cluster: SyntheticCluster, second: Second) -> dict[NodeName, float]:
    """A second's values are there when it is over."""
    delays = (second.second + 1.0 + cluster.arrival_seconds(second)).tolist()
    return dict(zip(cluster.layout.nodes, delays, strict=True))


def _of_nodes(batch: TelemetryBatch, second: Second, wanted: Booleans) -> tuple[Table, ...]:
    names = {name for name, is_wanted in zip(second.layout.nodes, wanted, strict=True) if is_wanted}
    tables = (_rows(table, names) for table in batch.tables)
    return tuple(table for table in tables if table.nodes)


def _rows(table: Table, names: set[NodeName]) -> Table:
    kept = [at for at, node in enumerate(table.nodes) if node in names]
    return Table(
        table.entity,
        tuple(table.nodes[at] for at in kept),
        None if table.indices is None else tuple(table.indices[at] for at in kept),
        {metric: tuple(column[at] for at in kept) for metric, column in table.columns.items()},
    )
