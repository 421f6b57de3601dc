"""The rows of a comparison that Minder has: itself, every second, and what the paper varies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.models.minder.detector import MinderDetector
from paramedic.models.minder.dissimilarity import Distance
from paramedic.models.minder.encoding import ConcatenatedVae, RawWindows, VaeForAll, VaePerMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paramedic.models.minder.fitting import FitSettings


def minders(settings: FitSettings | None = None) -> Sequence[MinderDetector]:
    """Untrained. Rows that need the same networks share them; the first that trains, trains them.

    All must be trained on the same histories.
    """
    each = VaePerMetric(settings)
    return (
        MinderDetector(encoder=each),
        MinderDetector(1, encoder=each),
        MinderDetector(name="minder_no_continuity", encoder=each, continuity_seconds=0),
        MinderDetector(name="minder_raw", encoder=RawWindows()),
        MinderDetector(name="minder_concatenated", encoder=ConcatenatedVae(each)),
        MinderDetector(name="minder_one_model", encoder=VaeForAll(settings)),
        MinderDetector(name="minder_manhattan", encoder=each, distance=Distance.MANHATTAN),
        MinderDetector(name="minder_chebyshev", encoder=each, distance=Distance.CHEBYSHEV),
    )
