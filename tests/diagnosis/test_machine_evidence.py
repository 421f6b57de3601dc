"""What is told of a machine beside what it is accused by: what its fault is known by."""

from __future__ import annotations

import numpy as np

from diagnosis.crowd import Crowd, Fault, name
from paramedic.diagnosis.contract import Evidence
from paramedic.diagnosis.contract import Fault as Named
from paramedic.diagnosis.family.measuring import Stretch
from paramedic.diagnosis.family.signature import Departure, Extent, Signature
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.machine_evidence import evidence_of
from paramedic.ingest.contract import Entity, Window

LEVELS = {
    Entity.GPU: {"gpu_power_watts": 500.0},
    Entity.NODE: {"disk_read_latency_seconds": 0.001, "cpu_utilization_ratio": 0.2},
}
SLOW_DISK = Fault(2, 9.0, metric="disk_read_latency_seconds", entity=Entity.NODE, first=20)
Windows = dict[Entity, Window]


def windows(*faults: Fault) -> tuple[Windows, Stretch]:
    crowd = Crowd(nodes=4, gpus=2, seconds=40, noise=0.001, steps=(), levels=LEVELS, faults=faults)
    *_, last = crowd.windows(held=40)
    until = last[Entity.NODE].last_second
    return last, Stretch(until - 19, until)


def told(
    signature: Signature, fault: Named, *faults: Fault, gpu: int | None = None
) -> list[Evidence]:
    shown, stretch = windows(*faults)
    return list(evidence_of(fault, signature, shown, name(2), stretch, gpu))


def test_the_disk_of_a_host_whose_cards_are_accused_is_told_with_its_peers() -> None:
    slow = Signature(Extent.SEVERAL_GPUS, {"disk_read_latency_seconds": Departure(40.0)})
    (one,) = told(slow, Named.STORAGE_ERROR, SLOW_DISK)
    assert one.metric == "disk_read_latency_seconds"
    assert one.value is not None
    assert one.peers is not None
    assert 8.5 < one.value / one.peers < 9.5
    assert one.deviation == 40.0


def test_a_number_that_sets_nobody_apart_is_not_told() -> None:
    slow = Signature(Extent.SEVERAL_GPUS, {"cpu_utilization_ratio": Departure(40.0)})
    assert told(slow, Named.HOST_CONTENTION) == []


def test_what_says_nothing_of_the_fault_is_not_told() -> None:
    slow = Signature(Extent.SEVERAL_GPUS, {"disk_read_latency_seconds": Departure(40.0)})
    assert told(slow, Named.THERMAL_THROTTLE, SLOW_DISK) == []


def test_the_drivers_codes_of_this_fault_and_reasons_for_a_low_clock_are_told_as_they_are() -> None:
    signature = Signature(Extent.ONE_GPU, {}, xids=frozenset({13, 94}), slow_reasons=0x20)
    code, *_ = told(signature, Named.ECC_ERROR)
    assert (code.metric, code.value, code.peers) == ("xid", 94.0, None)
    (reason,) = told(signature, Named.THERMAL_THROTTLE)
    assert (reason.metric, reason.value, reason.peers) == ("gpu_throttle_reasons", 32.0, 0.0)


def test_of_a_card_that_is_heard_now_and_then_the_share_is_told_that_is_heard() -> None:
    shown, stretch = windows()
    cards = shown[Entity.GPU]
    row = [at for at, one in enumerate(cards.rows) if (one.node, one.index) == (name(2), 1)]
    cards.observed[row, :, -10:] = False
    cards.values[row, :, -10:] = np.nan
    unsteady = Signature(Extent.ONE_GPU, {}, cards_unsteady=True)
    (own,) = evidence_of(Named.GPU_CARD_DROP, unsteady, shown, name(2), stretch, 1)
    assert (own.metric, own.peers, own.since) == ("telemetry", 1.0, moment(stretch.onset))
    assert own.value is not None
    assert 0.6 < own.value < 0.7
    (sister,) = evidence_of(Named.GPU_CARD_DROP, unsteady, shown, name(2), stretch, 0)
    assert sister.value == 1.0
