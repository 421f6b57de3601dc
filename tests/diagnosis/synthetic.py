"""A synthetic synchronous training job: what its ranks and nodes would report, second by second.

It knows the physics of such a job and nothing of any detector: a step lasts as long as the slowest
rank computes, the others wait in the collective, heart-beats go on while a rank waits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

JOB = JobName("synthetic")
START = 1_780_000_000
_NAN = math.nan
RANK_METRICS = (
    "heartbeat",
    "step",
    "step_seconds",
    "compute_seconds",
    "collective_seconds",
    "dataloader_seconds",
    "loss",
)
NODE_METRICS = ("process_stopped", "cpu_utilization_ratio", "context_switches_per_second")


def node_name(number: int) -> NodeName:
    return NodeName(f"node-{number:04d}")


@dataclass(frozen=True)
class Scene:
    """A job and what happens to it; seconds count from its beginning."""

    ranks: int = 4
    seconds: int = 120
    seed: int = 0
    noise: float = 0.12
    """Standard deviation of a rank's compute time from one second to the next, as a share."""
    noise_correlation: float = 0.3
    always_different: Mapping[int, float] = field(default_factory=dict)
    slow: Mapping[int, float] = field(default_factory=dict)
    slow_data: Mapping[int, float] = field(default_factory=dict)
    """Ranks whose data loader takes so many seconds a step."""
    slow_from: int = 60
    slow_until: int = 10**9
    busy_machine: Sequence[tuple[int, int]] = ()
    """Stretches in which the machine that all ranks share is busy with something else."""
    frozen: Mapping[int, int] = field(default_factory=dict)
    """Rank to the second in which it is stopped."""
    thawed_at: int = 10**9
    transient_seconds: int = 0
    """Start-up, in which every rank takes several times as long and they differ widely."""
    generation: int = 0
    nodes: Mapping[int, int] = field(default_factory=dict)
    """Ranks that another node than their own carries."""
    first_second: int = START

    def batches(self) -> list[TelemetryBatch]:
        return [self._batch(second, work) for second, work in enumerate(self._compute())]

    def node(self, rank: int) -> NodeName:
        return node_name(self.nodes.get(rank, rank))

    def _compute(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Compute seconds a step, by second and rank."""
        rng = np.random.default_rng(self.seed)
        fresh = rng.normal(0, 1, (self.seconds, self.ranks))
        drift = np.zeros_like(fresh)
        keep = self.noise_correlation
        for at in range(self.seconds):
            before = drift[at - 1] if at else fresh[0]
            drift[at] = keep * before + math.sqrt(1 - keep**2) * fresh[at]
        work = 0.25 * np.exp(self.noise * drift)
        work *= np.exp(rng.normal(0, 0.05, (self.seconds, 1)))
        for begin, end in self.busy_machine:
            work[begin:end] *= rng.uniform(1.5, 3.0, (end - begin, 1))
            work[begin:end] *= np.exp(rng.normal(0, 0.2, (end - begin, self.ranks)))
        early = self.transient_seconds
        work[:early] *= rng.uniform(1, 8, (early, self.ranks))
        for rank, ratio in self.always_different.items():
            work[:, rank] *= ratio
        for rank, ratio in self.slow.items():
            work[self.slow_from : self.slow_until, rank] *= ratio
        return work

    def _batch(
        self, second: int, work: np.ndarray[tuple[int], np.dtype[np.float64]]
    ) -> TelemetryBatch:
        frozen = {r for r, at in self.frozen.items() if at < second <= self.thawed_at}
        rank_rows = [self._rank_row(rank, second, work, bool(frozen)) for rank in range(self.ranks)]
        living = [rank for rank in range(self.ranks) if rank not in frozen]
        tables = (
            _table(Entity.NODE, NODE_METRICS, [
                (self.node(rank), None, self._node_row(rank, second, work, frozen))
                for rank in range(self.ranks)
            ]),
            _table(Entity.RANK, RANK_METRICS, [
                (self.node(rank), rank, rank_rows[rank]) for rank in living
            ]),
        )  # fmt: skip
        return TelemetryBatch(JOB, self.generation, self.first_second + second, tables)

    def _loading(self, rank: int, second: int) -> float:
        slow = self.slow_from <= second < self.slow_until
        return self.slow_data.get(rank, 0.002) if slow else 0.002 * (1 + (rank + second) % 3 / 10)

    def _rank_row(
        self,
        rank: int,
        second: int,
        work: np.ndarray[tuple[int], np.dtype[np.float64]],
        waiting: bool,
    ) -> tuple[float, ...]:
        loading = [self._loading(peer, second) for peer in range(self.ranks)]
        step_seconds = max(w + d for w, d in zip(work, loading, strict=True)) + 0.01
        step = float(int(second / 0.3))
        if waiting:
            stalled = min(self.frozen.values())
            return (1.0, float(int(stalled / 0.3)), _NAN, _NAN, _NAN, _NAN, _NAN)
        wait = step_seconds - float(work[rank]) - loading[rank]
        return (1.0, step, step_seconds, float(work[rank]), wait, loading[rank], 2.5)

    def _node_row(
        self,
        rank: int,
        second: int,
        work: np.ndarray[tuple[int], np.dtype[np.float64]],
        frozen: set[int],
    ) -> tuple[float, ...]:
        if rank in frozen:
            return (1.0, 0.0, 0.0)
        if frozen:
            return (0.0, 0.01, 20.0)
        busy = float(work[rank]) / (float(work.max()) + 0.01)
        return (0.0, round(busy / 2, 3), 400.0 + 10 * ((rank + second) % 7))


def _table(
    entity: Entity,
    metrics: Sequence[str],
    rows: Sequence[tuple[NodeName, int | None, tuple[float, ...]]],
) -> Table:
    indices = None if entity is Entity.NODE else tuple(rank or 0 for _, rank, _ in rows)
    columns = {
        metric: tuple(values[at] for _, _, values in rows) for at, metric in enumerate(metrics)
    }
    return Table(entity, tuple(node for node, _, _ in rows), indices, columns)


def without_rows(
    batches: Sequence[TelemetryBatch],
    entity: Entity,
    node: NodeName,
    seconds: range,
) -> list[TelemetryBatch]:
    """The batches as they would be if this node's rows had been lost in these seconds."""
    return [
        replace(
            batch,
            tables=tuple(
                _without(table, node) if table.entity is entity else table for table in batch.tables
            ),
        )
        if batch.second - START in seconds
        else batch
        for batch in batches
    ]


def _without(table: Table, node: NodeName) -> Table:
    kept = [at for at, name in enumerate(table.nodes) if name != node]
    return Table(
        table.entity,
        tuple(table.nodes[at] for at in kept),
        None if table.indices is None else tuple(table.indices[at] for at in kept),
        {metric: tuple(column[at] for at in kept) for metric, column in table.columns.items()},
    )


def with_columns(
    batches: Sequence[TelemetryBatch], entity: Entity, columns: Mapping[str, float | None]
) -> list[TelemetryBatch]:
    """The batches with these metrics set to a constant in every row, or taken out (None)."""
    return [
        replace(
            batch,
            tables=tuple(
                _with(table, columns) if table.entity is entity else table for table in batch.tables
            ),
        )
        for batch in batches
    ]


def _with(table: Table, columns: Mapping[str, float | None]) -> Table:
    kept = {metric: column for metric, column in table.columns.items() if metric not in columns}
    added = {
        metric: (value,) * len(table.nodes)
        for metric, value in columns.items()
        if value is not None
    }
    return replace(table, columns={**kept, **added})


def event(
    kind: EventKind,
    at: float,
    node: NodeName | None = None,
    rank: int | None = None,
    generation: int | None = 0,
    **details: str | int | bool,
) -> Event:
    """An event so many seconds after the job's beginning."""
    moment = datetime.fromtimestamp(START + at, tz=UTC)
    return Event(moment, kind, JOB, node, None, rank, generation, details)


def job_state(state: str, at: float, generation: int = 0) -> Event:
    return event(EventKind.JOB_STATE, at, generation=generation, state=state)


def exit_of(rank: int, at: float, generation: int = 0, *, expected: bool = False) -> Event:
    return event(
        EventKind.PROCESS_EXIT, at, node_name(rank), rank, generation, signal=9, expected=expected
    )
