"""Divides the rows of a table among jobs and shards, and takes the chosen rows out of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from paramedic.ingest.batch.key import shard_count, shard_of
from paramedic.ingest.contract import Entity, JobName, NodeName, Table

if TYPE_CHECKING:
    from paramedic.ingest.collect.tenancy import Tenancy


class Shard(NamedTuple):
    """One shard of a job: what a batch and its key speak of."""

    job: JobName
    number: int
    of: int
    """How many shards the job has."""


@dataclass(frozen=True, slots=True)
class Share:
    """The rows of a table that belong to one shard of a job."""

    shard: Shard
    rows: tuple[int, ...]
    nodes: tuple[NodeName, ...]
    """The node of each of the rows."""


@dataclass(frozen=True, slots=True)
class Division:
    """How a table of this layout is divided, as long as nobody changes the job."""

    nodes: Sequence[NodeName]
    indices: Sequence[int] | None
    version: int
    """Of the tenancy."""
    shares: tuple[Share, ...]
    ownerless: int
    """Rows that belong to no job."""

    def holds_for(self, table: Table, version: int) -> bool:
        """Whether the table has this layout and everybody is where they were."""
        return (
            self.version == version and self.nodes == table.nodes and self.indices == table.indices
        )


def divide(table: Table, tenancy: Tenancy, origin: str = "") -> Division:
    """Find the shares of a table: GPU rows by their own job, node rows by every job of the node.

    Nothing says of which machine the node rows are whose name several bear: they are left out.
    """
    rows: dict[Shard, list[int]] = defaultdict(list)
    ownerless = 0
    for row, jobs in enumerate(_owners(table, tenancy, origin)):
        ownerless += not jobs
        for job in jobs:
            size = tenancy.size_of(job)
            rows[Shard(job, shard_of(table.nodes[row], size), shard_count(size))].append(row)
    shares = tuple(
        Share(shard, tuple(chosen), tuple(table.nodes[row] for row in chosen))
        for shard, chosen in sorted(rows.items())
    )
    return Division(table.nodes, table.indices, tenancy.version, shares, ownerless)


def without(share: Share, left_out: frozenset[NodeName]) -> Share:
    """The share without the rows of some nodes."""
    kept = [at for at, node in enumerate(share.nodes) if node not in left_out]
    return Share(
        share.shard,
        tuple(share.rows[at] for at in kept),
        tuple(share.nodes[at] for at in kept),
    )


def taken(table: Table, share: Share) -> Table:
    """The rows of a share as a table of their own; the table itself when they are all of it."""
    if len(share.rows) == len(table.nodes):
        return table
    choose = itemgetter(*share.rows) if len(share.rows) > 1 else _only(share.rows[0])
    return Table(
        entity=table.entity,
        nodes=share.nodes,
        indices=None if table.indices is None else choose(table.indices),
        columns={metric: choose(column) for metric, column in table.columns.items()},
    )


def _owners(table: Table, tenancy: Tenancy, origin: str) -> Iterable[tuple[JobName, ...]]:
    if table.entity is not Entity.GPU:
        return (() if tenancy.has_twin(n) else tenancy.jobs_of(n) for n in table.nodes)
    jobs = map(tenancy.job_of, table.nodes, table.indices or (), repeat(origin))
    return (() if job is None else (job,) for job in jobs)


def _only(row: int) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    return lambda values: (values[row],)
