"""How unlike the other machines each machine is: sums of distances, and their z-score."""

from __future__ import annotations

from enum import Enum

import torch
from torch import Tensor

_SAME_SHARE = 1e-5
"""Sums that differ by less, as a share of their mean, are the same: rounding is no outlier."""
_ROUNDING = 1e-6
"""Of one distance, in numbers of 0 to 1."""


class Distance(Enum):
    """By which power differences are added up."""

    MANHATTAN = 1.0
    EUCLIDEAN = 2.0
    CHEBYSHEV = float("inf")


def z_scores(vectors: Tensor, distance: Distance = Distance.EUCLIDEAN) -> Tensor:
    """(windows, nodes) from (windows, nodes, features); a NaN machine gets NaN and counts for none.

    The sum of distances to all others, less its mean over the machines, over its standard
    deviation. A lone outlier among N machines that are alike gets √(N−1), however far out it is.
    """
    known = ~torch.isnan(vectors).any(dim=-1)
    if not known.any():  # a metric that is not collected costs nothing
        return torch.full(known.shape, torch.nan, dtype=torch.float64)
    pairs = torch.cdist(
        torch.where(known[..., None], vectors, 0.0),
        torch.where(known[..., None], vectors, 0.0),
        p=distance.value,
        compute_mode="donot_use_mm_for_euclid_dist",
    )
    sums = torch.einsum("wab,wb->wa", pairs, known.to(pairs.dtype)).double()
    return torch.where(known, _standardised(sums, known), torch.nan)


def _standardised(sums: Tensor, known: Tensor) -> Tensor:
    weight = known.double()
    count = weight.sum(dim=1, keepdim=True).clamp(min=1.0)
    mean = (sums * weight).sum(dim=1, keepdim=True) / count
    centred = (sums - mean) * weight
    deviation = (centred.square().sum(dim=1, keepdim=True) / count).sqrt()
    differs = deviation > torch.maximum(_SAME_SHARE * mean, _ROUNDING * count)
    z = torch.where(differs, centred / torch.where(differs, deviation, 1.0), 0.0)
    # Rounding takes nobody above what the arithmetic allows.
    return torch.minimum(z, (count - 1.0).clamp(min=0.0).sqrt())
