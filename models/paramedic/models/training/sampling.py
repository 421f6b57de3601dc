"""Goes once through the histories: counts how rows look, and draws windows for the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.calibration import CalibrationCounter
from paramedic.models.pattern.panel_stream import PanelStream
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.recent import Windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.panels import Panel
    from paramedic.models.training.fit_settings import FitSettings, Progress

_ROWS_AT_ONCE = 4
_WARM_UP_SLOTS = 60
"""Before this a stream knows too little for its windows to teach."""


@dataclass(frozen=True)
class Sample:
    """What one pass through the histories gave."""

    windows: Windows
    lines: NDArray[np.intp]
    """The calibration line of each window's metric."""
    history: NDArray[np.intp]
    """From which history each window is."""
    counter: CalibrationCounter

    def thinned(self, count: int, dice: np.random.Generator) -> Sample:
        """So many of the windows, drawn at random; the counter is shared."""
        if count >= len(self.windows):
            return self
        kept = np.sort(dice.choice(len(self.windows), count, replace=False))
        return Sample(self.windows.at(kept), self.lines[kept], self.history[kept], self.counter)

    @property
    def kinds(self) -> NDArray[np.int64]:
        """The kind of each window's metric."""
        return self.counter.kinds[self.lines]


def sample(
    histories: Sequence[JobHistory], settings: FitSettings, progress: Progress
) -> Sample | None:
    """Windows and counts; None where the histories hold no row."""
    counter = CalibrationCounter(len(settings.pattern.paces))
    parts: list[tuple[int, Windows, NDArray[np.intp]]] = []
    for at, history in enumerate(histories):
        progress("reading histories", at / len(histories))
        drawer = _Drawer(settings, counter, np.random.default_rng([settings.seed, at]))
        share = max(settings.windows, settings.windows_to_calibrate) / len(histories)
        parts += [(at, windows, lines) for windows, lines in drawer.draw(history, share)]
    if not parts:
        return None
    return Sample(
        Windows.joined([windows for _, windows, _ in parts]),
        np.concatenate([lines for _, _, lines in parts]),
        np.concatenate([np.full(len(windows), at, np.intp) for at, windows, _ in parts]),
        counter,
    )


@dataclass(frozen=True)
class _Drawer:
    """Goes through one history."""

    settings: FitSettings
    counter: CalibrationCounter
    dice: np.random.Generator

    def draw(self, history: JobHistory, windows: float) -> list[tuple[Windows, NDArray[np.intp]]]:
        """About so many windows, of all panels and of the whole time."""
        roles = self.settings.pattern.use_roles
        panels = panels_of(history.windows, history.description, use_roles=roles)
        drawn = []
        for panel in panels:
            drawn += self._of_panel(history, panel, windows / len(panels))
        return drawn

    def _of_panel(
        self, history: JobHistory, panel: Panel, windows: float
    ) -> list[tuple[Windows, NDArray[np.intp]]]:
        slots, step = len(history.seconds), self.settings.pattern.block_slots
        stream = PanelStream(panel, self.settings.pattern)
        rows = min(_ROWS_AT_ONCE, panel.shape[1])
        usable = max(1, slots - _WARM_UP_SLOTS)
        chance = windows / (rows * panel.shape[0] * usable)
        lines, drawn = self.counter.lines(panel), []
        for at in range(0, slots, step):
            measured = stream.advance(
                history.windows[panel.entity], slice(at, min(at + step, slots))
            )
            for slot in stream.replay(measured):
                if at + slot < _WARM_UP_SLOTS:
                    continue
                if (at + slot) % self.settings.counted_every_slots == 0:
                    unknown = np.isnan(measured.departure[slot])
                    self.counter.count_paced(panel, np.where(unknown, np.nan, measured.paced[slot]))
                if self.dice.random() < chance:
                    chosen = self.dice.choice(panel.shape[1], rows, replace=False)
                    metrics = np.arange(panel.shape[0])
                    cut = stream.recent.windows(
                        np.repeat(metrics, rows), np.tile(chosen, len(metrics))
                    )
                    drawn.append((cut, lines[cut.metric]))
        return drawn
