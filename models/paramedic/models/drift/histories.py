"""Drift of a recorded history: the same numbers as in training, read the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.drift.reading import DriftReader
from paramedic.models.drift.watch import DriftConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paramedic.models.drift.report import DriftReport
    from paramedic.models.drift.watch import DriftWatch
    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.artifact import PatternArtifact


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
    reader = DriftReader(artifact, config.every_slots)
    for history in sorted(histories, key=lambda one: one.seconds.start):
        _read(reader, history, whole)
    return whole.look()


def _read(reader: DriftReader, history: JobHistory, watch: DriftWatch) -> None:
    seconds, step = history.seconds, reader.settings.block_slots
    if not seconds:
        return
    watch.saw(seconds[0], _arriving(history))
    watch.saw(seconds[-1], ())
    for panel in reader.panels(history.windows, history.description, watch, len(seconds)):
        for at in range(0, len(seconds), step):
            panel.advance(history.windows, slice(at, min(at + step, len(seconds))))
        panel.settle()


def _arriving(history: JobHistory) -> Iterable[str]:
    """Metrics of which anything was observed."""
    for window in history.windows.values():
        there = np.flatnonzero(window.observed.any(axis=(0, 2)))
        yield from (window.metrics[at] for at in there)
