"""The catalogue covers every canonical id, and its file cannot contradict itself."""

from __future__ import annotations

import pytest

from paramedic.ingest.catalogue.catalogue import Catalogue, shipped_catalogue
from paramedic.ingest.catalogue.metric import CatalogueError, Kind, Over
from paramedic.ingest.catalogue.reading import read_catalogue
from paramedic.ingest.contract import Entity

GPU_IDS = """
gpu_utilization_ratio gpu_graphics_active_ratio gpu_sm_active_ratio gpu_tensor_active_ratio
gpu_dram_active_ratio gpu_fp16_active_ratio gpu_fp32_active_ratio gpu_power_watts
gpu_temperature_celsius gpu_memory_temperature_celsius gpu_sm_clock_hertz gpu_memory_used_bytes
gpu_nvlink_tx_bytes_per_second gpu_nvlink_rx_bytes_per_second gpu_pcie_tx_bytes_per_second
gpu_pcie_rx_bytes_per_second gpu_pcie_replays_per_second gpu_ecc_uncorrectable_total
gpu_ecc_correctable_total gpu_row_remap_pending gpu_row_remap_failed gpu_nvlink_errors_per_second
gpu_throttle_reasons gpu_xid gpu_recovery_action
"""
NODE_IDS = """
cpu_utilization_ratio memory_used_ratio load_average process_resident_bytes
context_switches_per_second disk_throughput_bytes_per_second disk_read_latency_seconds
disk_write_latency_seconds filesystem_used_ratio tcp_throughput_bytes_per_second
tcp_retransmits_per_second network_round_trip_seconds network_drops_per_second
rdma_tx_bytes_per_second rdma_rx_bytes_per_second pfc_tx_packets_per_second ecn_packets_per_second
cnp_packets_per_second ib_link_downed_total ib_symbol_errors_per_second
"""
RANK_IDS = """
step step_seconds compute_seconds collective_seconds collective_p99_seconds collective_bytes
dataloader_seconds samples_per_second loss gradient_norm learning_rate global_batch_size heartbeat
"""
# Unit in the id's last word: what the catalogue has to call it.
UNITS = {
    "ratio": "ratio",
    "watts": "watt",
    "celsius": "celsius",
    "hertz": "hertz",
    "bytes": "byte",
    "seconds": "second",
}


def one_metric(**changes: str) -> str:
    lines = {"entity": '"gpu"', "unit": '"watt"', "kind": '"gauge"', "range": "[0, 10]"} | changes
    return "[gpu_power_watts]\n" + "\n".join(f"{key} = {value}" for key, value in lines.items())


@pytest.mark.parametrize(
    ("entity", "ids"),
    [(Entity.GPU, GPU_IDS), (Entity.NODE, NODE_IDS), (Entity.RANK, RANK_IDS)],
)
def test_every_canonical_id_is_in_the_catalogue(entity: Entity, ids: str) -> None:
    assert set(ids.split()) <= set(shipped_catalogue().ids(entity))


def test_every_id_that_exporters_can_give_has_an_exporters_name_or_is_computed() -> None:
    catalogue = shipped_catalogue()
    named = {one.metric.id for one in catalogue.exported.values()}
    without = {
        metric.id
        for metric in catalogue.metrics.values()
        if metric.entity is not Entity.RANK and metric.id not in named and metric.ratio is None
    }
    assert without == {"process_resident_bytes", "network_round_trip_seconds"}


def test_the_unit_in_an_id_is_the_unit_of_its_metric() -> None:
    for metric in shipped_catalogue().metrics.values():
        word = metric.id.rsplit("_", 1)[-1]
        assert metric.unit == UNITS.get(word, metric.unit), metric.id


def test_ratios_reach_from_nothing_to_all() -> None:
    for metric in shipped_catalogue().metrics.values():
        if metric.unit == "ratio":
            assert (metric.low, metric.high) in ((0, 1), (0, 1.5)), metric.id


def test_all_dialects_are_there() -> None:
    dialects = {one.dialect for one in shipped_catalogue().exported.values()}
    assert dialects == {
        "dcgm_1",
        "dcgm",
        "dcgm_4_9",
        "amd",
        "nvidia_smi",
        "node_exporter",
        "nccl_inspector",
    }


@pytest.mark.parametrize(
    ("name", "metric", "factor"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", "gpu_utilization_ratio", 0.01),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "gpu_utilization_ratio", 1.0),
        ("dcgm_gpu_utilization", "gpu_utilization_ratio", 0.01),
        ("DCGM_FI_DEV_FB_USED", "gpu_memory_used_bytes", 1048576.0),
        ("DCGM_FI_DEV_SM_CLOCK", "gpu_sm_clock_hertz", 1e6),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "gpu_energy_joules_per_second", 1e-3),
        ("DCGM_FI_DEV_POWER_VIOLATION", "gpu_power_throttled_seconds_per_second", 1e-9),
        ("DCGM_FI_DEV_PCIE_TX_THROUGHPUT", "gpu_pcie_tx_bytes_per_second", 1e3),
        ("gpu_energy_consumed", "gpu_energy_joules_per_second", 1e-6),
        ("pcie_bandwidth", "gpu_pcie_bytes_per_second", 125000.0),
        ("nccl_bus_bandwidth_gbs", "nccl_bus_bandwidth_bytes_per_second", 1e9),
    ],
)
def test_names_have_the_factor_to_the_si_unit(name: str, metric: str, factor: float) -> None:
    found = shipped_catalogue().find(name)
    assert found is not None
    assert (found.metric.id, found.factor) == (metric, factor)


def test_a_type_line_is_not_believed_about_the_profiling_rates() -> None:
    catalogue = shipped_catalogue()
    assert catalogue.exported["DCGM_FI_PROF_PCIE_TX_BYTES"].kind is Kind.GAUGE
    assert catalogue.exported["DCGM_FI_PROF_PCIE_TX_BYTES_TOTAL"].kind is Kind.COUNTER
    assert catalogue.exported["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"].kind is Kind.GAUGE


def test_a_raw_counter_is_called_by_its_total() -> None:
    exported = shipped_catalogue().exported
    assert exported["DCGM_FI_DEV_PCIE_REPLAY_COUNTER"].shown_as == "gpu_pcie_replays_total"
    assert exported["node_cpu_seconds_total"].shown_as == "cpu_idle_seconds_total"
    assert exported["DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"].shown_as == "gpu_ecc_uncorrectable_total"
    assert not exported["DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"].is_rate


def test_a_digit_range_in_a_name_stands_for_all_of_them() -> None:
    names = shipped_catalogue().names("pfc_tx_packets_per_second", "node_exporter")
    assert [one.name for one in names] == [
        f"node_ethtool_transmitted_prio{n}_pause" for n in range(8)
    ]
    assert len({one.group for one in names}) == 1


def test_names_that_do_not_add_up_are_kept_apart() -> None:
    power = shipped_catalogue().names("gpu_power_watts", "dcgm")
    assert len({one.group for one in power}) == len(power) == 2


def test_amds_prefix_is_known_and_belongs_to_nobody_else() -> None:
    catalogue = shipped_catalogue()
    found = catalogue.find("amd_gpu_gfx_activity")
    assert found is not None
    assert found.metric.id == "gpu_utilization_ratio"
    assert catalogue.find("amd_DCGM_FI_DEV_GPU_UTIL") is None


def test_a_gpus_canonical_id_is_a_name_too() -> None:
    found = shipped_catalogue().find("gpu_power_watts")
    assert found is not None
    assert (found.metric.id, found.factor, found.over) == ("gpu_power_watts", 1.0, Over.FIRST)
    assert shipped_catalogue().find("load_average") is None


def test_descriptions_are_known_and_no_telemetry() -> None:
    catalogue = shipped_catalogue()
    assert catalogue.is_ignored("nvidia_smi_pci_bus")
    assert catalogue.is_ignored("nvidia_smi_power_max_limit_watts")
    assert not catalogue.is_ignored("nvidia_smi_fan_speed_ratio")
    assert not any(catalogue.is_ignored(name) for name in catalogue.exported)


def test_processor_idle_time_is_taken_from_one_mode_only() -> None:
    idle = shipped_catalogue().exported["node_cpu_seconds_total"]
    assert idle.takes({"cpu": "0", "mode": "idle"})
    assert not idle.takes({"cpu": "0", "mode": "user"})


@pytest.mark.parametrize("device", ["lo", "veth12ab", "bond0", "eth0.100", "docker0", "ib0"])
def test_devices_that_count_traffic_twice_or_not_at_all_are_left_out(device: str) -> None:
    received = shipped_catalogue().exported["node_network_receive_bytes_total"]
    assert not received.takes({"device": device})
    assert received.takes({"device": "eth0"})
    assert received.takes({"device": "enp129s0f0"})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[gpu_power_watts", "not TOML"),
        (one_metric(kind='"guess"'), "guess"),
        (one_metric(range="[0]"), "gpu_power_watts"),
        (one_metric(dcgm='{ name = "A", facter = 2 }'), "facter"),
        (one_metric(dcgm='{ name = "A", over = "median" }'), "median"),
        (one_metric(dcgm='["A", "A"]'), "A is both"),
        (one_metric(dcgm='{ name = "A", only = { mode = "(" } }'), "gpu_power_watts"),
        (one_metric(ratio='{ of = "x", by = "y", over = "sum" }'), "no metric 'x'"),
    ],
)
def test_a_catalogue_that_contradicts_itself_is_refused_by_name(text: str, word: str) -> None:
    with pytest.raises(CatalogueError, match="metric catalogue") as raised:
        read_catalogue(text)
    assert word in str(raised.value)


def test_a_catalogue_of_ones_own_can_be_used() -> None:
    catalogue = Catalogue(read_catalogue(one_metric(mine='{ name = "milliwatts", factor = 1e-3 }')))
    found = catalogue.find("milliwatts")
    assert found is not None
    assert (found.dialect, found.factor) == ("mine", 1e-3)
