"""Drift of a recorded history: the same numbers as in training, read the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.drift.reference import Quantity
from paramedic.models.drift.watch import DriftConfig
from paramedic.models.pattern.panel_stream import PanelStream
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.recent import Windows
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.pattern.surprise import Surprise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from paramedic.models.drift.report import DriftReport
    from paramedic.models.drift.watch import DriftWatch
    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.pattern.panel_stream import Measured
    from paramedic.models.pattern.panels import Panel

_WARM_UP_SLOTS = 60
"""Before that a stream knows too little of what is normal in the job."""
_BATCH = 1024
"""So many windows are shown to the network at once."""
_STRIDE = 7919
"""A prime: neighbours are looked at in seconds that have nothing to do with each other."""


def drift_of(
    artifact: PatternArtifact,
    histories: Sequence[JobHistory],
    config: DriftConfig | None = None,
) -> DriftReport:
    """One look at all of these histories together. Raises ModelFitError.

    In a short history every row is looked at once.
    """
    config = config or DriftConfig()
    whole = replace(config, window_seconds=1 << 60).build(artifact)
    reader = _Reader(artifact, config.every_slots)
    for history in sorted(histories, key=lambda one: one.seconds.start):
        reader.read(history, whole)
    return whole.look()


class _Reader:
    """Looks at every row of a history every so often."""

    def __init__(self, artifact: PatternArtifact, every_slots: int) -> None:
        self._settings = PatternSettings.of(artifact.settings)
        self._surprise = Surprise(self._settings, artifact.tensors)
        self._every = every_slots

    def read(self, history: JobHistory, watch: DriftWatch) -> None:
        seconds = history.seconds
        if not seconds:
            return
        watch.saw(seconds[0], _arriving(history))
        watch.saw(seconds[-1], ())
        roles = self._settings.use_roles
        for panel in panels_of(history.windows, history.description, use_roles=roles):
            self._panel(history, panel, watch)

    def _panel(self, history: JobHistory, panel: Panel, watch: DriftWatch) -> None:
        slots, step = len(history.seconds), self._settings.block_slots
        every = min(self._every, max(1, slots - _WARM_UP_SLOTS))
        turns = np.arange(panel.shape[1]) * _STRIDE % every
        stream = PanelStream(panel, self._settings)
        cut: list[Windows] = []
        for at in range(0, slots, step):
            some = slice(at, min(at + step, slots))
            measured = stream.advance(history.windows[panel.entity], some)
            for slot in stream.replay(measured):
                due = np.flatnonzero(turns == (at + slot - _WARM_UP_SLOTS) % every)
                if at + slot >= _WARM_UP_SLOTS and len(due):
                    _count_inputs(panel, measured, slot, due, watch)
                    metrics, rows = np.indices((len(panel.metrics), len(due))).reshape(2, -1)
                    cut.append(stream.recent.windows(metrics, due[rows]))
            if sum(map(len, cut)) >= _BATCH or (cut and some.stop == slots):
                self._count_scores(panel, Windows.joined(cut), watch)
                cut = []

    def _count_scores(self, panel: Panel, windows: Windows, watch: DriftWatch) -> None:
        surprise = self._surprise.of(windows, panel.kinds[windows.metric])
        for at, metric in enumerate(panel.metrics):
            watch.count(Quantity.SCORE, (metric,), surprise[windows.metric == at][None])


def _count_inputs(
    panel: Panel, measured: Measured, slot: int, due: NDArray[np.intp], watch: DriftWatch
) -> None:
    unknown = np.isnan(measured.departure[slot][:, due])
    fastest = measured.paced[slot, 0][:, due]
    watch.count(Quantity.INPUT, panel.metrics, np.where(unknown, np.nan, fastest))


def _arriving(history: JobHistory) -> Iterable[str]:
    """Metrics of which anything was observed."""
    for window in history.windows.values():
        there = np.flatnonzero(window.observed.any(axis=(0, 2)))
        yield from (window.metrics[at] for at in there)
