"""What is measured of one panel, slot after slot: the same in training and at work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.models.pattern.departures import DepartureStream
from paramedic.models.pattern.paces import PacedMeans
from paramedic.models.pattern.panels import observed_values
from paramedic.models.pattern.recent import RecentSlots

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Window
    from paramedic.models.pattern.panels import Panel
    from paramedic.models.pattern.settings import PatternSettings

    Singles = NDArray[np.float32]
    Values = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Measured:
    """Some slots of a panel."""

    departure: Singles
    """(slots, metrics, rows)."""
    activity: Singles
    """(slots, metrics)."""
    paced: Singles
    """(slots, paces, metrics, rows)."""


class PanelStream:
    """Departures, their running means, and the last of them."""

    def __init__(self, panel: Panel, settings: PatternSettings) -> None:
        self.panel = panel
        self._departures = DepartureStream(panel, settings)
        self._paces = PacedMeans(
            settings.paces, panel.shape, settings.block_slots, settings.memory_blocks
        )
        self.recent = RecentSlots(settings.window_slots, *panel.shape, settings.block_slots)

    def advance(self, window: Window, slots: slice) -> Measured:
        """Take in the next slots of a window; `recent` is brought up to date by who reads them."""
        return self.take(observed_values(window, slots))

    def take(self, observed: Values) -> Measured:
        """The same from what `observed_values` gave."""
        found = self._departures.advance(self.panel.arranged(observed))
        paced = self._paces.advance(found.departure)
        return Measured(found.departure, found.activity, paced)

    def replay(self, measured: Measured) -> Iterator[int]:
        """Take the slots into `recent` one by one; after each, its number."""
        for slot, departure in enumerate(measured.departure):
            self.recent.push(departure, measured.activity[slot])
            yield slot
