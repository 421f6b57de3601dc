"""How fast everybody works in a second, given clocks and causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.individuals import Individuals

FALLBACK_SLOWNESS = 2.0
"""How much longer matrix work takes off the tensor cores. Real pipes are slower still; but then
only the least of it would fall back."""
_CLOCK_EXPONENT = 0.9
"""A tenth of the work waits for memory, whose clock does not change."""
_STEAL_EXPONENT = 1.5
_COLLECTIVE_LATENCY_SECONDS = 0.004


@dataclass(frozen=True, slots=True)
class Pace:
    """Durations of the parts of a step that begins and ends in this second's conditions."""

    own_seconds: Floats
    """Each GPU's own computing."""
    loading_seconds: Floats
    collective_seconds: float
    """Of the gradients, once everybody is there: as slow as the narrowest link."""
    optimizer_seconds: float
    bubble: float
    """Factor on computing: filling and draining the pipeline."""
    pause_slowdown: float
    """Factor on the duration of a checkpoint: the slowest disk."""
    bandwidth: Floats
    """Bytes a second that each GPU could send in a collective."""


def pace_of(
    config: ClusterConfig, individuals: Individuals, clock_ratio: Floats, causes: Causes
) -> Pace:
    """The pace under these clocks (shares of the boost clock) and causes."""
    work = config.work
    bandwidth = _bandwidth(config, individuals, causes)
    transfer = work.gradient_bytes / max(float(bandwidth.min()), 1.0)
    loading = work.loading_seconds / (1.0 - np.minimum(causes.stolen_cpu_ratio, 0.95))
    return Pace(
        own_seconds=_own_seconds(individuals, clock_ratio, causes),
        loading_seconds=np.repeat(
            (loading + causes.loading_seconds)[:, None], config.shape.gpus, axis=1
        ),
        collective_seconds=transfer + _COLLECTIVE_LATENCY_SECONDS * work.buckets,
        optimizer_seconds=work.optimizer_seconds,
        bubble=1.0 + (config.shape.stages - 1) / work.microbatches,
        pause_slowdown=float(causes.storage_slowdown.max()),
        bandwidth=bandwidth,
    )


def tensor_factor(causes: Causes) -> Floats:
    """How much longer a GPU's work takes because a part of it is off the tensor cores."""
    return causes.tensor_share + (1.0 - causes.tensor_share) * FALLBACK_SLOWNESS


def _own_seconds(individuals: Individuals, clock_ratio: Floats, causes: Causes) -> Floats:
    """Launching kernels needs the host, so a busy one slows its GPUs, little at first."""
    host = 1.0 + 0.6 * causes.stolen_cpu_ratio[:, None] ** _STEAL_EXPONENT
    gaps = 1.0 - np.minimum(causes.launch_gap_ratio, 0.95)
    slowness = tensor_factor(causes) * causes.work_slowdown * host / gaps
    return individuals.work * slowness / clock_ratio**_CLOCK_EXPONENT


def _bandwidth(config: ClusterConfig, individuals: Individuals, causes: Causes) -> Floats:
    hardware = config.hardware
    network = hardware.nic_bytes_per_second * individuals.network
    network = network * causes.nic_ratio * causes.fabric_ratio
    return np.minimum(
        np.minimum(network[:, None], hardware.pcie_bytes_per_second * causes.pcie_ratio),
        hardware.nvlink_bytes_per_second * causes.nvlink_ratio,
    )
