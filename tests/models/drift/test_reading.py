"""A job that runs is read for drift as its history would be."""

from __future__ import annotations

import numpy as np

from models.drift.test_histories import SETTINGS, artifact, history
from paramedic.models.drift.histories import drift_of
from paramedic.models.drift.reading import WARM_UP_SLOTS, DriftReader
from paramedic.models.drift.watch import DriftConfig, DriftWatch
from paramedic.models.pattern.network import PatternNetwork
from paramedic.models.pattern.surprise import weights_of


def read(watch: DriftWatch, reader: DriftReader, slots: int, at_once: int) -> None:
    """As a live job is: what has closed since the last time."""
    windows = history(slots).windows
    for panel in reader.panels(windows, None, watch, slots):
        for at in range(0, slots, at_once):
            panel.advance(windows, slice(at, at + at_once))
        panel.settle()


def test_slot_by_slot_gives_what_the_whole_history_gives() -> None:
    model = artifact(weights_of(PatternNetwork(SETTINGS)), 0.0)
    expected = drift_of(model, [history(100)])
    for at_once in (1, 60):
        watch = DriftConfig().build(model)
        read(watch, DriftReader(model, DriftConfig().every_slots), 100, at_once)
        assert watch.look().metrics == expected.metrics
    assert [one.samples for one in expected.metrics] == [8, 8]


def test_nothing_is_counted_before_a_stream_knows_the_job() -> None:
    model = artifact(weights_of(PatternNetwork(SETTINGS)), 0.0)
    watch = DriftConfig().build(model)
    read(watch, DriftReader(model, 1), WARM_UP_SLOTS, WARM_UP_SLOTS)
    assert watch.look().metrics == ()
    read(watch, DriftReader(model, 1), WARM_UP_SLOTS + 3, 1)
    assert {one.samples for one in watch.look().metrics} == {3 * 8}
    assert np.isfinite([one.distance for one in watch.look().metrics]).all()
