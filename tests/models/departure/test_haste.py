"""By how much less patience events need that no passing burst brings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from models.departure.crowd import named
from paramedic.models.departure.model import DepartureConfig

SYMBOLS, PAUSED, CPU = (
    "ib_symbol_errors_per_second", "pfc_tx_packets_per_second", "cpu_utilization_ratio",
)  # fmt: skip
RATES = (0.0, 2.0, 4.9, 40.0, 100.0, np.nan)


def haste_of(metrics: tuple[str, ...], *values: tuple[float, ...]) -> NDArray[np.float64]:
    seen = np.array(values)
    model = DepartureConfig().build()
    slot = model.score(seen, named(seen.shape[1]), metrics, None, 1)
    return np.broadcast_to(slot.haste, seen.shape)


def test_events_need_as_much_less_patience_as_they_come_oftener_than_a_burst() -> None:
    found = haste_of((SYMBOLS,), RATES)[0]
    assert found.tolist() == pytest.approx([1, 1, 1, 12 / 40, 12 / 100, 1])


def test_what_comes_often_on_one_row_hastens_nothing_else() -> None:
    found = haste_of((CPU, SYMBOLS, PAUSED), (0.2,) * 6, (1000.0, 0, 0, 0, 0, 0), (1e6,) * 6)
    assert found[1, 0] == pytest.approx(12 / 1000)
    assert np.delete(found.ravel(), 6).tolist() == [1.0] * 17


def test_of_running_totals_what_they_grow_by_counts_and_not_what_they_have_come_to() -> None:
    model, rows, total, found = DepartureConfig().build(), named(4), 1e6, []
    for grown in (0.0, 2.0, 50.0, 0.0):
        total += grown
        seen = np.array([[total, 0.0, 0.0, 0.0]])
        slot = model.score(seen, rows, ("gpu_ecc_correctable_total",), None, 1)
        found.append(np.broadcast_to(slot.haste, seen.shape)[0, 0])
    assert found[1:] == pytest.approx([1, 4 / 50, 1])
