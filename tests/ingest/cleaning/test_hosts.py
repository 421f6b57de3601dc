"""Pages of node_exporter and of NCCL Inspector become the few metrics of a node."""

from __future__ import annotations

import pytest

from ingest.cleaning.pages import Exporter, cleaned, column, only
from paramedic.ingest.contract import Entity


def rate(metric: str, first: str, second: str, seconds: float = 2.0) -> float | None:
    exporter = Exporter()
    exporter.says(first, 10.0)
    return only(exporter.says(second, 10.0 + seconds), metric)


def cpu(idle: list[float], user: float = 0.0) -> str:
    return "".join(
        f'node_cpu_seconds_total{{cpu="{n}",mode="idle"}} {seconds}\n'
        f'node_cpu_seconds_total{{cpu="{n}",mode="user"}} {user}\n'
        for n, seconds in enumerate(idle)
    )


def test_processor_use_is_what_is_not_idle_over_all_processors() -> None:
    assert rate("cpu_utilization_ratio", cpu([100, 50]), cpu([102, 50])) == 0.5
    assert rate("cpu_utilization_ratio", cpu([100, 50]), cpu([101, 50.5])) == 0.625


def test_a_second_that_was_a_little_longer_does_not_make_use_negative() -> None:
    assert rate("cpu_utilization_ratio", cpu([100.0]), cpu([102.1])) == 0.0


def test_memory_in_use_is_what_is_not_available() -> None:
    page = cleaned("node_memory_MemTotal_bytes 8e9\nnode_memory_MemAvailable_bytes 2e9\n")
    (table,) = page.tables
    assert table.entity is Entity.NODE
    assert table.indices is None
    assert table.columns == {"memory_used_ratio": (0.75,)}


def test_half_of_a_quotient_is_no_metric() -> None:
    assert cleaned("node_memory_MemTotal_bytes 8e9\n").tables == ()


def filesystem(name: str, free: float, size: float, kind: str = "ext4") -> str:
    labels = f'device="{name}",mountpoint="/{name}",fstype="{kind}"'
    return f"node_filesystem_avail_bytes{{{labels}}} {free}\nnode_filesystem_size_bytes{{{labels}}} {size}\n"  # noqa: E501


def test_the_fullest_file_system_of_the_nodes_own_counts() -> None:
    page = cleaned(
        filesystem("a", 90, 100) + filesystem("b", 20, 100) + filesystem("t", 0, 100, "tmpfs")
    )
    assert only(page, "filesystem_used_ratio") == pytest.approx(0.8)


def disk(reads: float, read_seconds: float, device: str = "nvme0n1") -> str:
    return (
        f'node_disk_reads_completed_total{{device="{device}"}} {reads}\n'
        f'node_disk_read_time_seconds_total{{device="{device}"}} {read_seconds}\n'
    )


def test_read_latency_is_the_time_of_a_read_over_all_disks() -> None:
    before = disk(100, 5.0) + disk(0, 0.0, "nvme1n1")
    after = disk(110, 5.2) + disk(30, 0.2, "nvme1n1")
    assert rate("disk_read_latency_seconds", before, after) == pytest.approx(0.4 / 40)


def test_no_reads_have_no_latency() -> None:
    assert rate("disk_read_latency_seconds", disk(100, 5.0), disk(100, 5.0)) is None


def traffic(device: str, received: float, sent: float) -> str:
    return (
        f'node_network_receive_bytes_total{{device="{device}"}} {received}\n'
        f'node_network_transmit_bytes_total{{device="{device}"}} {sent}\n'
    )


def test_traffic_is_added_up_over_real_devices_and_both_directions() -> None:
    before = traffic("eth0", 0, 0) + traffic("eth1", 5, 5) + traffic("lo", 0, 0)
    after = traffic("eth0", 10, 20) + traffic("eth1", 7, 5) + traffic("lo", 999, 999)
    assert rate("tcp_throughput_bytes_per_second", before, after) == 16.0


def test_a_sum_waits_for_the_part_that_has_no_rate_yet() -> None:
    exporter = Exporter()
    exporter.says(traffic("eth0", 0, 0), 10.0)
    grown = exporter.says(traffic("eth0", 10, 0) + traffic("eth1", 500, 0), 11.0)
    assert only(grown, "tcp_throughput_bytes_per_second") is None
    later = exporter.says(traffic("eth0", 20, 0) + traffic("eth1", 505, 0), 12.0)
    assert only(later, "tcp_throughput_bytes_per_second") == 15.0


def test_a_part_that_is_gone_is_not_waited_for() -> None:
    exporter = Exporter()
    exporter.says(traffic("eth0", 0, 0) + traffic("eth1", 0, 0), 10.0)
    page = exporter.says(traffic("eth0", 10, 0), 11.0)
    assert only(page, "tcp_throughput_bytes_per_second") == 10.0


def test_pause_frames_are_added_up_over_priorities_and_devices() -> None:
    def frames(count: int) -> str:
        return "".join(
            f'node_ethtool_transmitted_prio{n}_pause{{device="{device}"}} {n * count}\n'
            for n in range(8)
            for device in ("ens1", "ens2")
        )

    assert rate("pfc_tx_packets_per_second", frames(0), frames(1)) == 28.0


def test_infiniband_is_added_up_over_ports() -> None:
    def port(device: str, sent: int, downed: int) -> str:
        labels = f'{{device="{device}",port="1"}}'
        return (
            f"node_infiniband_port_data_transmitted_bytes_total{labels} {sent}\n"
            f"node_infiniband_link_downed_total{labels} {downed}\n"
        )

    exporter = Exporter()
    exporter.says(port("mlx5_0", 0, 1) + port("mlx5_1", 0, 0), 1.0)
    page = exporter.says(port("mlx5_0", 100, 1) + port("mlx5_1", 50, 2), 2.0)
    assert only(page, "rdma_tx_bytes_per_second") == 150.0
    assert only(page, "ib_link_downed_total") == 3.0


def test_plain_values_and_plain_counters_of_a_node() -> None:
    exporter = Exporter()
    text = "node_load1 {0}\nnode_context_switches_total {0}\nnode_netstat_Tcp_RetransSegs {0}\n"
    exporter.says(text.format(3), 1.0)
    page = exporter.says(text.format(5), 2.0)
    (table,) = page.tables
    assert table.columns == {
        "load_average": (5.0,),
        "context_switches_per_second": (2.0,),
        "tcp_retransmits_per_second": (2.0,),
    }


def test_nccl_inspectors_gauges_are_one_value_a_node() -> None:
    def collective(size: str, gigabytes: float, microseconds: float) -> str:
        labels = f'{{cluster="c",message_size="{size}",collective="AllReduce"}}'
        return (
            f"nccl_bus_bandwidth_gbs{labels} {gigabytes}\n"
            f"nccl_collective_exec_time_microseconds{labels} {microseconds}\n"
        )

    page = cleaned(collective("4-5GB", 300, 9000) + collective("1-2GB", 100, 4000))
    assert only(page, "nccl_bus_bandwidth_bytes_per_second") == 2e11
    assert only(page, "nccl_collective_seconds") == pytest.approx(0.009)


def test_a_host_page_is_not_a_gpus_even_where_its_labels_say_gpu() -> None:
    assert column(cleaned('node_load1{gpu="0"} 3\n'), "load_average") == {("n1", None): 3.0}
