"""One kind of rows at one pace, against one kind of peers: model, calibration and evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.evidence import Evidence
from paramedic.diagnosis.oddness import Oddness, departure_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import Window
    from paramedic.models.circles import Circles
    from paramedic.models.contract import AnomalyScores
    from paramedic.models.peer_departure import PeerDeparture


@dataclass(slots=True)
class PacedTest:
    """Follows the rows of one kind; `smoothing_seconds` is the model's."""

    model: PeerDeparture
    smoothing_seconds: float
    harmless_seconds: float
    """What lasts less is not named."""
    is_among_siblings: bool = False
    """Whether the peers are the GPUs of the same node, instead of the whole job's."""
    evidence: Evidence = field(default_factory=Evidence)
    oddness: Oddness | None = None
    scores: AnomalyScores | None = None
    """Of the newest slot."""
    departure: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """How far out each row was in the newest slot, all metrics together."""
    level: float = 0.0
    """Of the newest slot, in nats."""

    def restart(self) -> None:
        """Forget all evidence: nothing of before speaks of now."""
        self.model.restart()
        self.evidence.restart()

    def weigh(
        self,
        window: Window,
        circles: Circles | None,
        base_level: float,
        settings: DepartureSettings,
    ) -> None:
        """Add the window's newest slot; `base_level` is what independent slots would need."""
        width = window.slot_seconds
        if self.oddness is None:
            self.oddness = Oddness(max(30.0, self.model.config.memory_seconds / width))
        self.scores = self.model.score(window, circles)
        self.departure = departure_of(self.scores)
        oddness = self.oddness.weigh(self.departure)
        self.level = base_level * self.evidence.tail.fold
        most = self.level / max(settings.least_slots, self.harmless_seconds / width)
        smoothing = max(1.0, self.smoothing_seconds / width)
        gain = np.clip((oddness - settings.allowance_nats) / smoothing, -most, most)
        settle = settings.settle_seconds / width
        self.evidence.add(window.rows, window.last_second, gain, self.level, settle)

    def strength(self) -> NDArray[np.float64]:
        """Each row's evidence as a share of the level; from 1 on it decides."""
        return self.evidence.score / self.level if self.level else np.zeros(0)
