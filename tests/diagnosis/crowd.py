"""A crowd of machines that work alike, made for tests of departures: slots as arrays.

What healthy machines do: noise that is correlated from second to second, machines that are always
a little different, levels that change for all at once, pauses. Faults multiply what is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.contract import (
    Entity,
    EntityKey,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
    Window,
)

JOB = JobName("crowd")
START = 1_790_000_000
LEVELS: Mapping[Entity, Mapping[str, float]] = {
    Entity.GPU: {
        "gpu_nvlink_tx_bytes_per_second": 4e10,
        "gpu_pcie_replays_per_second": 0.0,
        "gpu_power_watts": 520.0,
        "gpu_sm_clock_hertz": 1.7e9,
        "gpu_tensor_active_ratio": 0.42,
    },
    Entity.NODE: {"cpu_utilization_ratio": 0.18, "tcp_throughput_bytes_per_second": 2e8},
}
TENSOR, POWER = "gpu_tensor_active_ratio", "gpu_power_watts"
Array = NDArray[np.float64]


def name(node: int) -> NodeName:
    return NodeName(f"host-{node:03d}")


@dataclass(frozen=True)
class Fault:
    """What is wrong; seconds count from the beginning."""

    node: int
    factor: float
    gpu: int | None = None
    """None: all GPUs of the node."""
    metric: str = TENSOR
    entity: Entity = Entity.GPU
    first: int = 45
    last: int = 10**9


def slow(
    node: int, factor: float, gpu: int | None = None, first: int = 45, last: int = 10**9
) -> tuple[Fault, ...]:
    """Slow work shows in more than one metric."""
    return tuple(Fault(node, factor, gpu, one, first=first, last=last) for one in (TENSOR, POWER))


@dataclass(frozen=True)
class Crowd:
    """One job and what happens to it."""

    nodes: int = 8
    gpus: int = 4
    seconds: int = 62
    faults: tuple[Fault, ...] = ()
    seed: int = 0
    noise: float = 0.03
    correlation: float = 0.6
    individuality: float = 0.02
    """Standard deviation of what each machine is always different by."""
    steps: tuple[tuple[int, float], ...] = ((20, 1.15), (35, 0.9))
    """From this second on all work at this level."""
    pause: range = range(0)
    breath: float = 0.0
    """By this share all work less for 4 of 14 seconds: what tells the time."""
    clocks: Mapping[int, int] | None = None
    """Nodes whose clock is so many seconds behind."""
    absent: Mapping[int, range] | None = None
    """When nothing comes from a node."""
    width: int = 1
    """Seconds between two samples."""
    levels: Mapping[Entity, Mapping[str, float]] = field(default_factory=lambda: LEVELS)

    def rows(self, entity: Entity) -> tuple[EntityKey, ...]:
        cards = range(self.gpus) if entity is Entity.GPU else (None,)
        return tuple(
            EntityKey(entity, name(node), card) for node in range(self.nodes) for card in cards
        )

    def values(self, entity: Entity) -> Array:
        """By second, metric and row."""
        rng = np.random.default_rng((self.seed, entity is Entity.GPU))
        rows, levels = self.rows(entity), self.levels[entity]
        shape = (self.seconds, len(levels), len(rows))
        noise = self.noise * _correlated(rng.normal(size=shape), self.correlation)
        own = rng.normal(0, self.individuality, shape[1:])
        base = np.array(list(levels.values()))[:, None]
        values = base * np.exp(noise + own) * self._pace()[:, None, None]
        for node, seconds in (self.clocks or {}).items():
            rows_of = [at for at, row in enumerate(self.rows(entity)) if row.node == name(node)]
            values[:, :, rows_of] = np.roll(values[:, :, rows_of], -seconds, axis=0)
        for fault in self.faults:
            self._break(values, fault, entity)
        return values

    def windows(self, held: int = 30) -> Iterator[dict[Entity, Window]]:
        """Slot after slot, with those before it in the window."""
        kinds = {
            kind: (self.rows(kind), self.values(kind)[:: self.width].T) for kind in self.levels
        }
        for at in range(self.seconds // self.width):
            yield {
                kind: self._window(kind, rows, values[:, :, max(0, at + 1 - held) : at + 1], at)
                for kind, (rows, values) in kinds.items()
            }  # fmt: skip

    def batches(self) -> Iterator[TelemetryBatch]:
        kinds = {kind: (self.rows(kind), self.values(kind)) for kind in self.levels}
        for second in range(0, self.seconds, self.width):
            tables = (
                self._table(kind, rows, values[second], second)
                for kind, (rows, values) in kinds.items()
            )
            yield TelemetryBatch(JOB, 0, START + second, tuple(tables))

    def _pace(self) -> Array:
        pace = np.ones(self.seconds)
        for begin, level in self.steps:
            pace[begin:] = level
        pace[self.pause.start : self.pause.stop] = 0.05
        pace *= np.where(np.arange(self.seconds) % 14 < 10, 1.0, 1.0 - self.breath)
        return pace

    def _break(self, values: Array, fault: Fault, entity: Entity) -> None:
        if fault.entity is entity:
            metric = list(self.levels[entity]).index(fault.metric)
            rows = [
                at
                for at, row in enumerate(self.rows(entity))
                if row.node == name(fault.node) and fault.gpu in (None, row.index)
            ]
            values[fault.first : fault.last, metric, rows] *= fault.factor

    def _table(
        self, kind: Entity, rows: tuple[EntityKey, ...], values: Array, second: int
    ) -> Table:
        gone = {name(node) for node, when in (self.absent or {}).items() if second in when}
        kept = [at for at, row in enumerate(rows) if row.node not in gone]
        indices = tuple(rows[at].index or 0 for at in kept) if kind is Entity.GPU else None
        columns = {metric: values[at, kept].tolist() for at, metric in enumerate(self.levels[kind])}
        return Table(kind, tuple(rows[at].node for at in kept), indices, columns)

    def _window(
        self, kind: Entity, rows: tuple[EntityKey, ...], values: Array, slot: int
    ) -> Window:
        slots, width = values.astype(np.float32), self.width
        metrics, there = tuple(self.levels[kind]), np.ones(slots.shape, np.bool_)
        first = START + (slot + 1 - slots.shape[2]) * width
        return Window(JOB, 0, kind, first, rows, metrics, slots, there, slot_seconds=width)


def _correlated(fresh: Array, correlation: float) -> Array:
    noise = fresh.copy()
    for at in range(1, len(fresh)):
        noise[at] = correlation * noise[at - 1] + np.sqrt(1 - correlation**2) * fresh[at]
    return noise
