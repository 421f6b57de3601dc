"""Minder told once more, plainly: one pull after the other, loops instead of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WINDOW = 8


def nearest(values: NDArray[np.float64], slot: int) -> NDArray[np.float64]:
    """(slots, nodes) up to the slot; what is missing from the nearest time, of two the earlier."""
    seen = values[: slot + 1].copy()
    for node in range(seen.shape[1]):
        times = np.flatnonzero(~np.isnan(values[: slot + 1, node]))
        for at in range(len(seen) if times.size else 0):
            seen[at, node] = values[times[np.abs(times - at).argmin()], node]
    return seen


def candidate(window: NDArray[np.float64], threshold: float) -> int:
    """Of (8, nodes): the machine with the largest z, if that is above the threshold, or -1."""
    known = [node for node in range(window.shape[1]) if not np.isnan(window[:, node]).any()]
    away = [[float(np.linalg.norm(window[:, a] - window[:, b])) for b in known] for a in known]
    sums = np.array(away, np.float64).sum(axis=-1)
    if not known or sums.std() < 1e-6 * len(known):
        return -1
    z = (sums - sums.mean()) / sums.std()
    return known[int(z.argmax())] if z.max() > threshold else -1


def pulled(
    values: NDArray[np.float64], slot: int, threshold: float, needed: int, reach: int
) -> int:
    """Whom a pull at this slot declares by one metric of (slots, nodes); -1 for nobody."""
    seen = nearest(values, slot)
    run, last = 0, -1
    for start in range(max(0, slot - reach + 1), slot - WINDOW + 2):
        now = candidate(seen[start : start + WINDOW], threshold)
        run = run + 1 if now == last else 1
        last = now
        if now >= 0 and run >= needed:
            return now
    return -1
