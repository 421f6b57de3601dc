"""Recordings for tests: written as a live run or as somebody else's tool would write them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)
from paramedic.ingest.recordings.moment import Moment
from paramedic.ingest.recordings.reading import open_recording

START = 1_767_225_600
"""2026-01-01T00:00:00Z"""
JOB = JobName("llama-7b")
Row = dict[str, Any]


def moment(second: float) -> datetime:
    """A time so many seconds after the beginning."""
    return datetime.fromtimestamp(START + second, UTC)


def describe(folder: Path, nodes: Sequence[str] = ("a", "b"), **more: object) -> Path:
    """Write a `job.json`, and make the folder."""
    folder.mkdir(exist_ok=True)
    text = {
        "schema": 1,
        "job": JOB,
        "sampling_seconds": 1.0,
        "nodes": [{"name": name, "gpus": 8} for name in nodes],
    } | more
    (folder / "job.json").write_text(json.dumps(text))
    return folder


def gpu_row(second: float, node: str = "a", gpu: int = 0, power: float | None = 400.0) -> Row:
    """A row of `gpu.parquet`, timed by whole or broken seconds from the beginning."""
    return {"timestamp": moment(second), "node": node, "gpu": gpu, "gpu_power_watts": power}


def write_rows(
    folder: Path, entity: str, rows: Sequence[Row], row_group_size: int | None = None
) -> Path:
    """Write rows with pyarrow, as anybody's tool would."""
    path = folder / f"{entity}.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=row_group_size)
    return path


def write_table(folder: Path, entity: str, columns: Mapping[str, object]) -> Path:
    """Write columns whose types matter."""
    path = folder / f"{entity}.parquet"
    pq.write_table(pa.table(dict(columns)), path)
    return path


def write_events(folder: Path, *lines: Mapping[str, object] | str) -> None:
    """Write `events.jsonl`; a text is written as it is."""
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "events.jsonl").write_text("\n".join(texts) + "\n")


def moments_of(folder: Path, rows_at_once: int = 60_000) -> list[Moment]:
    """Everything that a recording tells."""
    return list(open_recording(folder).moments(rows_at_once))


def batches_of(folder: Path) -> list[TelemetryBatch]:
    """The batches of a recording."""
    facts = [moment.fact for moment in moments_of(folder)]
    return [fact for fact in facts if isinstance(fact, TelemetryBatch)]


def open_and_play(folder: Path) -> Iterator[tuple[TelemetryBatch, float]]:
    """The batches, each with the stream's time by which a live run judges it."""
    newest = -math.inf
    for batch in batches_of(folder):
        newest = max(newest, batch.second + 1.0)
        yield batch, newest


def said(moments: Sequence[Moment]) -> list[tuple[int, object]]:
    """The moments as plain values that can be compared; NaN is None."""
    return [
        (one.arrived, one.fact if isinstance(one.fact, Event) else _plain(one.fact))
        for one in moments
    ]


def _plain(batch: TelemetryBatch) -> object:
    tables = [
        (
            table.entity,
            table.nodes,
            table.indices,
            {metric: [_or_none(v) for v in column] for metric, column in table.columns.items()},
        )
        for table in batch.tables
    ]
    return batch.job, batch.generation, batch.second, tables


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def batch(
    second: int,
    values: Mapping[str, float],
    metric: str = "load_average",
    entity: Entity = Entity.NODE,
    job: JobName = JOB,
    generation: int = 0,
) -> TelemetryBatch:
    """A live batch: one value a node, of its first GPU or of rank 0, 1, … where it has indices."""
    nodes = tuple(NodeName(name) for name in values)
    ranks = tuple(range(len(nodes)))
    indices = {Entity.NODE: None, Entity.GPU: (0,) * len(nodes), Entity.RANK: ranks}[entity]
    table = Table(entity, nodes, indices, {metric: tuple(values.values())})
    return TelemetryBatch(job, generation, START + second, (table,))


def event(second: float, kind: EventKind = EventKind.MAINTENANCE, **details: Any) -> Event:
    """An event of the job; `node`, `gpu`, `rank` and `job` are its own fields."""
    own = {name: details.pop(name, None) for name in ("node", "gpu", "rank")}
    return Event(moment(second), kind, details.pop("job", JOB), **own, details=details)
