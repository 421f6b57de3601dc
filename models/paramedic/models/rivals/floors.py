"""All floors, in the order in which a table lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.models.rivals.blind import AlwaysTheFirst, RandomScores
from paramedic.models.rivals.cusum import Cusum, as_it_is, share_of_peers
from paramedic.models.rivals.floor import Floor
from paramedic.models.rivals.learned import isolation_forest, local_outlier_factor
from paramedic.models.rivals.moments import MomentsDistance
from paramedic.models.rivals.peers import LargestZ, MedianAndMad
from paramedic.models.rivals.static_limits import StaticLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUMS = (10.0, 20.0, 30.0, 50.0, 75.0, 100.0, 150.0, 200.0, 300.0, 400.0, 600.0, 900.0)
_LARGE_Z = (2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0)
_ROBUST_Z = (4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 40.0, 49.0)
_DISTANCES = (5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0, 56.0, 80.0)
_ISOLATION = (0.5, 0.525, 0.55, 0.575, 0.6, 0.625, 0.65, 0.675, 0.7, 0.75)
_DENSITY = (1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)


def floors() -> Sequence[Floor]:
    """Untrained, each a detector of its own."""
    return (
        Floor("random", RandomScores(), (3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0)),
        Floor("always_same", AlwaysTheFirst(), (0.5,)),
        Floor("static_limits", StaticLimits(), (0.5, 0.75, 1.0, 1.5, 2.0, 3.0), 1, 20),
        Floor("max_z", LargestZ(), _LARGE_Z, step_seconds=5, hold_seconds=20),
        Floor("median_mad", MedianAndMad(), _ROBUST_Z, step_seconds=5, hold_seconds=20),
        Floor("mahalanobis", MomentsDistance(), _DISTANCES, step_seconds=5, hold_seconds=20),
        Floor("isolation_forest", isolation_forest(), _ISOLATION, 10, hold_seconds=30),
        Floor("local_outlier_factor", local_outlier_factor(), _DENSITY, 10, hold_seconds=30),
        Floor("peer_cusum", Cusum(share_of_peers), _SUMS, hold_seconds=5),
        robust_z_cusum(),
    )


def robust_z_cusum() -> Floor:
    """What holds the difficulty of a benchmark up: each machine against its own past."""
    return Floor("robust_z_cusum", Cusum(as_it_is), _SUMS, hold_seconds=5)
