"""Reads the trainers' datagrams: each is a telemetry batch with the row of one rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paramedic.ingest.agent.errors import DatagramRefusedError, RefusalReason
from paramedic.ingest.agent.watched import WatchedProcess
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.contract import ContractError, Entity, JobName, NodeName, TelemetryBatch


@dataclass(frozen=True, slots=True)
class RankReport:
    """What one rank says of one second."""

    node: NodeName
    rank: int
    generation: int
    second: int
    """By the sender's clock."""
    values: Mapping[str, float]


def read_datagram(payload: bytes, job: JobName, watched: Iterable[WatchedProcess]) -> RankReport:
    """The report in a datagram.

    Raises DatagramRefusedError when it is malformed or of somebody who is not watched.
    """
    try:
        batch = decode(payload)
    except ContractError as error:
        raise DatagramRefusedError(RefusalReason.MALFORMED, str(error)) from error
    if batch.job != job:
        raise DatagramRefusedError(
            RefusalReason.FOREIGN_JOB, f"job {batch.job!r}, this agent works for {job!r}"
        )
    report = _report(batch)
    _require_watched(report, [process for process in watched if process.node == report.node])
    return report


def _report(batch: TelemetryBatch) -> RankReport:
    for table in batch.tables[:1]:
        if len(batch.tables) == 1 and table.entity is Entity.RANK and len(table.nodes) == 1:
            (node,), (rank,) = table.nodes, table.indices or (0,)
            values = {metric: column[0] for metric, column in table.columns.items()}
            return RankReport(node, rank, batch.generation, batch.second, values)
    shapes = [f"{len(table.nodes)} {table.entity} rows" for table in batch.tables]
    raise DatagramRefusedError(
        RefusalReason.NOT_ONE_RANK, f"expected the row of one rank, got {shapes}"
    )


def _require_watched(report: RankReport, processes: list[WatchedProcess]) -> None:
    if not processes:
        raise DatagramRefusedError(
            RefusalReason.FOREIGN_NODE, f"node {report.node!r} is not watched here"
        )
    ranks = [process.rank for process in processes]
    if report.rank not in ranks:
        raise DatagramRefusedError(
            RefusalReason.FOREIGN_RANK,
            f"node {report.node!r} says it is rank {report.rank}, it carries {ranks}",
        )
