"""Counters of cards and hosts: they grow by what happened, and begin again with the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paramedic.ingest.synthetic.arrays import Booleans, Floats, Integers

GPU_COUNTERS = (
    "gpu_energy_joules_total",
    "gpu_pcie_replays_total",
    "gpu_nvlink_errors_total",
    "gpu_ecc_correctable_total",
    "gpu_ecc_uncorrectable_total",
)
NODE_COUNTERS = (
    "context_switches_total",
    "disk_reads_total",
    "disk_writes_total",
    "disk_read_bytes_total",
    "disk_written_bytes_total",
    "disk_read_seconds_total",
    "disk_write_seconds_total",
    "tcp_received_bytes_total",
    "tcp_sent_bytes_total",
    "tcp_retransmits_total",
    "network_drops_total",
    "rdma_tx_bytes_total",
    "rdma_rx_bytes_total",
    "pfc_tx_packets_total",
    "ecn_packets_total",
    "cnp_packets_total",
    "ib_link_downed_total",
    "ib_symbol_errors_total",
)
_CENTISECONDS = 100


@dataclass(frozen=True, slots=True)
class Counters:
    """All counters at the end of a second."""

    gpu: Mapping[str, Floats]
    node: Mapping[str, Floats]
    busy_centiseconds: Integers
    """Of each processor core, (nodes, cores); what /proc/stat counts in."""
    idle_centiseconds: Integers
    boot_second: Integers
    """Seconds since the job's start; (nodes,)."""

    def grown(
        self,
        gpu: Mapping[str, Floats],
        node: Mapping[str, Floats],
        busy: Integers,
        rebooted: Booleans,
        second: int,
    ) -> Counters:
        """After one more second in which so much happened; `busy` in centiseconds of each core."""
        keep = (~rebooted).astype(float)
        keep_whole = (~rebooted).astype(np.int64)[:, None]
        return Counters(
            gpu={name: self.gpu[name] * keep[:, None] + gpu[name] for name in GPU_COUNTERS},
            node={name: self.node[name] * keep + node[name] for name in NODE_COUNTERS},
            busy_centiseconds=self.busy_centiseconds * keep_whole + busy,
            idle_centiseconds=self.idle_centiseconds * keep_whole + (_CENTISECONDS - busy),
            boot_second=np.where(rebooted, second, self.boot_second),
        )


def first_counters(uptime_seconds: Floats, gpus: int, cores: int) -> Counters:
    """What has been counted before the job started."""
    nodes = len(uptime_seconds)
    up = uptime_seconds.astype(np.int64)
    seconds: Floats = uptime_seconds.astype(np.float64)
    gpu: dict[str, Floats] = {name: np.zeros((nodes, gpus)) for name in GPU_COUNTERS}
    gpu["gpu_energy_joules_total"] = np.repeat(250.0 * seconds[:, None], gpus, axis=1)
    node: dict[str, Floats] = {name: np.zeros(nodes) for name in NODE_COUNTERS}
    node["context_switches_total"] = 2.0e4 * seconds
    node["disk_written_bytes_total"] = 2.0e6 * seconds
    node["tcp_received_bytes_total"] = 3.0e6 * seconds
    node["tcp_sent_bytes_total"] = 2.0e5 * seconds
    busy = np.repeat(10 * up[:, None], cores, axis=1)
    return Counters(gpu, node, busy, np.repeat(90 * up[:, None], cores, axis=1), -up)


def spread_over_cores(cpu_ratio: Floats, cores: int) -> Integers:
    """Whole centiseconds of each core whose sum comes closest to the ratio; (nodes, cores)."""
    total = np.rint(cpu_ratio * cores * _CENTISECONDS).astype(np.int64)
    base, more = np.divmod(total, cores)
    return base[:, None] + (np.arange(cores)[None, :] < more[:, None])
