"""Scores of every row and metric, slot after slot: in nats, how rare it is to look so odd.

Peer deviation is measured of everybody in every slot. The network looks at suspects every few slots
and at all others in rotation, so that its cost is bounded: a suspect is looked at at least every
`suspect_slots`, anybody at least every `rotation_slots`. In between its last word fades.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.calibration import LINES, Calibration, uncalibrated
from paramedic.models.pattern.panel_stream import Measured, PanelStream
from paramedic.models.pattern.panels import observed_values, panels_of
from paramedic.models.pattern.recent import Windows
from paramedic.models.pattern.surprise import Surprise
from paramedic.models.pattern.tails import Tails

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from paramedic.ingest.contract import Entity, Window
    from paramedic.ingest.recordings.description import JobDescription
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.pattern.panels import Panel
    from paramedic.models.pattern.settings import PatternSettings

    Singles = NDArray[np.float32]
    Values = NDArray[np.floating]


_FADING = np.float32(0.95)
"""By slot, of what the network said when it last looked."""


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
        self._network = reader.surprise
        self._scorers = [_PanelScorer(reader, panel) for panel in panels]

    def advance(self, windows: Mapping[Entity, Window], slots: slice) -> list[Singles]:
        """Take in the next slots of all windows; nats by panel, (slots, metrics, rows).

        A live job hands its newest slot over, `slice(-1, None)`; a history some at once.
        """
        entities = {panel.entity for panel in self.panels}
        observed = {one: observed_values(windows[one], slots) for one in entities}
        measured = [one.measure(observed[one.panel.entity]) for one in self._scorers]
        if self._network is not None and measured:
            self._ask(self._network, measured)
        return [one.nats() for one in measured]

    def _ask(self, network: Surprise, scores: Sequence[_Scores]) -> None:
        """Ask the network about the windows of all panels at once, which is quicker."""
        looks = [one.look(some) for one, some in zip(self._scorers, scores, strict=True)]
        kinds = [one.kinds[look.metric] for one, look in zip(self._scorers, looks, strict=True)]
        told = network.of(Windows.joined([look.windows for look in looks]), np.concatenate(kinds))
        ends = np.cumsum([len(look.metric) for look in looks])
        answers = np.split(told, ends[:-1])
        for one, some, look, answer in zip(self._scorers, scores, looks, answers, strict=True):
            one.hear(some, look, answer)


@dataclass(frozen=True, slots=True)
class _Scores:
    """Some slots of a panel, (slots, metrics, rows)."""

    measured: Measured
    peers: Singles
    """What peer deviation says, and then what the network says with it."""

    def add(self, odd: Singles) -> None:
        """Another word, at the price of having had a choice."""
        np.maximum(self.peers, odd, out=self.peers)
        np.subtract(self.peers, np.float32(np.log(2)), out=self.peers)
        np.maximum(self.peers, 0, out=self.peers)

    def nats(self) -> Singles:
        """Nothing is said of what was not observed."""
        np.copyto(self.peers, 0, where=np.isnan(self.measured.departure))
        return self.peers


@dataclass(frozen=True, slots=True)
class _Look:
    """Cells that are due, in the order of their slots."""

    slot: NDArray[np.int64]
    cell: NDArray[np.int64]
    """metric * rows + row."""
    windows: Windows

    @property
    def metric(self) -> NDArray[np.int64]:
        return self.windows.metric


class _PanelScorer:
    """Follows one panel."""

    def __init__(self, reader: PatternReader, panel: Panel) -> None:
        self.panel, self.kinds = panel, panel.kinds
        self._settings = settings = reader.settings
        self._stream = PanelStream(panel, settings)
        calibration = reader.calibration
        tails = (
            calibration.paced(panel) if settings.use_calibration else uncalibrated(panel, settings)
        )
        self._tails = Tails(np.concatenate([one.table for one in tails]))
        self._surprise_tails = calibration.surprise(panel)
        self._held = np.zeros(panel.shape[0] * panel.shape[1], np.float32)
        self._slot = 0

    def measure(self, observed: Values) -> _Scores:
        """Take in slots, (rows, metrics, slots), and say what peer deviation says."""
        measured = self._stream.take(observed)
        return _Scores(measured, self._peer_nats(measured))

    def _peer_nats(self, measured: Measured) -> Singles:
        """The oddest pace, at the price of having had a choice."""
        slots, paces, metrics, rows = measured.paced.shape
        each = self._tails.nats(measured.paced.reshape(slots, paces * metrics, rows))
        nats: Singles = each.reshape(measured.paced.shape).max(axis=1)
        np.subtract(nats, np.float32(np.log(paces)), out=nats)
        np.maximum(nats, 0, out=nats)
        return nats

    def look(self, scores: _Scores) -> _Look:
        """The windows of cells that are due, as they were in their slots."""
        slot, metric, row = np.unravel_index(self._due(scores.peers), scores.peers.shape)
        recent, step = self._stream.recent, self._settings.block_slots
        parts, measured = [], scores.measured
        for begin in range(0, len(scores.peers), step):
            here = slice(begin, begin + step)
            recent.extend(measured.departure[here], measured.activity[here])
            some = slice(*np.searchsorted(slot, (begin, begin + step)))
            newest = min(begin + step, len(scores.peers)) - 1
            ago = newest - slot[some] if newest > begin else None
            parts.append(recent.windows(metric[some], row[some], ago))
        self._slot += len(scores.peers)
        return _Look(slot, metric * self.panel.shape[1] + row, Windows.joined(parts))

    def _due(self, peers: Singles) -> NDArray[np.int64]:
        """The cells at which the network looks, by their positions in all slots."""
        settings = self._settings
        slots, _, rows = peers.shape
        turn = np.arange(rows) + np.arange(self._slot, self._slot + slots)[:, None, None]
        is_turn = turn % settings.rotation_slots == 0
        is_close = turn % settings.suspect_slots == 0
        return np.flatnonzero(((peers >= settings.suspect_nats) & is_close) | is_turn)

    def hear(self, scores: _Scores, look: _Look, surprise: Singles) -> None:
        """What the network last said of each row and metric joins in."""
        looked = self._surprise_tails.nats_of_lines(look.metric, surprise)
        said = np.empty_like(scores.peers)
        ends = np.searchsorted(look.slot, np.arange(len(said) + 1))
        for slot, flat in enumerate(said.reshape(len(said), -1)):
            self._held *= _FADING
            due = slice(ends[slot], ends[slot + 1])
            self._held[look.cell[due]] = looked[due]
            flat[:] = self._held
        scores.add(said)
