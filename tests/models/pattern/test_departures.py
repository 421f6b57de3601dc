"""Departures from peers depend neither on units nor on how slots are handed over."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.pattern.made_up import gpu_values, history_of
from paramedic.ingest.contract import Entity
from paramedic.models.pattern.departures import Departures, DepartureStream
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.settings import PatternSettings

SETTINGS = PatternSettings()


def departures(values: NDArray[np.float64], *cuts: int) -> Departures:
    history = history_of(values)
    panel = panels_of(history.windows, history.description, use_roles=True)[0]
    stream = DepartureStream(panel, SETTINGS)
    read = panel.read(history.windows[Entity.GPU], slice(None))
    edges = [0, *cuts, len(read)]
    parts = [stream.advance(read[a:b]) for a, b in pairwise(edges) if b > a]
    return Departures(
        np.concatenate([one.departure for one in parts]),
        np.concatenate([one.activity for one in parts]),
    )


@given(st.lists(st.integers(1, 44), max_size=3, unique=True).map(sorted))
def test_slots_one_by_one_or_many_at_once_give_the_same(cuts: list[int]) -> None:
    values = gpu_values(4, 45)
    whole, cut = departures(values), departures(values, *cuts)
    np.testing.assert_array_equal(whole.departure, cut.departure)
    np.testing.assert_array_equal(whole.activity, cut.activity)


def test_healthy_rows_are_about_one_usual_difference_away() -> None:
    late = departures(gpu_values(8, 200)).departure[100:, :2]
    assert 0.7 < float(np.sqrt((late**2).mean())) < 1.4


def test_a_row_that_loses_a_fifth_stands_out_and_its_peers_do_not() -> None:
    values = gpu_values(8, 200)
    values[5, 1, 120:] *= 0.8
    late = departures(values).departure[120:, 1].mean(axis=0)
    assert late[5] < -4
    assert np.abs(np.delete(late, 5)).max() < 1


def test_what_befalls_all_alike_is_no_departure() -> None:
    values = gpu_values(8, 200)
    values[:, :, 120:150] *= 0.3
    assert np.abs(departures(values).departure[120:150, :2].mean(axis=0)).max() < 1.5


def test_a_steady_difference_is_known_after_a_while() -> None:
    values = gpu_values(8, 300)
    values[5, 0] *= 1.05
    found = departures(values).departure[:, 0, 5]
    assert abs(found[200:].mean()) < 1


def test_a_fault_that_stays_is_not_learnt_as_usual() -> None:
    values = gpu_values(8, 500)
    values[5, 1, 200:] *= 0.7
    assert departures(values).departure[400:, 1, 5].mean() < -4


def test_the_unit_does_not_matter() -> None:
    values = gpu_values(8, 120)
    other = departures(values * 1000.0).departure[:, :2]
    np.testing.assert_allclose(departures(values).departure[:, :2], other, rtol=1e-3, atol=1e-3)


def test_nothing_is_said_of_what_was_not_observed() -> None:
    values = gpu_values(8, 100)
    values[3, 0, 60:] = np.nan
    found = departures(values).departure
    assert np.isnan(found[60:, 0, 3]).all()
    assert not np.isnan(found[60:, 1, 3]).any()


def test_a_row_whose_peers_are_there_is_missed() -> None:
    values = gpu_values(8, 150)
    values[3, :, 100:] = np.nan
    found = departures(values).departure[140, 2]
    assert found[3] > 3
    assert np.abs(np.delete(found, 3)).max() == 0


def test_activity_tells_how_busy_the_job_is() -> None:
    values = gpu_values(8, 200)
    values[:, :, 150:] *= 0.2
    activity = departures(values).activity[:, 0]
    assert 0.7 < activity[149] < 1.3
    assert activity[151] < 0.4


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e15, 3e38])
def test_no_size_of_values_is_too_much_for_single_numbers(size: float) -> None:
    values = gpu_values(4, 60)
    values[:, 0] = size
    values[3, 0, 40:] = -size
    found = departures(values).departure
    assert np.isfinite(found).all()
    assert np.abs(found[:40, 0]).max() == 0


def test_what_is_large_keeps_its_small_differences() -> None:
    history = history_of(gpu_values(4, 60))
    window = history.windows[Entity.GPU]
    values = window.values.astype(np.float64)
    panel = panels_of(history.windows, history.description, use_roles=True)[0]
    read = panel.read(replace(window, values=values + 1e12), slice(None))
    found = DepartureStream(panel, SETTINGS).advance(read).departure
    assert np.abs(found[20:, 0]).max() > 0
