"""How far rows usually are from where they should be, whatever a few of them do."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64)

_HALF, _MOST = 0.5, 0.8
_NORMAL_HALF, _NORMAL_MOST = 0.6745, 1.2816
"""The same quantiles of a standard normal's absolute value: a unit, not an assumption."""


def usual_spread(sizes: NDArray[_Real]) -> NDArray[_Real]:
    """Of absolute values along the last axis, kept: by half of them or by most, whichever say more.

    NaN is left out, and comes out where there is nothing else.

    >>> usual_spread(np.array([[0.6745, 0.6745, 0.6745, 0.6745, 99.0]])).round(3).tolist()
    [[1.0]]
    """
    ordered = np.sort(sizes, axis=-1)
    if not np.isnan(ordered[..., -1:]).any():
        last = sizes.shape[-1] - 1
        half, most = (ordered[..., int(last * share), None] for share in (_HALF, _MOST))
        found: NDArray[_Real] = np.maximum(half / _NORMAL_HALF, most / _NORMAL_MOST)
        return found
    count = np.count_nonzero(~np.isnan(sizes), axis=-1, keepdims=True)
    last = np.maximum(count - 1, 0)
    half = np.take_along_axis(ordered, (last * _HALF).astype(np.intp), axis=-1)
    most = np.take_along_axis(ordered, (last * _MOST).astype(np.intp), axis=-1)
    return np.where(count > 0, np.maximum(half / _NORMAL_HALF, most / _NORMAL_MOST), np.nan)
