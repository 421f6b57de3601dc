"""Which slots of a window may be compared among peers; the rest no model ever sees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.symptoms import JUDGED_METRICS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.picture import JobPicture
    from paramedic.diagnosis.settings import StragglerSettings
    from paramedic.ingest.contract import Window

_PROGRESS_METRIC = "step"


def comparable_part(window: Window, picture: JobPicture, settings: StragglerSettings) -> Window:
    """The window with everything masked that says nothing about how fast a rank works.

    Masked are slots of earlier stretches of training, slots in which the job was not training
    steadily, and values of a rank that has not made a step in the slot: they repeat its last step.
    """
    begun = picture.stretch(window.last_second)
    seconds = window.seconds
    fit = np.array(picture.fit_part(seconds, settings), dtype=np.bool_)
    observed = window.observed & (fit & (np.array(seconds) >= begun))
    return replace(window, observed=observed & _with_progress(window, observed)[:, None, :])


def judged_part(window: Window) -> Window:
    """The window with those metrics alone that a rank is judged by."""
    kept = [at for at, metric in enumerate(window.metrics) if metric in JUDGED_METRICS]
    return replace(
        window,
        metrics=tuple(window.metrics[at] for at in kept),
        values=window.values[:, kept],
        observed=window.observed[:, kept],
    )


def _with_progress(window: Window, observed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per row and slot: no step number is known, or it is higher than in all slots before."""
    if _PROGRESS_METRIC not in window.metrics:
        return np.ones((len(window.rows), observed.shape[2]), dtype=np.bool_)
    at = window.metrics.index(_PROGRESS_METRIC)
    known = observed[:, at]
    steps = np.where(known, window.values[:, at], -np.inf)
    before = np.full_like(steps, -np.inf)
    before[:, 1:] = np.maximum.accumulate(steps, axis=1)[:, :-1]
    return ~known | (steps > before)
