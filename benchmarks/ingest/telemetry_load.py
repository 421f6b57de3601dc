"""Telemetry of an imagined job, batched as `collect` batches it: one message a shard and second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.key import message_key
from paramedic.ingest.batch.schema import Compression, layout
from paramedic.ingest.contract import (
    Entity,
    JobName,
    NodeName,
    Publisher,
    Table,
    TelemetryBatch,
    Topic,
)

JOB = JobName("load")
NODES_PER_SHARD = layout().nodes_per_shard
DIFFERENT_SECONDS = 8
"""Values repeat after so many seconds: making random numbers is not what is measured."""


@dataclass(frozen=True, slots=True)
class Load:
    """The size of a job and of its messages."""

    nodes: int
    nodes_per_message: int
    gpus: int = 8
    metrics: int = 20
    job: JobName = JOB
    compression: Compression = Compression.NONE

    @property
    def shards(self) -> int:
        """Shards of the job; the messages of a shard have one key."""
        return -(-self.nodes // NODES_PER_SHARD)

    @property
    def messages_per_second(self) -> int:
        """Messages for one second of the job."""
        return -(-self.nodes // self.nodes_per_message)


class Batches:
    """The job's batches, second by second."""

    def __init__(self, load: Load, seed: int = 1) -> None:
        self.load = load
        names = [NodeName(f"node-{at:05d}") for at in range(load.nodes)]
        parts = load.messages_per_second
        # Shards are hashes of names, so a shard's nodes are spread over the whole job.
        self._shards = [names[at::parts] for at in range(parts)]
        self._rows = [
            (
                tuple(node for node in shard for _ in range(load.gpus)),
                tuple(gpu for _ in shard for gpu in range(load.gpus)),
            )
            for shard in self._shards
        ]
        self._metrics = [f"gpu_metric_{at:02d}_ratio" for at in range(load.metrics)]
        random = np.random.default_rng(seed)
        largest = max(len(nodes) for nodes, _ in self._rows)
        shape = (DIFFERENT_SECONDS, load.metrics, largest)
        self._values: NDArray[np.float32] = random.normal(0.6, 0.05, shape).astype(np.float32)

    def of_second(self, second: int) -> Iterator[tuple[str, TelemetryBatch]]:
        """Key and batch of each message."""
        values = self._values[second % DIFFERENT_SECONDS]
        for part, (nodes, gpus) in enumerate(self._rows):
            shard = part % self.load.shards
            columns = {
                metric: np.ascontiguousarray(column[: len(nodes)]).data
                for metric, column in zip(self._metrics, values, strict=True)
            }
            table = Table(Entity.GPU, nodes, gpus, columns)
            batch = TelemetryBatch(self.load.job, 0, second, (table,), shard, self.load.shards)
            yield message_key(self.load.job, shard), batch

    def publish(self, publisher: Publisher, second: int) -> int:
        """Publish one second; returns how many messages that were."""
        count = 0
        for key, batch in self.of_second(second):
            publisher.publish(Topic.TELEMETRY, key, encode(batch, self.load.compression))
            count += 1
        return count
