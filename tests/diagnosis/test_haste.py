"""Errors that come too often for a passing burst are named sooner than the few."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis.synthetic import JOB
from diagnosis.test_rows_test import SOON, rows_test
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

SYMBOLS, PAUSED = "ib_symbol_errors_per_second", "pfc_tx_packets_per_second"
CORRECTED = "gpu_ecc_correctable_total"
HOSTS = tuple(EntityKey(Entity.NODE, NodeName(f"n{at}")) for at in range(12))
QUIET, NEVER = 40, 10**9
"""In slots."""


def window(second: int, metric: str, rate: float) -> Window:
    """The first host counts so many events a second; the others none."""
    values = np.zeros((len(HOSTS), 1, 1), np.float32)
    values[0] = rate
    there = np.ones(values.shape, np.bool_)
    return Window(JOB, 0, Entity.NODE, second, HOSTS, (metric,), values, there)


def seconds_to_name(metric: str, rate: float, lasting: int = 100) -> int:
    """From its onset, of a fault that lasts so long, until it is decided."""
    test, total = rows_test(), 0.0
    for second in range(QUIET + 120):
        now = rate if QUIET <= second < QUIET + lasting else 0.0
        total += now
        seen = window(second, metric, total if metric.endswith("_total") else now)
        test.weigh(seen, None, len(HOSTS), SOON)
        if test.evidence.strength.max() >= 1:
            return second + 1 - QUIET
    return NEVER


def test_a_hundred_symbol_errors_a_second_are_named_in_less_than_half_the_time_of_five() -> None:
    few, many = seconds_to_name(SYMBOLS, 5), seconds_to_name(SYMBOLS, 100)
    assert many < few / 2
    assert SOON.harmless_seconds <= many < few < NEVER


@pytest.mark.parametrize("rate", [100.0, 1e6])
def test_congestion_packets_never_hasten(rate: float) -> None:
    assert seconds_to_name(SYMBOLS, 5) <= seconds_to_name(PAUSED, rate) + 1 < NEVER


@pytest.mark.parametrize("rate", [100.0, 1e9])
def test_a_single_wild_sample_decides_nothing(rate: float) -> None:
    assert seconds_to_name(SYMBOLS, rate, lasting=1) == NEVER


def test_bits_that_are_corrected_for_20_seconds_are_nobodys_problem_and_those_that_go_on_are() -> (
    None
):
    assert seconds_to_name(CORRECTED, 2.0, lasting=20) == NEVER
    assert 20 < seconds_to_name(CORRECTED, 2.0) < 40
    assert seconds_to_name(CORRECTED, 20.0) < 20
