"""Reads the numbers that drift compares, slot after slot: the same ones as training counted.

Every row is looked at once in so many slots, neighbours in seconds that have nothing to do with
each other. What is counted goes to a `DriftWatch`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.drift.reference import Quantity
from paramedic.models.pattern.panel_stream import PanelStream
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.recent import Windows
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.pattern.surprise import Surprise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from paramedic.ingest.contract import Entity, Window
    from paramedic.ingest.recordings.description import JobDescription
    from paramedic.models.drift.watch import DriftWatch
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.pattern.panel_stream import Measured
    from paramedic.models.pattern.panels import Panel

WARM_UP_SLOTS = 60
"""Before that a stream knows too little of what is normal in the job."""
_BATCH = 1024
"""So many windows are shown to the network at once."""
_STRIDE = 7919
"""A prime: neighbours are looked at in seconds that have nothing to do with each other."""


class DriftReader:
    """An artifact whose numbers are read for drift; jobs share it."""

    def __init__(self, artifact: PatternArtifact, every_slots: int) -> None:
        """Raises ModelFitError when the artifact contradicts itself."""
        self.settings = PatternSettings.of(artifact.settings)
        self.every_slots = every_slots
        self.surprise = Surprise(self.settings, artifact.tensors)

    def panels(
        self,
        windows: Mapping[Entity, Window],
        description: JobDescription | None,
        watch: DriftWatch,
        slots: int | None = None,
    ) -> Iterator[PanelDrift]:
        """What follows each panel of a job with these rows and metrics.

        Of a job that has so many `slots` and no more, every row is looked at all the same.
        """
        left = self.every_slots if slots is None else max(1, slots - WARM_UP_SLOTS)
        for panel in panels_of(windows, description, use_roles=self.settings.use_roles):
            yield PanelDrift(self, panel, watch, min(self.every_slots, left))


class PanelDrift:
    """Follows one panel."""

    def __init__(
        self, reader: DriftReader, panel: Panel, watch: DriftWatch, every_slots: int
    ) -> None:
        self._surprise = reader.surprise
        self._panel = panel
        self._watch = watch
        self._every = every_slots
        self._turns = np.arange(panel.shape[1]) * _STRIDE % every_slots
        self._stream = PanelStream(panel, reader.settings)
        self._slot = 0
        self._cut: list[Windows] = []

    def advance(self, windows: Mapping[Entity, Window], slots: slice) -> None:
        """Take in the next slots of the job's windows."""
        measured = self._stream.advance(windows[self._panel.entity], slots)
        for slot in self._stream.replay(measured):
            seen = self._slot + slot - WARM_UP_SLOTS
            due = np.flatnonzero(self._turns == seen % self._every)
            if seen >= 0 and len(due):
                self._count_inputs(measured, slot, due)
                metrics, rows = np.indices((len(self._panel.metrics), len(due))).reshape(2, -1)
                self._cut.append(self._stream.recent.windows(metrics, due[rows]))
        self._slot += len(measured.departure)
        if sum(map(len, self._cut)) >= _BATCH:
            self.settle()

    def settle(self) -> None:
        """Show the network what has gathered."""
        if not self._cut:
            return
        panel, windows = self._panel, Windows.joined(self._cut)
        self._cut = []
        surprise = self._surprise.of(windows, panel.kinds[windows.metric])
        for at, metric in enumerate(panel.metrics):
            self._watch.count(Quantity.SCORE, (metric,), surprise[windows.metric == at][None])

    def _count_inputs(self, measured: Measured, slot: int, due: NDArray[np.intp]) -> None:
        unknown = np.isnan(measured.departure[slot][:, due])
        fastest = measured.paced[slot, 0][:, due]
        values = np.where(unknown, np.nan, fastest)
        self._watch.count(Quantity.INPUT, self._panel.metrics, values)
