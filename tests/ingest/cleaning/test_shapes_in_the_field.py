"""Pages as they were seen in public threads: labels missing, renamed, repeated, misplaced."""

from __future__ import annotations

import pytest

from ingest.cleaning.pages import Exporter, cleaned, column, facts, only
from paramedic.ingest.contract import NodeName

N1 = NodeName("n1")


def test_two_labels_only_and_a_blank_memory_temperature() -> None:
    page = cleaned(
        'DCGM_FI_DEV_SM_CLOCK{gpu="0", UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52"} 139\n'
        'DCGM_FI_DEV_MEM_CLOCK{gpu="0", UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52"} 405\n'
        'DCGM_FI_DEV_MEMORY_TEMP{gpu="0", UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52"} '
        "9223372036854775794\n"
    )
    assert only(page, "gpu_sm_clock_hertz") == 139e6
    assert only(page, "gpu_memory_clock_hertz") == 405e6
    assert page.rejected == {("blank_sentinel", "gpu_memory_temperature_celsius"): 1}


def test_the_old_shell_exporters_kilobytes() -> None:
    page = cleaned(
        'dcgm_sm_clock{gpu="0",uuid="GPU-a"} 139\n'
        'dcgm_gpu_temp{gpu="0",uuid="GPU-a"} 25\n'
        'dcgm_power_usage{gpu="0",uuid="GPU-a"} 10.101\n'
        'dcgm_pcie_tx_throughput{gpu="0",uuid="GPU-a"} 1200\n'
        'dcgm_pcie_rx_throughput{gpu="0",uuid="GPU-a"} 1027729013\n'
    )
    assert only(page, "gpu_power_watts") == 10.101
    assert only(page, "gpu_pcie_tx_bytes_per_second") == 1.2e6
    assert only(page, "gpu_pcie_rx_bytes_per_second") is None
    assert page.rejected == {("out_of_range", "gpu_pcie_rx_bytes_per_second"): 1}


def test_old_names_with_an_upper_case_uuid_and_the_exporters_pod_for_a_host() -> None:
    exporter = Exporter(node="10.0.0.7")
    labels = 'gpu="0",UUID="GPU-b",device="nvidia0",modelName="Tesla V100-SXM2-32GB",'
    labels += 'Hostname="dcgm-exporter-6ldbb",container="",namespace="",pod=""'
    exporter.says(f"dcgm_total_energy_consumption{{{labels}}} 55491669881\n", 10.0)
    page = exporter.says(f"dcgm_total_energy_consumption{{{labels}}} 55491919881\n", 11.0)
    assert column(page, "gpu_energy_joules_per_second") == {("10.0.0.7", 0): 250.0}
    assert "pod" not in page.labels[NodeName("10.0.0.7"), 0]


def test_a_profiling_value_with_six_decimals_and_an_integer_rate() -> None:
    page = cleaned(
        'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="0",UUID="GPU-a"} 0.000001\n'
        'DCGM_FI_PROF_PCIE_TX_BYTES{gpu="0",UUID="GPU-a"} 421894\n'
    )
    assert only(page, "gpu_tensor_active_ratio") == 0.000001
    assert only(page, "gpu_pcie_tx_bytes_per_second") == 421894.0


def test_slices_of_which_each_repeats_the_xid() -> None:
    exporter = Exporter()
    labels = 'gpu="0",UUID="GPU-a",GPU_I_PROFILE="1g.6gb",GPU_I_ID="{}"'
    page = "".join(
        f"DCGM_FI_DEV_XID_ERRORS{{{labels.format(slice_id)}}} {{xid}}\n" for slice_id in (3, 4, 5)
    )
    exporter.says(page.replace("{xid}", "0"), 1.0)
    found = facts(exporter.says(page.replace("{xid}", "31"), 2.0))
    assert [one["xid"] for one in found] == [31]


def test_an_xid_with_words_of_the_exporter_in_its_labels() -> None:
    exporter = Exporter()
    exporter.says('DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-a",err_code="0",err_msg=""} 0\n', 1.0)
    page = exporter.says(
        'DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-a",err_code="45",'
        'err_msg="Preemptive cleanup, due to previous errors -- Most likely"} 45\n',
        2.0,
    )
    assert [one["xid"] for one in facts(page)] == [45]


def test_a_query_result_with_a_dozen_labels_of_the_chart() -> None:
    page = Exporter(node=None).says(
        "DCGM_FI_DEV_GPU_UTIL{"
        'DCGM_FI_DRIVER_VERSION="535.104.05",Hostname="gke-a100-1",UUID="GPU-c",'
        'app_kubernetes_io_component="dcgm-exporter",app_kubernetes_io_name="dcgm-exporter",'
        'container="exporter",endpoint="metrics",exported_container="train",'
        'exported_namespace="research",exported_pod="bert-0",gpu="0",'
        'helm_sh_chart="dcgm-exporter-3.1.5",instance="10.4.0.9:9400",job="dcgm-exporter",'
        'modelName="NVIDIA A100-SXM4-40GB",namespace="monitoring",pod="dcgm-exporter-x7k"} 98\n'
    )
    assert column(page, "gpu_utilization_ratio") == {("gke-a100-1", 0): 0.98}
    labels = page.labels[NodeName("gke-a100-1"), 0]
    assert (labels["pod"], labels["namespace"], labels["container"]) == (
        "bert-0",
        "research",
        "train",
    )
    assert labels["job"] == "dcgm-exporter"


def test_many_nodes_whose_gpus_are_all_called_zero() -> None:
    page = Exporter(node=None).says(
        "".join(
            f'DCGM_FI_DEV_GPU_TEMP{{gpu="0",UUID="GPU-{n}",hostname="host-{n}"}} {30 + n}\n'
            for n in range(4)
        )
    )
    assert column(page, "gpu_temperature_celsius") == {(f"host-{n}", 0): 30.0 + n for n in range(4)}


def test_labels_with_placeholders_of_a_fabric_are_no_identity() -> None:
    exporter = Exporter()
    line = 'DCGM_FI_DEV_GPU_TEMP{{gpu="0",UUID="GPU-a",DCGM_FI_DEV_FABRIC_CLUSTER_UUID="{}"}} 40\n'
    exporter.says(line.format("00000000-0000-0000-0000-000000000000"), 1.0)
    page = exporter.says(line.format("NOT_INSTALLED"), 2.0)
    assert column(page, "gpu_temperature_celsius") == {("n1", 0): 40.0}
    assert page.facts == ()


def test_links_of_a_gpu_with_label_names_of_their_own() -> None:
    exporter = Exporter()

    def links(count: int) -> str:
        return "".join(
            "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL{"
            f'nvlink="{link}",gpu="2",gpu_uuid="GPU-a",model_name="NVIDIA H200"}} {count + link}\n'
            for link in range(3)
        )

    exporter.says(links(0), 1.0)
    page = exporter.says(links(2), 2.0)
    assert column(page, "gpu_nvlink_errors_per_second") == {("n1", 2): 6.0}


def test_switches_and_grace_cores_are_not_gpus() -> None:
    page = cleaned(
        'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="nvswitch3",Hostname="n1"} 40\n'
        'DCGM_FI_DEV_CPU_UTIL_TOTAL{cpu="0",Hostname="n1"} 0.5\n'
    )
    assert page.tables == ()
    assert page.uncatalogued == (
        "DCGM_FI_DEV_CPU_UTIL_TOTAL",
        "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT",
    )


def test_amds_partitions_and_words_for_nothing() -> None:
    labels = (
        'card_model="102-G30211-0C",gpu_id="2",gpu_uuid="ccff74a1-0000-1000-80e0-c6d49f5b0d86",'
        'gpu_partition_id="NA",job_id="",hostname="tw038",pod="NA"'
    )
    page = cleaned(
        f"amd_gpu_gfx_activity{{{labels}}} 87\n"
        f"gpu_used_vram{{{labels}}} 1024\n"
        f'gpu_clock{{{labels},clock_index="0",clock_type="GPU_CLOCK_TYPE_SYSTEM"}} 2100\n'
        f'gpu_clock{{{labels},clock_index="1",clock_type="GPU_CLOCK_TYPE_SYSTEM"}} 1900\n'
        f'gpu_clock{{{labels},clock_index="8",clock_type="GPU_CLOCK_TYPE_MEMORY"}} 900\n'
    )
    row = (NodeName("tw038"), 2)
    assert column(page, "gpu_utilization_ratio") == {row: 0.87}
    assert column(page, "gpu_memory_used_bytes") == {row: 1073741824.0}
    assert column(page, "gpu_sm_clock_hertz") == {row: 2e9}
    assert {"job_id", "pod", "gpu_partition_id"}.isdisjoint(page.labels[row])


def test_one_line_that_is_no_number_does_not_take_the_target_down() -> None:
    page = cleaned(
        'DCGM_FI_DEV_VGPU_INSTANCE_IDS{gpu="0"} ERROR - FAILED TO CONVERT TO STRING\n'
        'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 5\n'
    )
    assert only(page, "gpu_utilization_ratio") == 0.05


def test_a_pod_label_with_quotes_that_nobody_escaped() -> None:
    page = cleaned(
        'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",pod_annotation="{"a": "b, c"}",pod="x"} 5\n'
    )
    assert only(page, "gpu_utilization_ratio") == 0.05
    assert page.labels[N1, 0]["pod_annotation"] == '{"a": "b, c"}'


@pytest.mark.parametrize("host", ["Hostname", "hostname"])
def test_both_spellings_of_the_host_are_one_node(host: str) -> None:
    exporter = Exporter()
    exporter.says('DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="0",Hostname="h"} 5\n', 1.0)
    page = exporter.says(f'DCGM_FI_DEV_PCIE_REPLAY_COUNTER{{gpu="0",{host}="h"}} 9\n', 2.0)
    assert column(page, "gpu_pcie_replays_per_second") == {("h", 0): 4.0}
