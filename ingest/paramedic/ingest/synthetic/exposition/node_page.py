"""The page of a node's node_exporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.exposition.numerals import go_number
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.reading import Second
from paramedic.ingest.synthetic.sensors import available

_DISK = 'device="nvme0n1"'
_ETHERNET = 'device="eth0"'
_ROOT = 'device="/dev/nvme0n1p2",fstype="ext4",mountpoint="/"'
_UNAME = 'machine="x86_64",nodename="{node}",release="6.8.0-60-generic",sysname="Linux"'
_MODES = ("idle", "iowait", "system", "user")
_COUNTERS = (
    ("node_context_switches_total", "", "context_switches_total"),
    ("node_disk_reads_completed_total", _DISK, "disk_reads_total"),
    ("node_disk_writes_completed_total", _DISK, "disk_writes_total"),
    ("node_disk_read_bytes_total", _DISK, "disk_read_bytes_total"),
    ("node_disk_written_bytes_total", _DISK, "disk_written_bytes_total"),
    ("node_disk_read_time_seconds_total", _DISK, "disk_read_seconds_total"),
    ("node_disk_write_time_seconds_total", _DISK, "disk_write_seconds_total"),
    ("node_network_receive_bytes_total", _ETHERNET, "tcp_received_bytes_total"),
    ("node_network_transmit_bytes_total", _ETHERNET, "tcp_sent_bytes_total"),
    ("node_network_receive_drop_total", _ETHERNET, "network_drops_total"),
    ("node_netstat_Tcp_RetransSegs", "", "tcp_retransmits_total"),
    ("node_ethtool_transmitted_prio3_pause", _ETHERNET, "pfc_tx_packets_total"),
)
_UNTYPED = ("node_netstat_Tcp_RetransSegs", "node_ethtool_transmitted_prio3_pause")
_CARD_COUNTERS = (
    ("node_infiniband_port_data_transmitted_bytes_total", "rdma_tx_bytes_total"),
    ("node_infiniband_port_data_received_bytes_total", "rdma_rx_bytes_total"),
    ("node_infiniband_link_downed_total", "ib_link_downed_total"),
    ("node_infiniband_symbol_error_total", "ib_symbol_errors_total"),
    ("node_infiniband_np_ecn_marked_roce_packets_received_total", "ecn_packets_total"),
    ("node_infiniband_np_cnp_packets_sent_total", "cnp_packets_total"),
)
_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class _Family:
    """One metric family: its name, its type, and the labels of each of its lines."""

    name: str
    kind: str
    labels: Sequence[str]

    def template(self) -> str:
        """Its lines, with a value left open in each."""
        lines = (
            f"{self.name}{{{one}}} %s\n" if one else f"{self.name} %s\n" for one in self.labels
        )
        return f"# HELP {self.name} Of the host.\n# TYPE {self.name} {self.kind}\n{''.join(lines)}"


class NodePages:
    """Renders the node pages of one second after another."""

    def __init__(self, config: ClusterConfig, layout: Layout) -> None:
        self._config = config
        self._layout = layout
        families = _families(config.hardware.cores, config.shape.gpus)
        self._template = "".join(family.template() for family in families)

    def render(self, second: Second, node: int) -> str:
        """The page of one node."""
        values = (
            *self._gauges(second, node),
            *_processor(second, node),
            *_counters(second.counters.node, node),
            *_cards(second.counters.node, node, self._config.shape.gpus),
        )
        filled = self._template % tuple(map(go_number, values))
        return filled.replace("{node}", self._layout.nodes[node])

    def _gauges(self, second: Second, node: int) -> Iterator[float]:
        hardware, readings = self._config.hardware, second.node
        memory = available(readings["memory_used_ratio"], hardware.host_memory_bytes)
        space = available(readings["filesystem_used_ratio"], hardware.filesystem_bytes)
        boot = self._config.first_second + int(second.counters.boot_second[node])
        yield 1.0
        yield float(boot)
        yield second.second + float(second.sight.clock_offset_seconds[node])
        yield float(readings["load_average"][node])
        yield hardware.host_memory_bytes
        yield float(memory[node])
        yield hardware.filesystem_bytes
        yield float(space[node])


def _families(cores: int, cards: int) -> Iterator[_Family]:
    """Every family of a page; the values are given in the same order."""
    yield _Family("node_uname_info", "gauge", (_UNAME,))
    yield _Family("node_boot_time_seconds", "gauge", ("",))
    yield _Family("node_time_seconds", "gauge", ("",))
    yield _Family("node_load1", "gauge", ("",))
    yield _Family("node_memory_MemTotal_bytes", "gauge", ("",))
    yield _Family("node_memory_MemAvailable_bytes", "gauge", ("",))
    yield _Family("node_filesystem_size_bytes", "gauge", (_ROOT,))
    yield _Family("node_filesystem_avail_bytes", "gauge", (_ROOT,))
    yield _Family(
        "node_cpu_seconds_total",
        "counter",
        [f'cpu="{core}",mode="{mode}"' for mode in _MODES for core in range(cores)],
    )
    for name, labels, _source in _COUNTERS:
        yield _Family(name, "untyped" if name in _UNTYPED else "counter", (labels,))
    devices = [f'device="mlx5_{card}",port="1"' for card in range(cards)]
    for name, _source in _CARD_COUNTERS:
        yield _Family(name, "counter", devices)


def _processor(second: Second, node: int) -> Iterator[float]:
    """Seconds by mode and core; a quarter of what a core does is the kernel's."""
    busy = second.counters.busy_centiseconds[node]
    system = busy // 4
    for column in (second.counters.idle_centiseconds[node], 0 * busy, system, busy - system):
        yield from (column / 100.0).tolist()


def _counters(counted: Mapping[str, Floats], node: int) -> Iterator[float]:
    """Milliseconds and whole numbers, free of what adding floats leaves behind."""
    for _name, _labels, source in _COUNTERS:
        yield round(float(counted[source][node]) * _MILLISECONDS) / _MILLISECONDS


def _cards(counted: Mapping[str, Floats], node: int, cards: int) -> Iterator[float]:
    """Each GPU has a network card of its own; what the node counts is spread over them."""
    for _name, source in _CARD_COUNTERS:
        share, rest = divmod(int(counted[source][node]), cards)
        yield from (float(share + (card < rest)) for card in range(cards))
