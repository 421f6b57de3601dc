"""What a host's and its network card's counters say in each second."""

from __future__ import annotations

import numpy as np
from benchmarks.other_physics.job import Floats, Job
from benchmarks.other_physics.machines import Machines
from benchmarks.other_physics.noise import bursts, factor, lingering
from benchmarks.other_physics.seconds import Doing


def host_metrics(
    job: Job, machines: Machines, totals: Floats, dice: np.random.Generator
) -> dict[str, Floats]:
    """Per metric, seconds × nodes, before marks and before exporters round."""
    sums = totals.reshape(*totals.shape[:2], job.nodes, job.gpus).sum(axis=3)
    return {
        **_processor(job, machines, sums, dice),
        **_disk(job, machines, sums, dice),
        **_network(job, machines, sums, dice),
    }


def _processor(
    job: Job, machines: Machines, sums: Floats, dice: np.random.Generator
) -> dict[str, Floats]:
    shape = sums.shape[1:]
    base = dice.uniform(0.05, 0.25)
    running = sums[: Doing.OPTIMIZE + 1].sum(axis=0) / job.gpus
    usage = base * machines.host * (0.6 + 0.4 * running)
    cpu = usage * factor(dice, shape, 0.05, 0.05, 20.0) + bursts(dice, shape, 0.004, 0.02)
    memory = dice.uniform(0.2, 0.6) * (1.0 + 0.03 * (machines.host - 1.0))
    used = memory + lingering(dice, shape[0], shape[1], 0.003, 300.0)
    return {
        "cpu_utilization_ratio": np.clip(cpu, 0.0, 1.0),
        "memory_used_ratio": np.clip(used, 0.0, 0.99),
        "load_average": _smoothed(cpu, 60.0) * 128.0 * factor(dice, shape, 0.01, 0.03, 60.0),
        "process_resident_bytes": 6e11 * used * factor(dice, shape, 0.0005),
        "context_switches_per_second": 4e5 * cpu * factor(dice, shape, 0.06, 0.06),
    }


def _smoothed(values: Floats, memory_seconds: float) -> Floats:
    kept, smooth = float(np.exp(-1.0 / memory_seconds)), values.copy()
    smooth[0] = values.mean(axis=0)
    for second in range(1, len(values)):
        smooth[second] = kept * smooth[second - 1] + (1.0 - kept) * values[second]
    return smooth


def _disk(
    job: Job, machines: Machines, sums: Floats, dice: np.random.Generator
) -> dict[str, Floats]:
    shape = sums.shape[1:]
    reading = 3e7 * job.gpus * dice.uniform(0.3, 2.0) * factor(dice, shape, 0.3, 0.2, 10.0)
    latency = dice.uniform(2e-4, 2e-3) * machines.disk
    full = dice.uniform(0.2, 0.7) + dice.normal(0.0, 0.03, job.nodes)
    return {
        "disk_throughput_bytes_per_second": reading + bursts(dice, shape, 0.01, 4e7),
        "disk_read_latency_seconds": latency * factor(dice, shape, 0.2, 0.15, 15.0),
        "disk_write_latency_seconds": 1.6 * latency * factor(dice, shape, 0.25, 0.15, 15.0),
        "filesystem_used_ratio": np.clip(full + 1e-6 * np.arange(shape[0])[:, None], 0.0, 1.0),
    }


def _network(
    job: Job, machines: Machines, sums: Floats, dice: np.random.Generator
) -> dict[str, Floats]:
    shape = sums.shape[1:]
    rdma = 0.8 * job.card.nic_bytes_per_second * sums[Doing.REDUCED]
    if job.stages > 1:
        rdma = rdma + 0.03 * job.card.nic_bytes_per_second * sums[Doing.WORK]
    sending = sums[Doing.REDUCED] / job.gpus
    tcp = dice.uniform(1e6, 2e7) * machines.network * factor(dice, shape, 0.15, 0.15)
    trip = dice.uniform(3e-5, 3e-4) * machines.network
    pauses = dice.uniform(20.0, 400.0) * machines.network
    return {
        "tcp_throughput_bytes_per_second": tcp,
        "tcp_retransmits_per_second": dice.poisson(0.1, shape) + bursts(dice, shape, 0.01, 3.0),
        "network_round_trip_seconds": trip * factor(dice, shape, 0.08, 0.05) * (1 + 0.3 * sending),
        "network_drops_per_second": bursts(dice, shape, 0.002, 1.0),
        "rdma_tx_bytes_per_second": rdma * factor(dice, shape, 0.01, 0.01),
        "rdma_rx_bytes_per_second": rdma * factor(dice, shape, 0.01, 0.01),
        "pfc_tx_packets_per_second": pauses * (0.05 + sending) * factor(dice, shape, 0.3, 0.2, 8.0),
        "ecn_packets_per_second": 6
        * pauses
        * (0.02 + sending)
        * factor(dice, shape, 0.25, 0.2, 8.0),
        "cnp_packets_per_second": 4
        * pauses
        * (0.02 + sending)
        * factor(dice, shape, 0.25, 0.2, 8.0),
        "ib_link_downed_total": np.broadcast_to(dice.integers(0, 3, job.nodes) * 1.0, shape).copy(),
        "ib_symbol_errors_per_second": bursts(dice, shape, 0.001, 1.0),
    }
