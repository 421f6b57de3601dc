"""Scores of every row and metric, slot after slot: in nats, how rare it is to look so odd.

Peer deviation is measured of everybody in every slot. The network looks at suspects every few slots
and at all others in rotation, so that its cost is bounded: a suspect is looked at at least every
`suspect_slots`, anybody at least every `rotation_slots`. In between its last word holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.calibration import LINES, Calibration, uncalibrated
from paramedic.models.pattern.panel_stream import Measured, PanelStream
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.recent import Windows
from paramedic.models.pattern.surprise import Surprise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import Entity, Window
    from paramedic.ingest.recordings.description import JobDescription
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.pattern.panels import Panel
    from paramedic.models.pattern.settings import PatternSettings

    Singles = NDArray[np.float32]


class PatternReader:
    """An artifact that is ready for work; jobs share it."""

    def __init__(self, artifact: PatternArtifact, settings: PatternSettings) -> None:
        """Raises ModelFitError when the artifact contradicts itself.

        `settings`: those of the artifact, or a variant that leaves something out.
        """
        self.settings = settings
        names = str(artifact.settings[LINES]).split()
        self.calibration = Calibration(tuple(names), artifact.tensors)
        self.surprise = Surprise(settings, artifact.tensors) if settings.use_network else None

    def scorer(
        self, windows: Mapping[Entity, Window], description: JobDescription | None
    ) -> PatternScorer:
        """A scorer for a job with these rows and metrics, which has seen nothing yet."""
        return PatternScorer(self, panels_of(
            windows, description, use_roles=self.settings.use_roles
        ))  # fmt: skip


class PatternScorer:
    """Follows one job."""

    def __init__(self, reader: PatternReader, panels: Sequence[Panel]) -> None:
        self.panels = tuple(panels)
        self._scorers = [_PanelScorer(reader, panel) for panel in panels]

    def advance(self, windows: Mapping[Entity, Window], slots: slice) -> list[Singles]:
        """Take in the next slots of all windows; nats by panel, (slots, metrics, rows).

        A live job hands its newest slot over, `slice(-1, None)`; a history some at once.
        """
        return [one.advance(windows[one.panel.entity], slots) for one in self._scorers]


class _PanelScorer:
    """Follows one panel."""

    def __init__(self, reader: PatternReader, panel: Panel) -> None:
        self.panel = panel
        self._settings = settings = reader.settings
        self._stream = PanelStream(panel, settings)
        self._is_calibrated = settings.use_calibration
        calibration = reader.calibration
        self._tails = (
            calibration.paced(panel) if self._is_calibrated else uncalibrated(panel, settings)
        )
        self._network, self._surprise_tails = reader.surprise, calibration.surprise(panel)
        self._held = np.zeros(panel.shape, np.float32)
        self._slot = 0

    def advance(self, window: Window, slots: slice) -> Singles:
        measured = self._stream.advance(window, slots)
        nats = self._peer_nats(measured)
        if self._network is not None:
            odd = self._network_nats(self._network, measured, nats)
            nats = np.maximum(np.maximum(nats, odd) - np.float32(np.log(2)), 0)
        self._slot += len(nats)
        return np.where(np.isnan(measured.departure), np.float32(0), nats)

    def _peer_nats(self, measured: Measured) -> Singles:
        """The oddest pace, at the price of having had a choice."""
        oddest = self._tails[0].nats(measured.paced[:, 0])
        for pace in range(1, len(self._tails)):
            oddest = np.maximum(oddest, self._tails[pace].nats(measured.paced[:, pace]))
        nats: Singles = np.maximum(oddest - np.float32(np.log(len(self._tails))), 0)
        return nats

    def _network_nats(self, network: Surprise, measured: Measured, peers: Singles) -> Singles:
        """What the network last said of each row and metric, (slots, metrics, rows)."""
        due = [self._due(slot, peers) for slot in range(len(peers))]
        recent = self._stream.recent
        cut = [recent.windows(*due[slot]) for slot in self._stream.replay(measured)]
        windows = Windows.joined(cut)
        surprise = network.of(windows, self.panel.kinds[windows.metric])
        looked = self._surprise_tails.nats_of_lines(windows.metric, surprise)
        said = np.empty_like(peers)
        begin = 0
        for slot, (metric, row) in enumerate(due):
            end = begin + len(metric)
            self._held[metric, row] = looked[begin:end]
            said[slot] = self._held
            begin = end
        return said

    def _due(self, slot: int, peers: Singles) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells at which the network looks in this slot: metrics and rows."""
        settings = self._settings
        turn = np.arange(peers.shape[2]) + self._slot + slot
        is_turn = turn % settings.rotation_slots == 0
        is_close = turn % settings.suspect_slots == 0
        is_suspect = peers[slot] >= settings.suspect_nats
        metric, row = np.nonzero(is_turn | (is_suspect & is_close))
        return metric, row
