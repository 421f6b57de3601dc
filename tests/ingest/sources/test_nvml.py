"""NVML by script: values in dcgm-exporter's names and units, GPUs that lack or lose something."""

from __future__ import annotations

import threading

import pytest

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.nvml.library import MissingExtraError, NvmlLibrary, load_nvml
from paramedic.ingest.sources.nvml.source import NvmlSource
from paramedic.ingest.sources.port import RawPage
from servers.fake_nvml import FakeNvml
from servers.telemetry_sink import KeepingSink, running

NODE = NodeName("node-1")


@pytest.fixture
def nvml() -> FakeNvml:
    return FakeNvml(gpus=2)


def page_of(nvml: FakeNvml) -> RawPage:
    with running(NvmlSource(NODE, lambda: 100.99, load=lambda: nvml)) as run:
        assert run.sink.wait_for(lambda: bool(run.sink.pages))
    return run.sink.pages[0]


def values(page: RawPage, gpu: str) -> dict[str, float]:
    pairs = zip(page.series, page.values, strict=True)
    return {series.name: value for series, value in pairs if series.labels["gpu"] == gpu}


def test_values_stand_under_the_names_and_in_the_units_of_dcgm_exporter(nvml: FakeNvml) -> None:
    assert values(page_of(nvml), "1") == {
        "DCGM_FI_DEV_GPU_UTIL": 97,
        "DCGM_FI_DEV_MEM_COPY_UTIL": 41,
        "DCGM_FI_DEV_FB_USED": 64,
        "DCGM_FI_DEV_FB_FREE": 16,
        "DCGM_FI_DEV_POWER_USAGE": 412.5,
        "DCGM_FI_DEV_GPU_TEMP": 61,
        "DCGM_FI_DEV_MEMORY_TEMP": 74,
        "DCGM_FI_DEV_SM_CLOCK": 1980,
        "DCGM_FI_DEV_MEM_CLOCK": 2619,
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": 55491669881,
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": 3,
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 1,
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": 2,
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 1,
        "DCGM_FI_DEV_ROW_REMAP_PENDING": 1,
        "DCGM_FI_DEV_ROW_REMAP_FAILURE": 0,
        "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": 4,
    }


def test_labels_are_those_of_dcgm_exporter(nvml: FakeNvml) -> None:
    page = page_of(nvml)
    assert page.series[0].labels == {
        "gpu": "0",
        "UUID": "GPU-0",
        "pci_bus_id": "00000000:00:00.0",
        "device": "nvidia0",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": "node-1",
    }
    assert (page.default_node, page.is_whole) == (NODE, True)


def test_what_a_gpu_does_not_have_is_left_out(nvml: FakeNvml) -> None:
    nvml.unsupported = {"nvmlDeviceGetPcieReplayCounter", "memory_temperature"}
    names = values(page_of(nvml), "0").keys()
    assert not {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_MEMORY_TEMP"} & names
    assert "DCGM_FI_DEV_GPU_TEMP" in names


def test_a_gpu_that_fell_off_the_bus_is_not_on_the_page(nvml: FakeNvml) -> None:
    nvml.lost = {0}
    page = page_of(nvml)
    assert {series.labels["gpu"] for series in page.series} == {"1"}


def test_a_host_whose_gpus_all_fail_is_told_and_the_library_let_go_of(nvml: FakeNvml) -> None:
    nvml.lost = {0, 1}
    with running(NvmlSource(NODE, lambda: 100.99, load=lambda: nvml)) as run:
        assert run.sink.wait_for(lambda: bool(run.sink.silences))
    assert run.sink.pages == []
    assert nvml.is_started == 0


def test_series_stay_the_same_objects(nvml: FakeNvml) -> None:
    times = iter(range(100, 10_000))
    source = NvmlSource(NODE, lambda: next(times) + 0.999, load=lambda: nvml)
    with running(source) as run:
        assert run.sink.wait_for(lambda: len(run.sink.pages) >= 2)
    assert run.sink.pages[0].series == run.sink.pages[1].series


def test_a_missing_package_names_the_extra() -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name)

    source = NvmlSource(NODE, lambda: 0.0, load=lambda: load_nvml(absent))
    with pytest.raises(MissingExtraError, match=r"paramedic\[nvml\]"):
        source.run(KeepingSink(), threading.Event())


def test_the_real_library_has_every_function_that_is_used() -> None:
    real = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    used = [name for name in vars(NvmlLibrary) if name.startswith(("nvml", "NVML"))]
    used += list(NvmlLibrary.__annotations__)
    assert [name for name in used if not hasattr(real, name)] == []
