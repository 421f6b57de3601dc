"""What was normal in training: points on the statistic's grid, and the share at or below each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.tails import positions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_QUANTILE = re.compile(r"(?P<quantity>input|score)_q(?P<digits>\d+)")


class Quantity(StrEnum):
    """Of which of a metric's numbers the distribution is compared."""

    INPUT = "input"
    """How far rows are from their peers."""
    SCORE = "score"
    """How surprised the network is by them."""


@dataclass(frozen=True)
class Reference:
    """The training distribution of one quantity of one metric, as far as quantiles tell it."""

    points: NDArray[np.intp]
    """On the grid on which numbers are counted."""
    shares: NDArray[np.float64]
    """Of training, at or below each point; what lies below the point is less."""


def reference_of(quantiles: Mapping[str, float], quantity: Quantity) -> Reference | None:
    """From a fingerprint's `input_q05`, `score_q995`, …; None where it has none of the quantity."""
    found = sorted(
        (_share(match["digits"]), value)
        for name, value in quantiles.items()
        if (match := _QUANTILE.fullmatch(name)) and match["quantity"] == quantity
        if np.isfinite(value)
    )
    if not found:
        return None
    shares, values = zip(*found, strict=True)
    return Reference(np.rint(positions(np.array(values))).astype(np.intp), np.array(shares))


def _share(digits: str) -> float:
    """The share that a quantile's name tells.

    >>> _share("05"), _share("5"), _share("995")
    (0.05, 0.5, 0.995)
    """
    return float(f"0.{digits}")
