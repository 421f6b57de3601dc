"""What ranks have differed by all along, kept as it was for whoever is accused.

A machine that has always been a little slower is nobody's problem, so a steady difference is
learned and taken off. Whoever is accused of being slow goes on being slow, and in half a minute
that would be taken for steady. So nothing is learned of the accused until they are well again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from paramedic.ingest.contract import EntityKey, NodeName, Window
    from paramedic.models.contract import AnomalyScores


@dataclass(slots=True)
class OwnUsual:
    """The steady differences of one job's ranks, as shares of the peers' level."""

    _held: dict[EntityKey, dict[str, float]] = field(default_factory=dict)
    """Of the ranks of accused nodes, by metric."""
    _newest: AnomalyScores | None = None
    """The last that was learned of anybody."""

    def note(self, scores: AnomalyScores) -> None:
        """Take in what rows were taken to differ by when they were scored last."""
        self._newest = scores

    def held(self, window: Window, accused: Collection[NodeName]) -> NDArray[np.float64] | None:
        """What the ranks of these nodes differ by, (rows, metrics); NaN where it may be learned.

        None where nobody is accused.
        """
        self._hold(accused)
        if not self._held:
            return None
        own = np.full((len(window.rows), len(window.metrics)), np.nan)
        for at, row in enumerate(window.rows):
            if row.node in accused and (known := self._held.get(row)):
                own[at] = [known.get(metric, np.nan) for metric in window.metrics]
        return own

    def _hold(self, accused: Collection[NodeName]) -> None:
        """Keep what is known of who is newly accused, and let go of who is so no more."""
        self._held = {row: own for row, own in self._held.items() if row.node in accused}
        newest = self._newest
        if not accused or newest is None or newest.own is None:
            return
        for at, row in enumerate(newest.rows):
            if row.node in accused and row not in self._held:
                self._held[row] = dict(zip(newest.metrics, newest.own[at].tolist(), strict=True))
