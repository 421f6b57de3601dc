"""Medians over the other rows: what the peers of a row do, without asking the row itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64, np.floating)

TO_STANDARD_DEVIATION = 1.4826
"""From the median of absolute deviations, for normal noise."""
_FEWEST_OTHERS = 2
"""With a single other row nobody can say which of the two is odd."""
_FEW = 1024
"""So many are put in order sooner than they are parted."""


def leave_one_out_median(values: NDArray[_Real]) -> NDArray[_Real]:
    """For each entry of the last axis the median of the other entries, NaN left out.

    NaN where the entry itself is NaN or fewer than two others are there.

    >>> leave_one_out_median(np.array([1.0, 2.0, 3.0, 100.0])).tolist()
    [3.0, 3.0, 2.0, 2.0]
    """
    if values.shape[-1] == 0:
        return values.copy()
    lines = values.reshape(-1, values.shape[-1])
    unknown = np.isnan(lines)
    if not np.count_nonzero(unknown):
        return _median_of_complete(lines).reshape(values.shape)
    found = np.full_like(lines, np.nan)
    missing = np.count_nonzero(unknown, axis=-1)
    complete, holed = missing == 0, (missing > 0) & (missing < lines.shape[-1])
    found[complete] = _median_of_complete(lines[complete])
    found[holed] = _median_of_holed(lines[holed])
    return found.reshape(values.shape)


def _median_of_complete(values: NDArray[_Real]) -> NDArray[_Real]:
    """Of (lines, entries) without NaN, which are most and are done in half the time."""
    others = values.shape[-1] - 1
    if others < _FEWEST_OTHERS:
        return np.full_like(values, np.nan)
    first, second, third = _around(values, (others - 1) // 2 + 1)
    low: NDArray[_Real] = np.where(values <= first, second, first)
    if others % 2:
        return low
    high: NDArray[_Real] = np.where(values <= second, third, second)
    np.add(low, high, out=high)
    np.divide(high, 2, out=high)
    return high


def _around(
    values: NDArray[_Real], at: int
) -> tuple[NDArray[_Real], NDArray[_Real], NDArray[_Real]]:
    """The entries before this place of each line's order, at it and after it."""
    entries = values.shape[-1]
    if entries <= _FEW:
        ordered: NDArray[_Real] = np.sort(values, axis=-1)
        return ordered[:, at - 1, None], ordered[:, at, None], ordered[:, at + 1, None]
    parted: NDArray[_Real] = np.partition(values, at, axis=-1)
    before = parted[:, :at].max(axis=-1, keepdims=True)
    after = parted[:, at + 1 :].min(axis=-1, keepdims=True)
    return before, parted[:, at, None], after


def _median_of_holed(values: NDArray[_Real]) -> NDArray[_Real]:
    ordered = np.sort(values, axis=-1)
    others = np.count_nonzero(~np.isnan(values), axis=-1, keepdims=True) - 1
    low = _without_own(values, ordered, (others - 1) // 2)
    high = _without_own(values, ordered, others // 2)
    known = (others >= _FEWEST_OTHERS) & ~np.isnan(values)
    return np.where(known, (low + high) / 2, np.nan)


def leave_one_out_largest(values: NDArray[_Real], place: int) -> NDArray[_Real]:
    """For each entry of the last axis the other entry that only `place` of the others exceed.

    All values must be known, and there must be more than `place` others.

    >>> leave_one_out_largest(np.array([1.0, 2.0, 3.0, 4.0, 100.0]), 1).tolist()
    [4.0, 4.0, 4.0, 3.0, 3.0]
    """
    last = values.shape[-1] - 1
    parted = np.partition(values, (last - place - 1, last - place), axis=-1)
    low, high = parted[..., last - place - 1, None], parted[..., last - place, None]
    found: NDArray[_Real] = np.where(values >= high, low, high)
    return found


def leave_one_out_quantiles(
    values: NDArray[np.float64], shares: tuple[float, ...]
) -> list[NDArray[np.float64]]:
    """For each share and entry of the last axis: what so many of the other entries do not exceed.

    NaN as in `leave_one_out_median`.

    >>> leave_one_out_quantiles(np.array([1.0, 2.0, 3.0, 4.0, 100.0]), (0.75,))[0].tolist()
    [4.0, 4.0, 4.0, 3.0, 3.0]
    """
    if values.shape[-1] == 0:
        return [values.copy() for _ in shares]
    ordered = np.sort(values, axis=-1)
    if not np.count_nonzero(np.isnan(ordered[..., -1])):
        return _quantiles_of_complete(values, ordered, shares)
    others = np.count_nonzero(~np.isnan(values), axis=-1, keepdims=True) - 1
    known = (others >= _FEWEST_OTHERS) & ~np.isnan(values)
    positions = (np.ceil(others * share).astype(np.intp) - 1 for share in shares)
    return [np.where(known, _without_own(values, ordered, at), np.nan) for at in positions]


def _quantiles_of_complete(
    values: NDArray[np.float64], ordered: NDArray[np.float64], shares: tuple[float, ...]
) -> list[NDArray[np.float64]]:
    """Without NaN the place is the same in every line."""
    others = values.shape[-1] - 1
    if others < _FEWEST_OTHERS:
        return [np.full_like(values, np.nan) for _ in shares]
    places = (max(math.ceil(others * share) - 1, 0) for share in shares)
    pairs = ((ordered[..., at, None], ordered[..., at + 1, None]) for at in places)
    return [np.where(values <= here, above, here) for here, above in pairs]


def _without_own(
    values: NDArray[_Real], ordered: NDArray[_Real], position: NDArray[np.int_]
) -> NDArray[_Real]:
    """The entry at this position of the order that remains when an entry's own value is taken out.

    A value at or below the position moves everything above it down by one.
    """
    here = entry_at(ordered, position)
    above = entry_at(ordered, position + 1)
    return np.where(values <= here, above, here)


def entry_at(ordered: NDArray[_Real], position: NDArray[np.int_]) -> NDArray[_Real]:
    """The entry at each row's position, as near as there is one; mostly it is the same in all."""
    places = np.minimum(np.maximum(position, 0), ordered.shape[-1] - 1)
    first = int(places.flat[0]) if places.size else 0
    if (places == first).all():
        return ordered[..., first : first + 1]
    return np.take_along_axis(ordered, places, axis=-1)


def lower_median(values: NDArray[_Real]) -> NDArray[_Real]:
    """What more than half of the entries of the last axis reach, NaN left out; NaN where all are.

    Of an even number the lower of the two in the middle: half of them are not most.

    >>> lower_median(np.array([[3.0, 9.0, np.nan, 1.0, 2.0], [np.nan] * 5])).tolist()
    [2.0, nan]
    """
    if not values.shape[-1]:
        return np.full_like(values, np.nan, shape=values.shape[:-1])
    ordered = np.sort(values, axis=-1)
    if not np.count_nonzero(np.isnan(ordered[..., -1])):
        complete: NDArray[_Real] = ordered[..., (values.shape[-1] - 1) // 2]
        return complete
    count = np.count_nonzero(~np.isnan(ordered), axis=-1, keepdims=True)
    holed: NDArray[_Real] = entry_at(ordered, (count - 1) // 2)[..., 0]
    return holed


def median_over_time(values: NDArray[_Real]) -> NDArray[_Real]:
    """The median along the last axis, NaN left out; NaN where nothing is there.

    >>> median_over_time(np.array([[3.0, np.nan, 1.0], [np.nan] * 3])).tolist()
    [2.0, nan]
    """
    ordered = np.sort(values, axis=-1)
    middle: NDArray[_Real]
    if not values.size:
        middle = np.full_like(values, np.nan, shape=values.shape[:-1])
        return middle
    if not np.count_nonzero(np.isnan(ordered[..., -1])):
        last = values.shape[-1] - 1
        twice = np.add(ordered[..., last // 2], ordered[..., (last + 1) // 2])
        middle = np.divide(twice, 2)
        return middle
    count = np.count_nonzero(~np.isnan(values), axis=-1)
    lines = ordered.reshape(-1, values.shape[-1])
    each, known = np.arange(len(lines)), count.ravel()
    # Where nothing is there, NaN comes first.
    low = lines[each, np.maximum(known - 1, 0) // 2]
    high = lines[each, np.minimum(known // 2, values.shape[-1] - 1)]
    middle = np.divide(np.add(low, high), 2)
    return middle.reshape(count.shape)


def median_of_known(values: NDArray[_Real]) -> float:
    """The median of some numbers that are all there, and one at least.

    >>> median_of_known(np.array([3.0, 1.0, 4.0, 2.0]))
    2.5
    """
    ordered, last = np.sort(values), values.size - 1
    return float(ordered[last // 2] + ordered[(last + 1) // 2]) / 2


def deviation_over_time(differences: NDArray[_Real]) -> NDArray[_Real]:
    """The robust standard deviation along the last axis of differences from the middle.

    >>> deviation_over_time(np.array([-1.0, 1.0, 1.0, -1.0, 50.0])).tolist()
    1.4826
    """
    middle = median_over_time(np.abs(differences))
    spread: NDArray[_Real] = np.multiply(middle, TO_STANDARD_DEVIATION)
    return spread
