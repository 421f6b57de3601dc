"""Errors that come too often for a passing burst are named sooner than the few."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis.synthetic import JOB
from diagnosis.test_rows_test import SOON, rows_test
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

SYMBOLS, PAUSED = "ib_symbol_errors_per_second", "pfc_tx_packets_per_second"
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
    test = rows_test()
    for second in range(QUIET + 120):
        is_on = QUIET <= second < QUIET + lasting
        seen = window(second, metric, rate if is_on else 0.0)
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
