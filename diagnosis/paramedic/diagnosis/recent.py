"""What a window shows lately: means over its newest slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window


def recent_means(window: Window, metric: str, slots: int) -> NDArray[np.float64]:
    """Of each row over so many newest slots; NaN where nothing was observed."""
    at = window.metrics.index(metric)
    seen = window.observed[:, at, -slots:]
    values = np.where(seen, window.values[:, at, -slots:], 0.0).astype(np.float64)
    if seen.all():
        means: NDArray[np.float64] = values.sum(axis=1) / seen.shape[1]
        return means
    count = np.count_nonzero(seen, axis=1)
    means = values.sum(axis=1) / np.where(count > 0, count, np.nan)
    return means
