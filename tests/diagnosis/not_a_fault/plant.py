"""A small training job made by hand: 16 nodes × 2 GPUs for ten minutes, as arrays to be bent.

Everybody steps together: a step takes as long as its slowest rank. Levels differ a little from
machine to machine, noise is correlated from second to second. It knows nothing of any detector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from paramedic.diagnosis.contract import Scope, Severity, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.ordering import StreamTime
from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

Array = NDArray[np.float64]
JOB = JobName("plant")
START = 1_800_000_000
SECONDS = 600
CARDS = 2
SPAN = slice(300, 360)
"""When most of what happens does."""
LEVELS: Mapping[Entity, Mapping[str, float]] = {
    Entity.GPU: {
        "gpu_utilization_ratio": 0.95,
        "gpu_tensor_active_ratio": 0.42,
        "gpu_power_watts": 520.0,
        "gpu_temperature_celsius": 62.0,
        "gpu_sm_clock_hertz": 1.7e9,
        "gpu_pcie_tx_bytes_per_second": 6e9,
        "gpu_nvlink_tx_bytes_per_second": 4e10,
        "gpu_ecc_correctable_total": 37.0,
    },
    Entity.NODE: {
        "cpu_utilization_ratio": 0.18,
        "memory_used_ratio": 0.4,
        "rdma_tx_bytes_per_second": 8e9,
        "tcp_retransmits_per_second": 0.5,
        "disk_throughput_bytes_per_second": 2e7,
    },
    Entity.RANK: {
        "heartbeat": 1.0,
        "step": 0.0,
        "step_seconds": 1.0,
        "compute_seconds": 0.6,
        "collective_seconds": 0.3,
        "dataloader_seconds": 0.02,
        "loss": 2.5,
        "learning_rate": 3e-4,
        "global_batch_size": 512.0,
    },
}
NOISE = {Entity.GPU: 0.03, Entity.NODE: 0.05, Entity.RANK: 0.03}
QUIET = {
    "gpu_temperature_celsius": 0.2,
    "gpu_sm_clock_hertz": 0.2,
    "memory_used_ratio": 0.1,
    "tcp_retransmits_per_second": 8.0,
    "disk_throughput_bytes_per_second": 4.0,
}
"""How much of that noise a metric has."""
CONSTANT = ("gpu_ecc_correctable_total", "heartbeat", "step", "learning_rate", "global_batch_size")
WORK = (
    "gpu_utilization_ratio", "gpu_tensor_active_ratio", "gpu_pcie_tx_bytes_per_second",
    "gpu_nvlink_tx_bytes_per_second", "rdma_tx_bytes_per_second",
)  # fmt: skip
"""What moves with the job's pace."""


def name(node: int) -> NodeName:
    return NodeName(f"host-{node:02d}")


def event(kind: EventKind, at: float, node: int | None = None, **details: str | int) -> Event:
    generation = details.pop("generation", None)
    assert generation is None or isinstance(generation, int)
    host = None if node is None else name(node)
    return Event(
        datetime.fromtimestamp(START + at, UTC), kind, JOB, host, None, None, generation, details
    )


def state(what: str, at: float, generation: int = 0) -> Event:
    return event(EventKind.JOB_STATE, at, state=what, generation=generation)


@dataclass
class Plant:
    """Values by (second, row) of each metric; NaN is not sent, nor is a row that is not there."""

    nodes: int = 16
    seed: int = 0
    seconds: int = SECONDS
    events: list[Event] = field(default_factory=lambda: [state("training", -600)])
    values: dict[str, Array] = field(default_factory=dict)
    there: dict[Entity, NDArray[np.bool_]] = field(default_factory=dict)
    generation: Array = field(init=False)
    clock: Array = field(init=False)
    """By how many seconds each node's clock is ahead, by (second, node)."""
    steps: Array = field(init=False)
    """How much of a step is made in each second."""

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        for entity, levels in LEVELS.items():
            rows = self.nodes * (1 if entity is Entity.NODE else CARDS)
            self.there[entity] = np.ones((self.seconds, rows), np.bool_)
            for metric, level in levels.items():
                noise = self._noise(rng, rows, NOISE[entity] * QUIET.get(metric, 1.0))
                self.values[metric] = level * np.exp(0 * noise if metric in CONSTANT else noise)
        self.generation = np.zeros(self.seconds)
        self.clock = np.zeros((self.seconds, self.nodes))
        self.steps = np.ones(self.seconds)

    def _noise(self, rng: np.random.Generator, rows: int, size: float) -> Array:
        """What each machine is always different by, and noise that is correlated in time."""
        noise = rng.normal(size=(self.seconds, rows))
        for at in range(1, self.seconds):
            noise[at] = 0.6 * noise[at - 1] + 0.8 * noise[at]
        return np.asarray(size * (noise + 0.7 * rng.normal(size=rows)))

    def rows(self, metric_or_entity: str, node: int) -> slice:
        """The rows of a node."""
        width = self.there[self.entity(metric_or_entity)].shape[1] // self.nodes
        return slice(node * width, (node + 1) * width)

    @staticmethod
    def entity(metric: str) -> Entity:
        return next(e for e, levels in LEVELS.items() if metric in (*levels, e))

    def bend(self, metric: str, factor: float, when: slice = SPAN, node: int | None = None) -> None:
        """Multiply a metric for a while, of everybody or of one node."""
        rows = slice(None) if node is None else self.rows(metric, node)
        self.values[metric][when, rows] *= factor

    def hide(self, node: int | None, when: slice, *entities: Entity) -> None:
        """Nothing of these kinds comes from a node, or from anybody."""
        for entity in entities:
            rows = slice(None) if node is None else self.rows(entity, node)
            self.there[entity][when, rows] = False

    def slow_down(self, pace: float, when: slice = SPAN) -> None:
        """The whole job works at this pace: 0 is a pause."""
        self.steps[when] *= pace
        for metric in WORK:
            self.bend(metric, 0.03 + 0.97 * pace, when)
        self.bend("gpu_power_watts", 0.2 + 0.8 * pace, when)
        self.bend("step_seconds", 1 / max(pace, 0.1), when)

    def judged(self, config: DetectorConfig | None = None) -> list[Verdict]:
        """Everything that is said of the job."""
        detector, stream = (config or DetectorConfig()).build(JOB), StreamTime()
        said: list[Verdict] = []
        events = sorted(self.events, key=lambda one: one.timestamp)
        self.values["step"] += np.floor(np.cumsum(self.steps))[:, None]
        for second in range(self.seconds):
            while events and events[0].timestamp.timestamp() < START + second + 1:
                said += detector.record(events.pop(0))
            for batch in self._batches(second):
                said += detector.accept(batch, max(stream.see(batch), START + second + 1))
        return said

    def _batches(self, second: int) -> list[TelemetryBatch]:
        """One batch, or one for each time that the nodes' clocks show."""
        batches = []
        for ahead in sorted(set(self.clock[second].tolist())):
            nodes = self.clock[second] == ahead
            tables = tuple(self._table(entity, second, nodes) for entity in LEVELS)
            stamp, generation = START + second + int(ahead), int(self.generation[second])
            batches.append(TelemetryBatch(JOB, generation, stamp, tables))
        return batches

    def _table(self, entity: Entity, second: int, nodes: NDArray[np.bool_]) -> Table:
        width = self.there[entity].shape[1] // self.nodes
        kept = np.flatnonzero(self.there[entity][second] & np.repeat(nodes, width))
        index = {Entity.NODE: None, Entity.GPU: kept % CARDS, Entity.RANK: kept}[entity]
        return Table(
            entity,
            tuple(name(row // width) for row in kept.tolist()),
            None if index is None else tuple(index.tolist()),
            {metric: self.values[metric][second, kept] for metric in LEVELS[entity]},
        )


def accusations(said: Sequence[Verdict]) -> list[str]:
    """What is said against machines."""
    return [f"{v.fault} {v.node}: {v.summary}" for v in said if v.scope is not Scope.JOB]


def alarms(said: Sequence[Verdict]) -> list[str]:
    """What is said of the job that somebody would have to get up for."""
    return [
        f"{v.severity} {v.fault}: {v.summary}"
        for v in said
        if v.scope is Scope.JOB and v.severity is not Severity.P2
    ]
