"""Totals, counts and absence as numbers that can be compared."""

from __future__ import annotations

import numpy as np

from paramedic.models.pattern.reading import Reader


def test_a_total_counts_by_what_it_grew_and_a_restart_is_no_growth() -> None:
    reader = Reader(("gpu_ecc_correctable_total", "absence_of:gpu"), 1)
    totals = np.array([5.0, 5.0, 8.0, np.nan, 9.0, 2.0])[:, None, None]
    grown = np.expm1(reader.read(totals)[:, 0, 0])
    np.testing.assert_allclose(grown, [np.nan, 0, 3, np.nan, 1, 0], atol=1e-12)


def test_levels_are_read_as_they_are() -> None:
    values = np.array([[[300.0, -4.0]]])
    read = Reader(("gpu_power_watts", "absence_of:gpu"), 2).read(values)
    assert read[0, 0].tolist() == [300.0, -4.0]


def test_absence_grows_while_a_row_stays_away_and_ends_when_it_is_back() -> None:
    reader = Reader(("gpu_power_watts", "absence_of:gpu"), 1)
    values = np.array([1.0, np.nan, np.nan, 1.0])[:, None, None]
    away = np.expm1(reader.read(values)[:, 1, 0])
    np.testing.assert_allclose(away, [0, 1, 2, 0], atol=1e-12)


def test_who_has_never_come_is_not_missed() -> None:
    reader = Reader(("gpu_power_watts", "absence_of:gpu"), 1)
    assert np.isnan(reader.read(np.full((3, 1, 1), np.nan))).all()
