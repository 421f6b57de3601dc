"""The dcgm-exporter's page, against lines as the true one prints them."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ingest.synthetic.clusters import configured
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.exposition.dialects import Dialect, fields_of
from paramedic.ingest.synthetic.exposition.gpu_page import Attribution, GpuPages
from paramedic.ingest.synthetic.reading import Second, Spike

CONFIG = configured(nodes=2, gpus=2)
READINGS = {
    "gpu_sm_clock_hertz": 1.755e9,
    "gpu_power_watts": 113.611,
    "gpu_utilization_ratio": 0.97,
    "gpu_memory_used_bytes": 61_000 * 2.0**20,
    "gpu_tensor_active_ratio": 0.36,
    "gpu_pcie_tx_bytes_per_second": 421894.0,
}


@cache
def cluster() -> SyntheticCluster:
    return SyntheticCluster(CONFIG)


def second() -> Second:
    """A second whose readings are known."""
    lived = cluster().second(4)
    gpu = {**lived.gpu, **{name: np.full((2, 2), value) for name, value in READINGS.items()}}
    energy = {**lived.counters.gpu, "gpu_energy_joules_total": np.full((2, 2), 55491669.881)}
    return replace(lived, gpu=gpu, counters=replace(lived.counters, gpu=energy))


def page(
    of: Second, dialect: Dialect, attribution: Attribution = Attribution.NONE, node: int = 1
) -> str:
    return GpuPages(CONFIG, cluster().layout, dialect, attribution).render(of, node)


def labels(host: str, uuid: str, tail: str) -> str:
    value = cluster().layout.uuids[1][1]
    return (
        f'gpu="1",{uuid}="{value}",pci_bus_id="00000000:22:00.0",device="nvidia1",'
        f'modelName="NVIDIA H100 80GB HBM3",{host}="node-0002",{tail}'
    )


CLASSIC = {
    "DCGM_FI_DEV_SM_CLOCK": "1755",
    "DCGM_FI_DEV_POWER_USAGE": "113.611000",
    "DCGM_FI_DEV_GPU_UTIL": "97",
    "DCGM_FI_DEV_FB_USED": "61000",
    "DCGM_FI_DEV_FB_FREE": "20559",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "0.360000",
    "DCGM_FI_PROF_PCIE_TX_BYTES": "421894",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": "55491669881",
    "DCGM_FI_DEV_XID_ERRORS": "0",
}
SI = {
    "DCGM_FI_DEV_SM_CLOCK_HERTZ": "1755000000",
    "DCGM_FI_DEV_BOARD_POWER_WATTS": "113.611000",
    "DCGM_FI_DEV_GPU_UTIL_RATIO": "0.970000",
    "DCGM_FI_DEV_FB_USED_BYTES": "63963136000",
    "DCGM_FI_PROF_TENSOR_UTIL_RATIO": "0.360000",
    "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL": "55491669.881000",
}
DRIVER = 'DCGM_FI_DRIVER_VERSION="580.105.08"'
SYSTEM_DRIVER = 'DCGM_FI_SYSTEM_DRIVER_VERSION="580.105.08"'


@pytest.mark.parametrize(
    ("dialect", "expected", "told"),
    [
        (Dialect.CLASSIC, CLASSIC, labels("Hostname", "UUID", DRIVER)),
        (Dialect.CLASSIC_LOWER, CLASSIC, labels("hostname", "UUID", DRIVER)),
        (Dialect.SI, SI, labels("hostname", "UUID", SYSTEM_DRIVER)),
    ],
)
def test_each_dialect_has_its_names_units_and_labels(
    dialect: Dialect, expected: dict[str, str], told: str
) -> None:
    lines = page(second(), dialect).splitlines()
    for name, value in expected.items():
        assert f"{name}{{{told}}} {value}" in lines


def test_the_old_dialect_is_in_lower_case() -> None:
    text = page(second(), Dialect.OLD, Attribution.POD)
    uuid = cluster().layout.uuids[1][0]
    line = (
        f'dcgm_gpu_utilization{{gpu="0",uuid="{uuid}",device="nvidia0",'
        'modelName="NVIDIA H100 80GB HBM3",Hostname="node-0002",container_name="pytorch",'
        'pod_namespace="training",pod_name="synthetic-worker-1"} 97'
    )
    assert line in text.splitlines()
    assert "DCGM_FI" not in text


@pytest.mark.parametrize(
    ("attribution", "tail"),
    [
        (Attribution.HPC_JOB, 'hpc_job="synthetic"'),
        (Attribution.POD, 'container="pytorch",namespace="training",pod="synthetic-worker-1"'),
        (Attribution.NONE, DRIVER),
    ],
)
def test_the_job_is_told_by_the_labels_that_are_wanted(attribution: Attribution, tail: str) -> None:
    samples = [
        line for line in page(second(), Dialect.CLASSIC, attribution).splitlines()
        if not line.startswith("#")
    ]  # fmt: skip
    assert all(f",{tail}}} " in line for line in samples)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_every_family_has_its_head_and_a_line_for_each_card(dialect: Dialect) -> None:
    lines = page(second(), dialect).splitlines()
    for field in fields_of(dialect):
        kind = "counter" if field.is_counter else "gauge"
        at = lines.index(f"# TYPE {field.name} {kind}")
        assert lines[at - 1].startswith(f"# HELP {field.name} ")
        assert lines[at + 1].startswith(f'{field.name}{{gpu="0",')
        assert lines[at + 2].startswith(f'{field.name}{{gpu="1",')
    assert len(lines) == 4 * len(fields_of(dialect))


def test_an_impossible_value_is_printed_as_it_is() -> None:
    lived = second()
    celsius = lived.gpu["gpu_temperature_celsius"].copy()
    celsius[1, 0] = np.nan
    spikes = (Spike("gpu_temperature_celsius", 1, 0, 200_000.0),)
    odd = replace(lived, gpu={**lived.gpu, "gpu_temperature_celsius": celsius}, spikes=spikes)
    found = re.findall(r'DCGM_FI_DEV_GPU_TEMP\{gpu="(.)".*\} (\d+)', page(odd, Dialect.CLASSIC))
    assert found[0] == ("0", "200000")
    assert int(found[1][1]) < 100
    assert page(odd, Dialect.CLASSIC, node=0) == page(lived, Dialect.CLASSIC, node=0)


def test_a_card_that_is_gone_has_no_line() -> None:
    lived = second()
    gone = replace(lived, is_present=np.array([[True, True], [False, True]]))
    text = page(gone, Dialect.CLASSIC)
    assert 'gpu="0"' not in text
    assert text.count('gpu="1"') == len(fields_of(Dialect.CLASSIC))


def test_line_by_line_and_by_template_the_page_is_the_same() -> None:
    lived = second()
    pages = GpuPages(CONFIG, cluster().layout, Dialect.CLASSIC, Attribution.POD)
    values = pages._scaled(lived)[1]
    assert pages._patched(lived, 1, values) == pages.render(lived, 1)
