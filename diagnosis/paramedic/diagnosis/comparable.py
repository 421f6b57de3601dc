"""Which slots of a window may be compared among peers; the rest no model ever sees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.ingest.contract import Window

PROGRESS_METRIC = "step"
"""The number of the newest step that a rank has ended."""


def comparable_part(
    window: Window,
    picture: JobPicture,
    settings: StragglerSettings,
    judged: Collection[str] | None = None,
) -> Window:
    """The judged metrics (None: all), everything masked that says nothing about a rank's pace.

    Masked are slots of earlier stretches of training, slots in which the job was not training
    steadily, and values of a rank that has not made a step in the slot: they repeat its last step.
    So is what a rank calls infinite, which is no number.
    """
    begun = picture.stretch(window.last_second)
    seconds = window.seconds
    fit = np.array(picture.fit_part(seconds, settings), dtype=np.bool_)
    fit &= np.array(seconds) >= begun
    kept = [at for at, name in enumerate(window.metrics) if judged is None or name in judged]
    # As they lie in memory: slot, metric, row.
    observed = window.observed.T[:, kept]
    observed &= _with_progress(window, fit)[:, None]
    values = window.values.T[:, kept]
    if (infinite := np.isinf(values)).any():
        values[infinite], observed[infinite] = np.nan, False
    return replace(
        window,
        metrics=tuple(window.metrics[at] for at in kept),
        values=values.T,
        observed=observed.T,
    )


def _with_progress(window: Window, fit: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per slot and row: the slot is fit, and no step number is known or it is a higher one.

    Higher than in all fit slots before.
    """
    shape = (fit.size, len(window.rows))
    if PROGRESS_METRIC not in window.metrics:
        return np.broadcast_to(fit[:, None], shape)
    at = window.metrics.index(PROGRESS_METRIC)
    told = window.values.T[:, at]
    known = window.observed.T[:, at] & fit[:, None] & (told < np.inf)
    steps = np.where(known, told, -np.inf)
    progress = fit[:, None] & ~known
    progress[0] = fit[0]
    highest = steps[0]
    if (steps[1:] >= steps[:-1]).all():  # nobody goes back or is missing, as mostly
        progress[1:] |= steps[1:] > steps[:-1]
        return progress
    slots = np.flatnonzero(known[1:].any(axis=1)) + 1
    for slot in slots.tolist():  # NumPy accumulates row by row, which is slower
        progress[slot] |= steps[slot] > highest
        np.maximum(highest, steps[slot], out=highest)
    return progress
