"""The key of a telemetry message, `JOB/SHARD`: all peers of a shard meet in one partition."""

from __future__ import annotations

import zlib

from paramedic.ingest.batch.schema import layout
from paramedic.ingest.contract import JobName, NodeName


def shard_of(node: NodeName, node_count: int) -> int:
    """The shard of a node in a job of so many nodes; the same in every process and release.

    >>> shard_of(NodeName("node-0003"), 512), shard_of(NodeName("node-0003"), 5000)
    (0, 7)
    """
    return zlib.crc32(node.encode()) % shard_count(node_count)


def shard_count(node_count: int) -> int:
    """How many shards a job of so many nodes has.

    >>> shard_count(0), shard_count(512), shard_count(513)
    (1, 1, 2)
    """
    return max(1, -(-node_count // layout().nodes_per_shard))


def message_key(job: JobName, shard: int) -> str:
    """The key under which a batch is published.

    >>> message_key(JobName("llama-7b"), 0)
    'llama-7b/0'
    """
    return f"{job}/{shard}"
