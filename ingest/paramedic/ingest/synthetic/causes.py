"""The physical causes of one second: what disturbances and faults may change.

Everything observable follows from these through the physics. A disturbance or fault never writes a
metric; it makes a clock slower, a link narrower, a machine hotter, and the symptoms come by
themselves, at the machine and at everybody who waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from paramedic.ingest.synthetic.arrays import Booleans, Floats
from paramedic.ingest.synthetic.phases import Pause


@dataclass(slots=True)
class Causes:
    """Neutral until something presses on them. First block (nodes, gpus), second (nodes,)."""

    clock_limit_ratio: Floats
    """Cap of the SM clock, as a share of the boost clock."""
    power_limit_ratio: Floats
    work_slowdown: Floats
    """Factor on the time of the GPU's own work; infinite: it has stopped."""
    tensor_share: Floats
    """Share of the matrix work that runs on tensor cores; the rest falls back to other pipes."""
    cooling_ratio: Floats
    """Factor on the thermal resistance."""
    memory_heat_celsius: Floats
    """How much warmer the memory is than it should be."""
    scrubbing_ratio: Floats
    """Share of the memory's time that is spent on mending it."""
    leaked_bytes: Floats
    """Memory of the card that nobody uses and nobody gives back."""
    launch_gap_ratio: Floats
    """Share of the computing in which no kernel runs."""
    pcie_ratio: Floats
    nvlink_ratio: Floats
    pcie_replays_per_second: Floats
    nvlink_errors_per_second: Floats
    corrected_errors_per_second: Floats
    uncorrected_errors_per_second: Floats
    row_remap_pending: Floats
    row_remap_failed: Floats
    recovery_action: Floats
    xid: Floats
    """Code that the driver raises in this second; 0: none."""
    exit_code: Floats
    """With which the rank's process exits in this second, negative for a signal; 0: it does not."""
    is_present: Booleans
    """Whether the card is on the bus."""
    is_idle: Booleans
    """Whether the rank has stopped launching anything."""
    runs_away: Booleans
    """Whether a kernel of the rank never ends, computing nothing."""
    has_process: Booleans
    """Whether the rank's process lives."""

    nic_ratio: Floats
    fabric_ratio: Floats
    """Share of the network's bandwidth that the fabric leaves to the node."""
    network_loss: Floats
    """Lost TCP segments a second, on average."""
    stolen_cpu_ratio: Floats
    """Share of the processor that something else than the job takes."""
    switches_per_second: Floats
    """Context switches of something else than the job."""
    disk_bytes_per_second: Floats
    """Written by something else than the job."""
    leaked_memory_ratio: Floats
    """Share of the host's memory that something else than the job holds."""
    storage_slowdown: Floats
    read_slowdown: Floats
    loading_seconds: Floats
    """More time a step for loading data."""
    ambient_celsius: Floats
    link_downs: Floats
    symbol_errors_per_second: Floats
    is_seen: Booleans
    """Whether the node's exporters answer."""
    has_rebooted: Booleans
    """In this second: counters begin again."""

    halt: Pause | None = None
    """Why the job as a whole does not run; None: it does."""

    @classmethod
    def neutral(cls, nodes: int, gpus: int) -> Causes:
        """Nothing presses."""
        per_gpu = {name: np.full((nodes, gpus), value) for name, value in _PER_GPU.items()}
        per_node = {name: np.full(nodes, value) for name, value in _PER_NODE.items()}
        return cls(
            is_present=np.ones((nodes, gpus), dtype=bool),
            is_idle=np.zeros((nodes, gpus), dtype=bool),
            runs_away=np.zeros((nodes, gpus), dtype=bool),
            has_process=np.ones((nodes, gpus), dtype=bool),
            is_seen=np.ones(nodes, dtype=bool),
            has_rebooted=np.zeros(nodes, dtype=bool),
            halt=None,
            **per_gpu,
            **per_node,
        )


class Influence(Protocol):
    """Something that presses on the causes: weather or a fault."""

    def press(self, causes: Causes, second: int) -> None:
        """Change the causes of this second (counted from the start); depends on nothing else."""
        ...


_PER_GPU = {
    "clock_limit_ratio": 1.0,
    "power_limit_ratio": 1.0,
    "work_slowdown": 1.0,
    "tensor_share": 1.0,
    "cooling_ratio": 1.0,
    "memory_heat_celsius": 0.0,
    "scrubbing_ratio": 0.0,
    "leaked_bytes": 0.0,
    "launch_gap_ratio": 0.0,
    "pcie_ratio": 1.0,
    "nvlink_ratio": 1.0,
    "pcie_replays_per_second": 0.0,
    "nvlink_errors_per_second": 0.0,
    "corrected_errors_per_second": 0.0,
    "uncorrected_errors_per_second": 0.0,
    "row_remap_pending": 0.0,
    "row_remap_failed": 0.0,
    "recovery_action": 0.0,
    "xid": 0.0,
    "exit_code": 0.0,
}
_PER_NODE = {
    "nic_ratio": 1.0,
    "fabric_ratio": 1.0,
    "network_loss": 0.3,
    "stolen_cpu_ratio": 0.0,
    "switches_per_second": 0.0,
    "disk_bytes_per_second": 0.0,
    "leaked_memory_ratio": 0.0,
    "storage_slowdown": 1.0,
    "read_slowdown": 1.0,
    "loading_seconds": 0.0,
    "ambient_celsius": 0.0,
    "link_downs": 0.0,
    "symbol_errors_per_second": 0.0,
}
