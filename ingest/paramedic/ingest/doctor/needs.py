"""What detection uses, how much it needs it, and what each metric serves: the one list of it.

Judging compares every metric of the same machines, known or not; these are those whose absence is
worth a word. Ids are the catalogue's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Importance(StrEnum):
    """What becomes of detection without it."""

    NEEDED = "needed"
    """Slow or failing GPUs would not be named within a minute."""
    WANTED = "wanted"
    """One kind of fault would be seen later, or named less exactly."""
    IF_THERE = "if there"
    """Of use where the hardware or the software has it at all."""


@dataclass(frozen=True, slots=True)
class Need:
    """One kind of telemetry; any of its metrics will do."""

    name: str
    """In words, without a comma: it is the help text of a counters file."""
    importance: Importance
    metrics: tuple[str, ...]
    serves: str
    """What is seen by it."""
    collector: str | None = None
    """Of a host's metric, the collector of node_exporter that gives it."""


_N, _W, _T = Importance.NEEDED, Importance.WANTED, Importance.IF_THERE

GPU_NEEDS = (
    Need("GPU use", _N, ("gpu_utilization_ratio", "gpu_graphics_active_ratio"),
         "hangs, stragglers, which GPUs belong to a job"),
    Need("tensor core activity", _N, ("gpu_tensor_active_ratio",), "slow GPUs, stragglers"),
    Need("memory activity", _N, ("gpu_dram_active_ratio",), "slow GPUs, data stalls"),
    Need("power", _N, ("gpu_power_watts",), "slow GPUs, power caps, hangs"),
    Need("SM clock", _N, ("gpu_sm_clock_hertz",), "throttled GPUs"),
    Need("SM activity", _W, ("gpu_sm_active_ratio",), "slow GPUs, waiting against working"),
    Need("FP16 activity", _W, ("gpu_fp16_active_ratio",), "a job that changed what it computes"),
    Need("FP32 activity", _W, ("gpu_fp32_active_ratio",), "a job that changed what it computes"),
    Need("temperature", _W, ("gpu_temperature_celsius",), "thermal throttling before it slows"),
    Need("memory temperature", _W, ("gpu_memory_temperature_celsius",), "memory that throttles"),
    Need("memory used", _W, ("gpu_memory_used_bytes",), "a process that has gone or leaks"),
    Need("throttle reasons", _W,
         ("gpu_throttle_reasons", "gpu_thermal_throttled_seconds_per_second"),
         "why a clock is low: heat, power, the board"),
    Need("Xid errors", _W, ("gpu_xid", "gpu_xid_recent", "gpu_xid_events_total"),
         "the driver's own word; some releases print the series only after the first Xid"),
    Need("uncorrectable ECC errors", _W,
         ("gpu_ecc_uncorrectable_total", "gpu_ecc_uncorrectable_lifetime_total"), "ecc_error"),
    Need("correctable ECC errors", _W,
         ("gpu_ecc_correctable_total", "gpu_ecc_correctable_lifetime_total"), "memory wearing out"),
    Need("row remapping failed", _W, ("gpu_row_remap_failed",), "a card to be replaced"),
    Need("row remapping pending", _W, ("gpu_row_remap_pending",), "a card that needs a reset"),
    Need("PCIe sending", _W, ("gpu_pcie_tx_bytes_per_second", "gpu_pcie_bytes_per_second"),
         "pcie_downgrade, data stalls"),
    Need("PCIe receiving", _W, ("gpu_pcie_rx_bytes_per_second", "gpu_pcie_bytes_per_second"),
         "pcie_downgrade, data stalls"),
    Need("PCIe replays", _W, ("gpu_pcie_replays_per_second",), "a PCIe link that goes bad"),
    Need("PCIe link width", _W, ("gpu_pcie_link_width",), "pcie_downgrade, by itself"),
    Need("PCIe link generation", _W, ("gpu_pcie_link_generation",), "pcie_downgrade, by itself"),
    Need("NVLink sending", _T, ("gpu_nvlink_tx_bytes_per_second", "gpu_nvlink_bytes_per_second"),
         "nvlink_error, who waits for whom"),
    Need("NVLink receiving", _T, ("gpu_nvlink_rx_bytes_per_second", "gpu_nvlink_bytes_per_second"),
         "nvlink_error, who waits for whom"),
    Need("NVLink errors", _T, ("gpu_nvlink_errors_per_second",), "nvlink_error"),
    Need("recovery action", _T, ("gpu_recovery_action",), "what the driver asks for"),
)  # fmt: skip

HOST_NEEDS = (
    Need("processor use", _W, ("cpu_utilization_ratio",), "host_contention, silence against death",
         "cpu"),
    Need("host memory used", _W, ("memory_used_ratio",), "host_contention", "meminfo"),
    Need("load average", _W, ("load_average",), "host_contention", "loadavg"),
    Need("context switches", _W, ("context_switches_per_second",), "host_contention", "stat"),
    Need("disk throughput", _W, ("disk_throughput_bytes_per_second",), "storage_error, data stalls",
         "diskstats"),
    Need("disk write latency", _W, ("disk_write_latency_seconds",),
         "slow checkpoints, storage_error", "diskstats"),
    Need("file system used", _W, ("filesystem_used_ratio",), "a checkpoint that will not fit",
         "filesystem"),
    Need("Ethernet throughput", _W, ("tcp_throughput_bytes_per_second",), "nic_dropout", "netdev"),
    Need("packets dropped", _W, ("network_drops_per_second",), "nic_dropout, network_group",
         "netdev"),
    Need("TCP retransmits", _W, ("tcp_retransmits_per_second",), "network_group", "netstat"),
    Need("RDMA sending", _T, ("rdma_tx_bytes_per_second",), "nic_dropout, aoc_error", "infiniband"),
    Need("RDMA receiving", _T, ("rdma_rx_bytes_per_second",), "nic_dropout, aoc_error",
         "infiniband"),
    Need("InfiniBand links lost", _T, ("ib_link_downed_total",), "nic_dropout", "infiniband"),
    Need("InfiniBand symbol errors", _T, ("ib_symbol_errors_per_second",), "aoc_error",
         "infiniband"),
    Need("ECN marks", _T, ("ecn_packets_per_second",), "network_group", "infiniband"),
    Need("congestion notifications", _T, ("cnp_packets_per_second",), "network_group",
         "infiniband"),
    Need("PFC pauses", _T, ("pfc_tx_packets_per_second", "pfc_rx_packets_per_second"),
         "network_group, a slow receiver", "ethtool"),
    Need("collectives", _T, ("nccl_collective_seconds", "nccl_bus_bandwidth_bytes_per_second"),
         "who stalled, when the hardware looks the same", "textfile"),
)  # fmt: skip
