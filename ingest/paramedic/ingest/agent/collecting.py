"""Puts a second's samples and reports together as batches; no time and no sockets in here."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.agent.datagrams import RankReport
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

_NOT_SUMMED = frozenset({"process_stopped"})
_RowName = tuple[NodeName, int | None]
_Rows = Mapping[_RowName, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class NodeSample:
    """The metrics of one watched process in one second."""

    node: NodeName
    values: Mapping[str, float]


def collect(
    job: JobName,
    second: int,
    samples: Sequence[NodeSample],
    reports: Sequence[RankReport],
    known_generation: int,
) -> tuple[TelemetryBatch, ...]:
    """Batches, oldest second first; usually one.

    Samples belong to `second`, reports to the second and the generation of their sender: each
    pair of these has a batch of its own. The samples' batch carries the newest generation.
    """
    generation = newest_generation(reports, known_generation)
    tables: dict[tuple[int, int], list[Table]] = defaultdict(list)
    if samples:
        tables[second, generation].append(_table(Entity.NODE, _node_rows(samples)))
    for slot, rows in _rank_rows(reports).items():
        tables[slot].append(_table(Entity.RANK, rows))
    return tuple(
        TelemetryBatch(job, batch_generation, batch_second, tuple(content))
        for (batch_second, batch_generation), content in sorted(
            tables.items(), key=lambda item: item[0]
        )
    )


def newest_generation(reports: Sequence[RankReport], known_generation: int) -> int:
    """The newest generation that the ranks, or anything before them, spoke of."""
    return max((known_generation, *(report.generation for report in reports)))


def _node_rows(samples: Sequence[NodeSample]) -> _Rows:
    """One row a node: the workers of a node are added up."""
    rows: dict[_RowName, dict[str, float]] = {}
    for sample in samples:
        row = rows.setdefault((sample.node, None), {})
        for metric, value in sample.values.items():
            known = row.get(metric, 0.0)
            row[metric] = max(known, value) if metric in _NOT_SUMMED else known + value
    return rows


def _rank_rows(reports: Sequence[RankReport]) -> Mapping[tuple[int, int], _Rows]:
    """Rows by second and generation; of a value that was sent twice the last one stays."""
    slots: dict[tuple[int, int], dict[_RowName, dict[str, float]]] = defaultdict(dict)
    for report in reports:
        rows = slots[report.second, report.generation]
        rows.setdefault((report.node, report.rank), {}).update(report.values)
    return slots


def _table(entity: Entity, rows: _Rows) -> Table:
    names = sorted(rows, key=lambda name: (name[0], name[1] or 0))
    metrics = sorted({metric for values in rows.values() for metric in values})
    return Table(
        entity=entity,
        nodes=tuple(node for node, _ in names),
        indices=None if entity is Entity.NODE else tuple(index or 0 for _, index in names),
        columns={
            metric: tuple(rows[name].get(metric, math.nan) for name in names) for metric in metrics
        },
    )
