"""Names and labels tell which exporter speaks, and which release it may be."""

from __future__ import annotations

import pytest

from ingest.doctor.looked import catalogue
from paramedic.ingest.doctor.exporters import Maker, Speaker, speakers_of
from paramedic.ingest.sources.port import Series


def speakers(*series: Series) -> tuple[Speaker, ...]:
    return speakers_of(series, catalogue())


@pytest.mark.parametrize(
    ("name", "labels", "release"),
    [
        ("dcgm_gpu_temp", {"uuid": "a"}, "1.x or --use-old-namespace"),
        ("DCGM_FI_DEV_GPU_TEMP", {"Hostname": "n"}, "2.x to 3.4"),
        ("DCGM_FI_DEV_GPU_TEMP", {"Hostname": "n", "pci_bus_id": "0"}, "3.5 to 4.8.2"),
        ("DCGM_FI_DEV_GPU_TEMP", {"hostname": "n"}, "4.8.3 or 4.8.4"),
        ("DCGM_FI_DEV_GPU_TEMP", {}, "classic names"),
        ("DCGM_FI_DEV_GPU_TEMP_CELSIUS", {"hostname": "n"}, "4.9 or newer"),
    ],
)
def test_the_release_of_dcgm_exporter_is_told_by_names_and_labels(
    name: str, labels: dict[str, str], release: str
) -> None:
    (speaker,) = speakers(Series(name, labels))
    assert (speaker.maker, speaker.release) == (Maker.DCGM, release)
    assert str(speaker) == f"dcgm-exporter ({release})"


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("gpu_gfx_activity", Maker.AMD),
        ("amd_gpu_gfx_activity", Maker.AMD),
        ("nvidia_smi_utilization_gpu_ratio", Maker.NVIDIA_SMI),
        ("node_load1", Maker.NODE),
        ("nccl_bus_bandwidth_gbs", Maker.NCCL),
        ("gpu_power_watts", Maker.OTHER),
    ],
)
def test_every_maker_is_known(name: str, maker: Maker) -> None:
    assert [one.maker for one in speakers(Series(name, {}))] == [maker]


def test_node_exporter_tells_its_own_release() -> None:
    build = Series("node_exporter_build_info", {"version": "1.9.1"})
    assert [str(one) for one in speakers(Series("node_load1", {}), build)] == [
        "node_exporter (1.9.1)"
    ]


def test_a_name_that_4_9_kept_is_no_second_dialect() -> None:
    (speaker,) = speakers(
        Series("DCGM_FI_DEV_GPU_TEMP_CELSIUS", {}), Series("DCGM_FI_PROF_NVLINK_TX_BYTES", {})
    )
    assert (speaker.dialect, speaker.is_mixed) == ("dcgm_4_9", False)


@pytest.mark.parametrize("older", ["DCGM_FI_DEV_GPU_TEMP", "dcgm_gpu_temp"])
def test_two_spellings_at_one_place_are_a_mixture(older: str) -> None:
    (speaker,) = speakers(Series("DCGM_FI_DEV_SM_CLOCK_HERTZ", {}), Series(older, {}))
    assert speaker.is_mixed


def test_scrape_jobs_are_kept_apart_and_unknown_names_say_nothing() -> None:
    told = speakers(
        Series("node_load1", {"job": "node"}),
        Series("DCGM_FI_DEV_GPU_TEMP", {"job": "dcgm"}),
        Series("go_goroutines", {"job": "node"}),
    )
    assert [(one.maker, one.scrape_job) for one in told] == [
        (Maker.DCGM, "dcgm"),
        (Maker.NODE, "node"),
    ]
