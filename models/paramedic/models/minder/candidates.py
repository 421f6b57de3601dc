"""The most unlike machine of each window, on each track: what depends on no threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from paramedic.models.minder.alignment import WINDOW
from paramedic.models.minder.dissimilarity import Distance, z_scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from paramedic.models.minder.alignment import Aligned
    from paramedic.models.minder.encoding import Encoder

_VECTORS_PER_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class Sightings:
    """Who was the most unlike in which window, as which pull saw it; one entry a sighting."""

    windows: NDArray[np.int64]
    pulls: NDArray[np.int64]
    """Slots."""
    machines: NDArray[np.int64]
    z: NDArray[np.float64]
    """Of that machine; minus infinity where no machine was known."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """One track of a history."""

    first: Sightings
    """Every window, in the slot that closes it."""
    revised: Sightings
    """Windows that look different to later pulls, in the order of these."""


def find_candidates(
    aligned: Aligned, encoder: Encoder, distance: Distance
) -> tuple[Candidates, ...]:
    """Of every track of the encoder."""
    windows = np.arange(aligned.windows)
    first = _sightings(aligned, encoder, distance, windows, windows + WINDOW - 1)
    revised = _sightings(aligned, encoder, distance, *aligned.revisions())
    return tuple(map(Candidates, first, revised))


def _sightings(
    aligned: Aligned,
    encoder: Encoder,
    distance: Distance,
    windows: NDArray[np.int64],
    pulls: NDArray[np.int64],
) -> list[Sightings]:
    machines = np.zeros((encoder.tracks, len(windows)), np.int64)
    z = np.full((encoder.tracks, len(windows)), -np.inf)
    for block in _blocks(len(windows), aligned.before.shape[1]):
        vectors = encoder.encode(aligned.seen_at(windows[block], pulls[block]))
        for track, one in enumerate(vectors):
            top = torch.nan_to_num(z_scores(one, distance), nan=-torch.inf).max(dim=1)
            machines[track, block], z[track, block] = top.indices.numpy(), top.values.numpy()
    return [Sightings(windows, pulls, *pair) for pair in zip(machines, z, strict=True)]


def _blocks(windows: int, nodes: int) -> Iterator[slice]:
    """Blocks that stay in a processor's cache; none where there is no machine."""
    size = max(1, _VECTORS_PER_BLOCK // max(1, nodes))
    starts = range(0, windows if nodes else 0, size)
    return (slice(start, start + size) for start in starts)
