"""Whether what is told of a departure is true of the numbers beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from diagnosis.crowd import POWER, TENSOR, Crowd, Fault, name
from paramedic.diagnosis.contract import Evidence
from paramedic.diagnosis.contract import Fault as Named
from paramedic.diagnosis.departing import finding_of_departure, is_higher
from paramedic.diagnosis.departure import Departure
from paramedic.diagnosis.finding import Finding, moment
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.diagnosis.telling_apart import sets_apart
from paramedic.ingest.contract import Entity, EntityKey, Window


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


REPLAYS, CLOCK = "gpu_pcie_replays_per_second", "gpu_sm_clock_hertz"
CPU = "cpu_utilization_ratio"


def told_of(
    weights: Mapping[str, float],
    deviations: Mapping[str, float],
    *faults: Fault,
    is_standing: bool = False,
    seen_as: Callable[[Window], Window] = lambda window: window,
) -> Finding:
    """Of GPU 1 of the third of four hosts, accused for ten seconds; the loudest comes first."""
    levels = {
        Entity.GPU: {TENSOR: 0.42, POWER: 520.0, CLOCK: 1.7e9, REPLAYS: 0.001},
        Entity.NODE: {CPU: 0.18},
    }
    crowd = Crowd(
        nodes=4, gpus=2, seconds=30, noise=0.001, individuality=0.0, steps=(), levels=levels,
        faults=faults,
    )  # fmt: skip
    *_, windows = crowd.windows()
    windows = {entity: seen_as(window) for entity, window in windows.items()}
    row, last = EntityKey(Entity.GPU, name(2), 1), windows[Entity.GPU].last_second
    told_by = {metric: deviations[metric] for metric in weights}
    departure = Departure(
        row, 1, (row,), last - 9, last, 60.0, 20.0, told_by, tuple(weights), weights
    )
    settings = DepartureSettings()
    return finding_of_departure(departure, windows, 0, {}, settings, is_standing=is_standing)


def _alone(window: Window) -> Window:
    rows = [at for at, row in enumerate(window.rows) if row.node == name(2)]
    values, observed = window.values[rows], window.observed[rows]
    names = tuple(window.rows[at] for at in rows)
    return replace(window, rows=names, values=values, observed=observed)


def test_in_a_job_of_one_machine_the_peers_are_its_other_cards() -> None:
    found = told_of({TENSOR: 1.0}, {TENSOR: -9.0}, SLOW, seen_as=_alone)
    assert "lost 20 % tensor activity against its 1 peer (33.6 % against 42 %" in found.summary
    assert found.evidence[0].peers == pytest.approx(0.42, abs=0.01)


def _only_it_tells(window: Window) -> Window:
    is_own = np.array([row.node == name(2) for row in window.rows])
    return replace(window, observed=window.observed & is_own[:, None, None])


def test_where_nobody_else_tells_of_it_no_number_is_made_up() -> None:
    found = told_of({POWER: 1.0}, {POWER: 9.0}, seen_as=_only_it_tells)
    assert "shows far more power against its 7 peers (520 W, for 10 s)" in found.summary


REPLAYING = Fault(2, 5e4, 1, REPLAYS, first=20)
SLOW = Fault(2, 0.8, 1, first=20)


def test_the_headline_is_what_says_most_even_where_its_peers_show_none_of_it() -> None:
    found = told_of({REPLAYS: 0.5, TENSOR: 0.3}, {REPLAYS: 20.0, TENSOR: -9.0}, REPLAYING, SLOW)
    assert "shows far more PCIe replays" in found.summary
    assert [one.metric for one in found.evidence] == [REPLAYS, TENSOR]


def test_of_the_work_which_many_metrics_show_the_largest_loss_leads() -> None:
    weights, far = {POWER: 0.4, TENSOR: 0.3, CLOCK: 0.1}, {POWER: 9.0, TENSOR: -9.0, CLOCK: -9.0}
    warmer = Fault(2, 1.3, 1, POWER, first=20)
    found = told_of(weights, far, SLOW, warmer, Fault(2, 0.5, 1, CLOCK, first=20))
    assert found.summary.startswith("GPU 1 of host-002 lost 20 % tensor activity")


def test_what_is_much_quieter_than_the_loudest_does_not_lead_however_much_was_lost() -> None:
    warmer = Fault(2, 1.3, 1, POWER, first=20)
    found = told_of({POWER: 0.8, TENSOR: 0.2}, {POWER: 9.0, TENSOR: -9.0}, SLOW, warmer)
    assert "shows 30 % more power" in found.summary


def test_what_has_added_up_is_told_although_it_rests_in_the_slot_that_decided() -> None:
    found = told_of({REPLAYS: 0.6, TENSOR: 0.3}, {REPLAYS: 0.0, TENSOR: -4.0}, REPLAYING, SLOW)
    lead = found.evidence[0]
    assert lead.metric == REPLAYS
    assert lead.deviation == pytest.approx(math.sqrt(2 * 0.6 * 60), abs=0.01)


def test_what_the_fault_is_known_by_is_told_of_the_host_whose_card_is_accused() -> None:
    busy = Fault(2, 4.0, None, CPU, Entity.NODE, first=20)
    found = told_of({TENSOR: 1.0}, {TENSOR: -9.0}, SLOW, busy)
    assert found.summary.startswith("GPU 1 of host-002 lost 20 % tensor activity")
    assert found.fault in (Named.CUDA_EXECUTION_ERROR, Named.HOST_CONTENTION)
    assert [one.metric for one in found.evidence] == [TENSOR, CPU]


def test_where_nothing_of_the_card_sets_it_apart_its_host_speaks() -> None:
    busy = Fault(2, 4.0, None, CPU, Entity.NODE, first=20)
    found = told_of({TENSOR: 1.0}, {TENSOR: -9.0}, busy)
    assert found.summary.startswith("the host host-002 shows far more CPU use against its 3 peers")


def test_of_a_job_that_stands_it_is_said_that_it_does() -> None:
    found = told_of({TENSOR: 1.0}, {TENSOR: -9.0}, Fault(2, 0.1, 1, first=20), is_standing=True)
    assert found.summary.endswith(" s), and the whole job stands still")


@pytest.mark.parametrize(
    ("metric", "value", "peers", "deviation", "is_told"),
    [
        ("gpu_tensor_active_ratio", 0.21, 0.36, -9.8, True),
        ("gpu_sm_active_ratio", 0.76, 0.75, 3.8, False),
        ("gpu_fp16_active_ratio", 0.0163, 0.0168, 13.8, False),
        ("rdma_rx_bytes_per_second", 4.56e9, 4.60e9, -9.4, False),
        ("gpu_sm_clock_hertz", 1.9e9, 1.98e9, -20.0, True),
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
