"""Bytes that the job moves: what a step has to send is fixed, the rate follows its progress."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.living import Shares
from paramedic.ingest.synthetic.pace import Pace

_HEADERS = 1.06
"""PCIe counts packet headers too."""
_BATCH_BYTES = 2.0e8
"""Copied to each GPU for a step."""
_KEEP_ALIVE_BYTES = 2.0e6
_NEAR_LIMIT = 0.75


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes a second; first block (nodes, gpus), second (nodes,)."""

    nvlink_tx: Floats
    nvlink_rx: Floats
    pcie_tx: Floats
    pcie_rx: Floats
    rdma_tx: Floats
    rdma_rx: Floats
    paused: Floats
    """PFC pause frames a second that the node sends: it cannot take what comes."""
    marked: Floats
    """Packets a second marked by a crowded switch."""


def traffic_of(
    config: ClusterConfig, causes: Causes, shares: Shares, pace: Pace, jitter: Floats
) -> Traffic:
    """The second's traffic; `jitter` is a factor around one for each GPU."""
    work = config.work
    gradients = work.gradient_bytes * shares.collective / pace.collective_seconds * jitter
    pipeline = (work.pipeline_bytes if config.shape.stages > 1 else 0.0) * shares.work
    tensor = (work.tensor_bytes if config.shape.tensor > 1 else 0.0) * shares.work * jitter
    network = gradients + pipeline
    batches = _BATCH_BYTES * shares.loading / np.maximum(pace.loading_seconds, 1e-9)
    saved = work.memory_bytes / 5.0 / max(work.checkpoint_seconds, 1.0) * shares.saving
    return Traffic(
        nvlink_tx=tensor + 0.9 * gradients + _KEEP_ALIVE_BYTES,
        nvlink_rx=tensor + 0.9 * gradients * (2.0 - jitter) + _KEEP_ALIVE_BYTES,
        pcie_tx=_HEADERS * (network + saved) + _KEEP_ALIVE_BYTES,
        pcie_rx=_HEADERS * (network + batches) + _KEEP_ALIVE_BYTES,
        rdma_tx=network.sum(axis=1),
        rdma_rx=(network * (2.0 - jitter)).sum(axis=1),
        paused=_paused(config, shares, pace),
        marked=_marked(causes, shares),
    )


def _paused(config: ClusterConfig, shares: Shares, pace: Pace) -> Floats:
    """Whoever takes less than the others send has to stop them."""
    usual = config.hardware.nic_bytes_per_second
    lack: Floats = np.clip(_NEAR_LIMIT - pace.bandwidth.min(axis=1) / usual, 0.0, None)
    collective: Floats = shares.collective.mean(axis=1)
    return 4.0e4 * lack * collective


def _marked(causes: Causes, shares: Shares) -> Floats:
    """Crowding marks packets at everybody behind the switch."""
    crowding: Floats = np.clip(1.0 - causes.fabric_ratio, 0.0, 1.0)
    collective: Floats = shares.collective.mean(axis=1)
    return (60.0 + 9.0e4 * crowding) * collective
