"""What decided about a machine has been seen, however little of it a mean shows."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.accused import as_accused
from paramedic.diagnosis.family.naming import shipped_namer
from paramedic.diagnosis.family.signature import Departure, Extent, Signature

MEMORY, POWER = "gpu_memory_used_bytes", "gpu_power_watts"
PLAIN = Signature(Extent.ONE_GPU, {MEMORY: Departure(2.5, 0.02), POWER: Departure(-20.0, -0.3)})


def test_what_the_evidence_rests_on_departs_by_what_it_is_worth() -> None:
    found = as_accused(PLAIN, {MEMORY: 24.5}, {MEMORY: 3.0})
    assert found.departures[MEMORY].deviation == pytest.approx(7.0)
    assert found.departures[MEMORY].relative == 0.02
    assert found.departures[POWER] == PLAIN.departures[POWER]


def test_it_is_so_in_the_direction_that_was_told() -> None:
    found = as_accused(PLAIN, {MEMORY: 24.5, "gpu_sm_clock_hertz": 18.0},
                       {MEMORY: 3.0, "gpu_sm_clock_hertz": -2.0})  # fmt: skip
    assert found.departures["gpu_sm_clock_hertz"].deviation == pytest.approx(-6.0)
    assert math.isnan(found.departures["gpu_sm_clock_hertz"].relative)


def test_a_larger_departure_stays_as_it_was_measured() -> None:
    assert as_accused(PLAIN, {POWER: 24.5}, {POWER: -3.0}) == PLAIN


def test_a_departure_that_is_small_and_sure_is_named() -> None:
    unseen = Signature(Extent.ONE_GPU, {MEMORY: Departure(2.0), POWER: Departure(0.3)})
    assert shipped_namer().name(unseen).fault is Fault.UNKNOWN
    known = as_accused(unseen, {MEMORY: 30.0}, {MEMORY: 2.0})
    assert shipped_namer().name(known).fault is not Fault.UNKNOWN


def test_whoever_is_accused_in_a_job_that_stands_has_stopped() -> None:
    assert not as_accused(PLAIN, {}, {}).has_stopped
    assert as_accused(PLAIN, {}, {}, is_standing=True).has_stopped


@given(st.floats(-50, 50), st.floats(0, 500), st.sampled_from([-1.0, 1.0]))
def test_nothing_departs_by_less_than_before(measured: float, nats: float, sign: float) -> None:
    before = Signature(Extent.HOST, {MEMORY: Departure(measured)})
    after = as_accused(before, {MEMORY: nats}, {MEMORY: sign}).departures[MEMORY].deviation
    assert abs(after) >= abs(measured)
