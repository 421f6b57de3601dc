"""What a name rests on, as far as it is seen."""

from __future__ import annotations

import pytest

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.grounds import grounds_of
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Departure, Extent, Signature


def departed(**deviations: float) -> Signature:
    return Signature(Extent.ONE_GPU, {m: Departure(d) for m, d in deviations.items()})


SLOWER = departed(gpu_utilization_ratio=-30.0, gpu_dram_active_ratio=-9.0, compute_seconds=9.0)


@pytest.mark.parametrize(
    "fault",
    [
        one
        for one in shipped_knowledge().faults
        if one not in (Fault.STRAGGLER, Fault.UNKNOWN, Fault.ECC_ERROR)
    ],
)
def test_slower_work_alone_is_no_ground_for_a_broken_part(fault: Fault) -> None:
    assert not grounds_of(fault, SLOWER)


def test_the_most_telling_symptom_comes_first_and_by_its_farthest_metric() -> None:
    found = grounds_of(
        Fault.AOC_ERROR,
        departed(
            ib_link_downed_total=8.0,
            ib_symbol_errors_per_second=60.0,
            gpu_utilization_ratio=-40.0,
        ),
    )
    assert found.metrics == ("ib_link_downed_total", "ib_symbol_errors_per_second")


def test_what_moves_the_other_way_is_no_ground() -> None:
    assert not grounds_of(Fault.STORAGE_ERROR, departed(disk_read_latency_seconds=-30.0))
    assert grounds_of(Fault.STORAGE_ERROR, departed(disk_write_latency_seconds=30.0))


def test_a_counter_that_grew_is_one_however_little_it_departs() -> None:
    grown = Signature(Extent.ONE_GPU, {}, grown=frozenset({"gpu_ecc_uncorrectable_total"}))
    assert grounds_of(Fault.ECC_ERROR, grown).metrics == ("gpu_ecc_uncorrectable_total",)


def test_absence_and_the_drivers_word_are_signs_and_no_metrics() -> None:
    gone = Signature(Extent.HOST, {}, cards_missing=True, xids=frozenset({79}))
    found = grounds_of(Fault.GPU_CARD_DROP, gone)
    assert found.metrics == ()
    assert found.signs == {"cards_missing", "told_gpu_card_drop"}


def test_amounts_that_no_source_tells_are_told_by_what_they_come_of() -> None:
    warm = departed(gpu_temperature_beyond_power_celsius=9.0, gpu_power_watts=-6.0)
    assert grounds_of(Fault.THERMAL_THROTTLE, warm).metrics == ("gpu_temperature_celsius",)
