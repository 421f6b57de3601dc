"""From the physics to readings: each sensor counts in its own smallest step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig, Hardware
from paramedic.ingest.synthetic.counters import Counters
from paramedic.ingest.synthetic.host import Host
from paramedic.ingest.synthetic.silicon import Activity, Warmth
from paramedic.ingest.synthetic.traffic import Traffic

_CLOCK_STEP_HERTZ = 15.0e6
_MIB = 2.0**20


def gpu_readings(
    hardware: Hardware, activity: Activity, warmth: Warmth, traffic: Traffic, memory_bytes: Floats
) -> dict[str, Floats]:
    """What the cards say of themselves, counters and states of errors left out."""
    condition = warmth.condition
    clock = condition.clock_ratio * hardware.boost_clock_hertz
    return {
        "gpu_utilization_ratio": np.round(activity.utilization, 2),
        "gpu_graphics_active_ratio": np.round(activity.graphics, 6),
        "gpu_sm_active_ratio": np.round(activity.sm, 6),
        "gpu_tensor_active_ratio": np.round(activity.tensor, 6),
        "gpu_dram_active_ratio": np.round(activity.dram, 6),
        "gpu_fp16_active_ratio": np.round(activity.fp16, 6),
        "gpu_fp32_active_ratio": np.round(activity.fp32, 6),
        "gpu_power_watts": np.round(warmth.watts, 3),
        "gpu_temperature_celsius": np.rint(condition.gpu_celsius),
        "gpu_memory_temperature_celsius": np.rint(condition.memory_celsius),
        "gpu_sm_clock_hertz": np.rint(clock / _CLOCK_STEP_HERTZ) * _CLOCK_STEP_HERTZ,
        "gpu_memory_used_bytes": np.rint(memory_bytes / _MIB) * _MIB,
        "gpu_nvlink_tx_bytes_per_second": np.rint(traffic.nvlink_tx),
        "gpu_nvlink_rx_bytes_per_second": np.rint(traffic.nvlink_rx),
        "gpu_pcie_tx_bytes_per_second": np.rint(traffic.pcie_tx),
        "gpu_pcie_rx_bytes_per_second": np.rint(traffic.pcie_rx),
        "gpu_throttle_reasons": warmth.limits,
    }


def gpu_mishaps(causes: Causes, warmth: Warmth, rng: np.random.Generator) -> dict[str, Floats]:
    """What the cards' counters grow by."""
    return {
        "gpu_energy_joules_total": np.round(warmth.watts, 3),
        "gpu_pcie_replays_total": rng.poisson(causes.pcie_replays_per_second).astype(float),
        "gpu_nvlink_errors_total": rng.poisson(causes.nvlink_errors_per_second).astype(float),
        "gpu_ecc_correctable_total": rng.poisson(causes.corrected_errors_per_second).astype(float),
        "gpu_ecc_uncorrectable_total": rng.poisson(causes.uncorrected_errors_per_second).astype(
            float
        ),
    }


def gpu_error_readings(
    causes: Causes, grown: Mapping[str, Floats], counters: Counters, xid: Floats
) -> dict[str, Floats]:
    """Rates of this second's mishaps, totals, and states."""
    return {
        "gpu_pcie_replays_per_second": grown["gpu_pcie_replays_total"],
        "gpu_nvlink_errors_per_second": grown["gpu_nvlink_errors_total"],
        "gpu_ecc_correctable_total": counters.gpu["gpu_ecc_correctable_total"],
        "gpu_ecc_uncorrectable_total": counters.gpu["gpu_ecc_uncorrectable_total"],
        "gpu_row_remap_pending": causes.row_remap_pending,
        "gpu_row_remap_failed": causes.row_remap_failed,
        "gpu_recovery_action": causes.recovery_action,
        "gpu_xid": xid,
    }


def node_growth(
    causes: Causes, host: Host, traffic: Traffic, rng: np.random.Generator
) -> dict[str, Floats]:
    """What the hosts' counters grow by in this second."""
    marked = rng.poisson(traffic.marked)
    return {
        "context_switches_total": host.switches,
        "disk_reads_total": host.reads,
        "disk_writes_total": host.writes,
        "disk_read_bytes_total": host.read_bytes,
        "disk_written_bytes_total": host.written_bytes,
        "disk_read_seconds_total": np.round(host.read_seconds, 3),
        "disk_write_seconds_total": np.round(host.write_seconds, 3),
        "tcp_received_bytes_total": host.received_bytes,
        "tcp_sent_bytes_total": host.sent_bytes,
        "tcp_retransmits_total": host.retransmits,
        "network_drops_total": host.drops,
        "rdma_tx_bytes_total": np.rint(traffic.rdma_tx),
        "rdma_rx_bytes_total": np.rint(traffic.rdma_rx),
        "pfc_tx_packets_total": rng.poisson(traffic.paused).astype(float),
        "ecn_packets_total": marked.astype(float),
        "cnp_packets_total": np.rint(0.8 * marked),
        "ib_link_downed_total": causes.link_downs,
        "ib_symbol_errors_total": rng.poisson(causes.symbol_errors_per_second).astype(float),
    }


def node_readings(
    config: ClusterConfig, host: Host, grown: Mapping[str, Floats], busy: Floats, counters: Counters
) -> dict[str, Floats]:
    """What the hosts say; `busy` is this second's busy share of the processor."""
    hardware = config.hardware
    return {
        "cpu_utilization_ratio": busy,
        "memory_used_ratio": _used(host.memory_ratio, hardware.host_memory_bytes),
        "load_average": np.round(host.load, 2),
        "process_resident_bytes": np.rint(host.resident_bytes),
        "context_switches_per_second": grown["context_switches_total"],
        "disk_throughput_bytes_per_second": grown["disk_read_bytes_total"]
        + grown["disk_written_bytes_total"],
        "disk_read_latency_seconds": _mean(
            grown["disk_read_seconds_total"], grown["disk_reads_total"]
        ),
        "disk_write_latency_seconds": _mean(
            grown["disk_write_seconds_total"], grown["disk_writes_total"]
        ),
        "filesystem_used_ratio": _used(host.filesystem_ratio, hardware.filesystem_bytes),
        "tcp_throughput_bytes_per_second": grown["tcp_received_bytes_total"]
        + grown["tcp_sent_bytes_total"],
        "tcp_retransmits_per_second": grown["tcp_retransmits_total"],
        "network_round_trip_seconds": host.round_trip_seconds,
        "network_drops_per_second": grown["network_drops_total"],
        "rdma_tx_bytes_per_second": grown["rdma_tx_bytes_total"],
        "rdma_rx_bytes_per_second": grown["rdma_rx_bytes_total"],
        "pfc_tx_packets_per_second": grown["pfc_tx_packets_total"],
        "ecn_packets_per_second": grown["ecn_packets_total"],
        "cnp_packets_per_second": grown["cnp_packets_total"],
        "ib_link_downed_total": counters.node["ib_link_downed_total"],
        "ib_symbol_errors_per_second": grown["ib_symbol_errors_total"],
    }


def available(used_ratio: Floats, whole: float) -> Floats:
    """Whole bytes that are left."""
    left: Floats = np.rint(whole * (1.0 - used_ratio))
    return left


def _used(ratio: Floats, whole: float) -> Floats:
    return 1.0 - available(ratio, whole) / whole


def _mean(total: Floats, number: Floats) -> Floats:
    """Not observed where nothing happened."""
    mean: Floats = np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)
    return mean
