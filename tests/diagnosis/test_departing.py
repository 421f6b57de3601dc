"""Whether what is told of a departure is true of the numbers beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.crowd import TENSOR, Crowd, Fault, name
from paramedic.diagnosis.contract import Evidence
from paramedic.diagnosis.departing import finding_of_departure, is_higher
from paramedic.diagnosis.departure import Departure
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.diagnosis.telling_apart import sets_apart
from paramedic.ingest.contract import Entity, EntityKey


@pytest.mark.parametrize(
    ("value", "peers", "deviation", "higher"),
    [
        (91.8, 0.1, -3.0, True),
        (311.0, 345.0, 15.9, False),
        (5.0, 5.0, -1.0, False),
        (None, 5.0, 1.0, True),
        (5.0, None, -1.0, False),
    ],
)
def test_what_is_higher_is_told_by_the_numbers_and_without_them_by_the_deviation(
    value: float | None, peers: float | None, deviation: float, *, higher: bool
) -> None:
    evidence = Evidence("gpu_power_watts", value, peers, deviation, moment(0))
    assert is_higher(evidence) is higher


@pytest.mark.parametrize(
    ("factor", "lost", "said"),
    [
        (0.5, 0.0, "GPU 1 of host-002 lost 50 % tensor activity against its 7 peers ("),
        (0.5, 0.33, " s), and the whole job has worked 33 % less since then"),
        (
            1.0,
            0.33,
            "works at other times than its 7 peers, and the whole job has worked 33 % less",
        ),
    ],
)
def test_it_is_told_what_the_whole_job_has_lost_and_what_sets_nobody_apart_is_not(
    factor: float, lost: float, said: str
) -> None:
    crowd = Crowd(nodes=4, gpus=2, seconds=30, noise=0.001, individuality=0.0, steps=())
    *_, windows = replace(crowd, faults=(Fault(2, factor, 1, first=0),)).windows()
    row = EntityKey(Entity.GPU, name(2), 1)
    last = windows[Entity.GPU].last_second
    departure = Departure(
        row, 1, (row,), last - 9, last, 30.0, 20.0, {TENSOR: -9.0}, (TENSOR,), {TENSOR: 1.0}, lost
    )
    finding = finding_of_departure(departure, windows, 0, {}, DepartureSettings())
    assert said in finding.summary


@pytest.mark.parametrize(
    ("metric", "value", "peers", "deviation", "is_told"),
    [
        ("gpu_tensor_active_ratio", 0.21, 0.36, -9.8, True),
        ("gpu_sm_active_ratio", 0.76, 0.75, 3.8, False),
        ("gpu_fp16_active_ratio", 0.0163, 0.0168, 13.8, False),
        ("rdma_rx_bytes_per_second", 4.56e9, 4.60e9, -9.4, False),
        ("gpu_sm_clock_hertz", 1.93e9, 1.98e9, -20.0, True),
        ("gpu_sm_clock_hertz", 1.97e9, 1.98e9, -20.0, False),
        ("gpu_memory_temperature_celsius", 74.7, 72.7, 3.4, True),
        ("gpu_pcie_replays_per_second", 0.0, 0.0, 4.0, False),
        ("tcp_retransmits_per_second", 0.0, 1.0, -6.7, False),
        ("cpu_utilization_ratio", 0.02, 0.3, -9.0, True),
        ("gpu_power_watts", None, 400.0, -5.0, True),
        ("gpu_power_watts", 0.0, 0.0, 5.0, False),
    ],
)
def test_only_what_really_sets_a_machine_apart_is_told(
    metric: str, value: float | None, peers: float, deviation: float, *, is_told: bool
) -> None:
    assert sets_apart(Evidence(metric, value, peers, deviation, moment(0))) is is_told
