"""Nodes by their labels, GPUs by their UUID, labels as the exporter meant them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning.pages import Exporter, cleaned, column, gpu
from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
from paramedic.ingest.cleaning.gpus import GpuIndices, GpuLabels, gpu_of
from paramedic.ingest.cleaning.labels import exporters_labels, node_of, without_port
from paramedic.ingest.cleaning.settings import NODE_LABELS, CleaningSettings
from paramedic.ingest.contract import NodeName

POWER = "DCGM_FI_DEV_POWER_USAGE"
N1 = NodeName("n1")


@pytest.mark.parametrize(
    ("labels", "node"),
    [
        ({"Hostname": "a"}, "a"),
        ({"hostname": "b", "Hostname": "a"}, "b"),
        ({"exported_node": "c", "node": "d"}, "c"),
        ({"node": "d", "instance": "10.0.0.1:9400"}, "d"),
        ({"kubernetes_node": "e"}, "e"),
        ({"nodename": "f"}, "f"),
        ({"instance": "10.0.0.1:9400"}, "10.0.0.1"),
        ({"instance": "[fe80::1]:9400"}, "fe80::1"),
        ({"Hostname": "", "instance": "g:1"}, "g"),
        ({"hostname": "NA", "node": "h"}, "h"),
        ({"Hostname": "dcgm-exporter-6ldbb", "node": "i"}, "i"),
        ({"Hostname": "localhost", "instance": "j:9400"}, "j"),
        ({"Hostname": "pod-x", "pod": "pod-x", "instance": "k:1"}, "k"),
        ({"instance": "localhost:9400"}, "default"),
        ({}, "default"),
    ],
)
def test_a_node_is_the_first_label_that_names_one(labels: dict[str, str], node: str) -> None:
    assert node_of(labels, NODE_LABELS, NodeName("default")) == node


def test_the_order_of_labels_can_be_set() -> None:
    settings = CleaningSettings(node_labels=("rack_host",))
    exporter = Exporter(cleaner=TelemetryCleaner(settings))
    page = exporter.says(gpu(POWER, 0, 5, Hostname="a", rack_host="b"))
    assert list(column(page, "gpu_power_watts")) == [("b", 0)]


@pytest.mark.parametrize(
    ("address", "host"),
    [("n1", "n1"), ("n1:9400", "n1"), ("::1", "::1"), ("[::1]:1", "::1"), ("n1:http", "n1:http")],
)
def test_a_port_is_no_part_of_a_name(address: str, host: str) -> None:
    assert without_port(address) == host


def test_a_series_that_names_no_node_is_counted() -> None:
    page = Exporter(node=None).says(gpu(POWER, 0, 5))
    assert page.tables == ()
    assert page.rejected == {("no_node", "gpu_power_watts"): 1}


def test_labels_are_those_from_before_the_scrape_renamed_them() -> None:
    assert exporters_labels(
        {
            "exported_pod": "train-0",
            "exported_namespace": "ml",
            "pod": "dcgm-exporter-x",
            "namespace": "monitoring",
            "pod_uid": "",
            "gpu": "1",
        }
    ) == {"pod": "train-0", "namespace": "ml", "gpu": "1"}


def test_an_idle_gpu_does_not_belong_to_the_exporters_pod() -> None:
    assert exporters_labels(
        {"pod": "nvidia-dcgm-exporter-wq", "namespace": "gpu-operator", "gpu": "1"}
    ) == {"gpu": "1"}


def test_what_does_not_apply_is_absent() -> None:
    assert exporters_labels({"gpu_partition_id": "NA", "job_id": "", "gpu_id": "0"}) == {
        "gpu_id": "0"
    }


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"gpu": "3", "UUID": "GPU-a"}, GpuLabels("GPU-a", 3)),
        ({"gpu": "3", "uuid": "GPU-a"}, GpuLabels("GPU-a", 3)),
        ({"gpu": "3", "gpu_uuid": "GPU-a"}, GpuLabels("GPU-a", 3)),
        ({"gpu_id": "2", "gpu_uuid": "c0ff-ee"}, GpuLabels("c0ff-ee", 2)),
        ({"UUID": "GPU-a", "device": "nvidia5"}, GpuLabels("GPU-a", 5)),
        ({"gpu": "4"}, GpuLabels(None, 4)),
        ({"gpu": "GPU-a", "UUID": "GPU-a"}, GpuLabels("GPU-a", None)),
        ({"gpu": "all"}, None),
        ({"uuid": "fs-1"}, None),
        ({"device": "nvidia0"}, None),
        ({}, None),
    ],
)
def test_a_gpu_is_told_by_any_spelling(labels: dict[str, str], expected: GpuLabels | None) -> None:
    assert gpu_of("SOME_METRIC", labels) == expected


def test_a_bare_uuid_is_a_gpus_where_the_exporter_speaks_of_gpus_only() -> None:
    assert gpu_of("nvidia_smi_power_draw_watts", {"uuid": "a"}) == GpuLabels("a", None)


def test_uuids_are_one_in_both_spellings() -> None:
    assert GpuLabels("GPU-AB", None).key == GpuLabels("ab", None).key == "ab"


def test_an_index_never_shifts_when_a_card_vanishes() -> None:
    indices = GpuIndices()
    uuids = ["a", "b", "c"]
    for index, uuid in enumerate(uuids):
        assert indices.index_of(N1, GpuLabels(uuid, index), set(uuids)) == index
    left = {"a", "c"}
    assert indices.index_of(N1, GpuLabels("c", 1), left) == 2
    assert indices.index_of(N1, GpuLabels("b", 1), set(uuids)) == 1


def test_a_new_card_takes_over_the_index_of_one_that_is_gone() -> None:
    indices = GpuIndices()
    indices.index_of(N1, GpuLabels("a", 0), {"a", "b"})
    indices.index_of(N1, GpuLabels("b", 1), {"a", "b"})
    assert indices.index_of(N1, GpuLabels("new", 1), {"a", "new"}) == 1
    assert indices.index_of(N1, GpuLabels("b", 1), {"a", "new", "b"}) == 2


def test_uuids_without_an_index_are_numbered_as_they_come() -> None:
    indices = GpuIndices()
    present = {"a", "b"}
    assert indices.index_of(N1, GpuLabels("a", None), present) == 0
    assert indices.index_of(N1, GpuLabels("b", None), present) == 1
    assert indices.index_of(NodeName("n2"), GpuLabels("c", None), {"c"}) == 0


def test_a_placeholder_uuid_is_nobodys() -> None:
    zeros = "GPU-00000000-0000-0000-0000-000000000000"
    page = cleaned(gpu(POWER, 0, 5, UUID=zeros) + gpu(POWER, 1, 6, UUID=zeros))
    assert column(page, "gpu_power_watts") == {("n1", 0): 5.0, ("n1", 1): 6.0}


def test_another_exporter_finds_the_index_by_its_own_series() -> None:
    page = cleaned(
        'nvidia_smi_power_draw_watts{uuid="bb"} 7\n'
        'nvidia_smi_power_draw_watts{uuid="aa"} 8\n'
        'nvidia_smi_index{uuid="bb"} 3\n'
        'nvidia_smi_gpu_info{uuid="aa",index="1"} 1\n'
    )
    assert column(page, "gpu_power_watts") == {("n1", 1): 8.0, ("n1", 3): 7.0}


def test_two_exporters_of_one_node_mean_the_same_card() -> None:
    cleaner = TelemetryCleaner()
    Exporter("dcgm", cleaner=cleaner).says(gpu(POWER, 5, 300, UUID="GPU-aa"))
    page = Exporter("smi", cleaner=cleaner).says('nvidia_smi_fan_speed_ratio{uuid="aa"} 0.3\n')
    assert column(page, "nvidia_smi_fan_speed_ratio") == {("n1", 5): 0.3}


def test_a_gpus_metric_without_a_gpu_is_counted() -> None:
    assert cleaned(f"{POWER} 5\n").rejected == {("no_gpu", "gpu_power_watts"): 1}


def test_labels_of_a_row_are_the_same_object_while_they_do_not_change() -> None:
    exporter = Exporter()
    first = exporter.says(gpu(POWER, 0, 5, exported_pod="train-0", hpc_job="17"), 1.0)
    second = exporter.says(gpu(POWER, 0, 6, exported_pod="train-0", hpc_job="17"), 2.0)
    assert first.labels[N1, 0]["pod"] == "train-0"
    assert first.labels[N1, 0]["hpc_job"] == "17"
    assert second.labels[N1, 0] is first.labels[N1, 0]


def test_a_nodes_labels_name_no_device() -> None:
    page = cleaned(
        'node_load1{node="n1",cluster="c"} 1\n'
        'node_context_switches_total{node="n1",cluster="c",zone="z"} 5\n'
        'node_disk_read_bytes_total{node="n1",cluster="c",device="sda"} 5\n'
        'node_disk_read_bytes_total{node="n1",cluster="c",device="sdb"} 5\n'
    )
    assert page.labels[N1, None] == {"node": "n1", "cluster": "c", "zone": "z"}


@given(
    st.lists(
        st.permutations(["a", "b", "c", "d"]).flatmap(
            lambda order: st.integers(1, 4).map(lambda count: order[:count])
        ),
        min_size=1,
        max_size=6,
    )
)
def test_an_index_belongs_to_one_uuid_for_ever_whatever_vanishes(pages: list[list[str]]) -> None:
    indices = GpuIndices()
    for number, uuid in enumerate("abcd"):
        indices.index_of(N1, GpuLabels(uuid, number), set("abcd"))
    for page in pages:
        found = [
            indices.index_of(N1, GpuLabels(uuid, claimed), set(page))
            for claimed, uuid in enumerate(sorted(page))
        ]
        assert found == ["abcd".index(uuid) for uuid in sorted(page)]


UNAME = 'node_uname_info{nodename="gpu-7"} 1\n'


@pytest.mark.parametrize(
    ("asked", "page", "node"),
    [
        ("127.0.0.1", UNAME, "gpu-7"),
        ("10.0.0.1", UNAME, "gpu-7"),
        ("fd00::1", UNAME, "gpu-7"),
        ("n1", UNAME, "n1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", 'node_uname_info{nodename="localhost"} 1\n', "127.0.0.1"),
        ("127.0.0.1", UNAME + 'node_uname_info{nodename="gpu-8"} 1\n', "127.0.0.1"),
    ],
)
def test_a_page_names_its_node_where_only_an_address_is_known(
    asked: str, page: str, node: str
) -> None:
    read = Exporter(node=asked).says(page + "node_load1 2\n")
    assert list(column(read, "load_average")) == [(node, None)]


def test_a_name_that_comes_later_counts_from_then_on() -> None:
    exporter = Exporter(node="127.0.0.1")
    pages = [exporter.says(text) for text in ("node_load1 2\n", UNAME + "node_load1 3\n")]
    assert [list(column(page, "load_average")) for page in pages] == [
        [("127.0.0.1", None)],
        [("gpu-7", None)],
    ]
