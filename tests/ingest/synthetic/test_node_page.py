"""The node_exporter's page, against lines as the true one prints them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.synthetic.clusters import configured
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import Hardware
from paramedic.ingest.synthetic.exposition.node_page import NodePages
from paramedic.ingest.synthetic.exposition.numerals import go_number
from paramedic.ingest.synthetic.reading import Second

CONFIG = replace(configured(nodes=2, gpus=2), hardware=Hardware(cores=3))
SENT = "node_infiniband_port_data_transmitted_bytes_total"
UNAME = 'machine="x86_64",nodename="node-0002",release="6.8.0-60-generic",sysname="Linux"'
CLUSTER = SyntheticCluster(CONFIG)


def page(of: Second, node: int = 1) -> list[str]:
    return NodePages(CONFIG, CLUSTER.layout).render(of, node).splitlines()


def known() -> Second:
    lived = CLUSTER.second(3)
    counters = replace(
        lived.counters,
        node={
            **lived.counters.node,
            "disk_read_seconds_total": np.array([0.0, 1234.5670000001]),
            "rdma_tx_bytes_total": np.array([0.0, 20_000_000_001.0]),
            "tcp_retransmits_total": np.array([0.0, 7.0]),
        },
        busy_centiseconds=np.array([[0, 0, 0], [1001, 2000, 3000]]),
        idle_centiseconds=np.array([[0, 0, 0], [123_456_700, 5, 6]]),
    )
    node = {**lived.node, "memory_used_ratio": np.array([0.5, 0.25]),
            "load_average": np.array([1.0, 7.25])}  # fmt: skip
    return replace(lived, counters=counters, node=node)


@pytest.mark.parametrize(
    "line",
    [
        "# TYPE node_cpu_seconds_total counter",
        'node_cpu_seconds_total{cpu="0",mode="idle"} 1.234567e+06',
        'node_cpu_seconds_total{cpu="0",mode="iowait"} 0',
        'node_cpu_seconds_total{cpu="0",mode="system"} 2.5',
        'node_cpu_seconds_total{cpu="0",mode="user"} 7.51',
        'node_cpu_seconds_total{cpu="2",mode="user"} 22.5',
        "node_load1 7.25",
        "node_memory_MemTotal_bytes 2e+12",
        "node_memory_MemAvailable_bytes 1.5e+12",
        'node_disk_read_time_seconds_total{device="nvme0n1"} 1234.567',
        f"{SENT}{{device=\"mlx5_0\",port=\"1\"}} 1.0000000001e+10",
        f"{SENT}{{device=\"mlx5_1\",port=\"1\"}} 1e+10",
        "# TYPE node_netstat_Tcp_RetransSegs untyped",
        "node_netstat_Tcp_RetransSegs 7",
        'node_ethtool_transmitted_prio3_pause{device="eth0"} 0',
        f"node_uname_info{{{UNAME}}} 1",
        "node_time_seconds 1.767225603e+09",
    ],
)  # fmt: skip
def test_the_page_has_the_line(line: str) -> None:
    assert line in page(known())


def test_every_family_stands_once_with_its_head() -> None:
    lines = page(known())
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(set(names)) == len(names)
    sampled = {re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")}
    assert sampled == set(names)


def test_no_counter_of_a_page_falls_from_one_second_to_the_next() -> None:
    before: dict[str, float] = {}
    for second in CLUSTER.seconds(0, 12):
        samples = (line.rsplit(" ", 1) for line in page(second) if "_total" in line.split("{")[0])
        now = {series: float(value) for series, value in samples if not series.startswith("#")}
        assert all(now[series] >= value for series, value in before.items())
        before = now


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_it_was(value: float) -> None:
    assert float(go_number(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1.0, "1"), (-2.5, "-2.5"), (999_999.0, "999999"), (1e6, "1e+06"),
        (123_456.75, "123456.75"), (1_234_567.5, "1.2345675e+06"), (0.0001, "0.0001"),
        (0.00005, "5e-05"), (1.767225603e9, "1.767225603e+09"), (2e12, "2e+12"),
        (1e22, "1e+22"), (-3.5e-7, "-3.5e-07"),
    ],
)  # fmt: skip
def test_numbers_look_as_go_prints_them(value: float, text: str) -> None:
    assert go_number(value) == text
