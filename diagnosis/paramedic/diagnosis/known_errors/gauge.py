"""Xids in the gauge that sticks: the last code stays there until the driver is restarted.

So only a change is news, and the first code of a GPU that had none while it was long watched. A
code that a GPU is first seen with is history: nobody knows how old it is. A hole in the telemetry
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.known_errors.report import Place
from paramedic.models.cell_memory import CellMemory

if TYPE_CHECKING:
    from paramedic.ingest.contract import Window

LEVEL = "gpu_xid"
_ONE = (LEVEL,)
_WATCHED_SECONDS = 60.0
"""A GPU that is known for so long, and showed no code: some drivers print none before the first."""


class _Field(IntEnum):
    CODE = 0
    """The last that was shown; 0: none."""
    HAS_SHOWN = 1
    """Whether the gauge was ever there."""
    MET = 2
    """The second in which the GPU was first heard of; 0: never."""


@dataclass(slots=True)
class XidGauge:
    """What the gauge of every GPU of a job has shown."""

    memory: CellMemory = field(default_factory=lambda: CellMemory(len(_Field)))

    def news(self, window: Window) -> Iterator[tuple[Place, int]]:
        """The codes that are new in the newest slot of the GPUs."""
        if not window.rows:
            return
        self.memory.arrange(window.rows, _ONE)
        met = self.memory.line(_Field.MET)
        strangers = np.flatnonzero(met == 0)
        if strangers.size:  # which is seldom so, and looking at all rows takes long
            here = window.observed[strangers, :, -1].any(axis=1)
            met[strangers[here]] = window.last_second
        if LEVEL not in window.metrics:
            return
        code, has_shown = self.memory.line(_Field.CODE), self.memory.line(_Field.HAS_SHOWN)
        shown = window.values[:, window.metrics.index(LEVEL), -1]
        is_shown = np.isfinite(shown)
        is_watched = (has_shown > 0) | (window.last_second - met >= _WATCHED_SECONDS)
        new = np.flatnonzero(is_shown & is_watched & (shown != code) & (shown > 0))
        code[is_shown] = shown[is_shown]
        has_shown[is_shown] = 1.0
        for at in new.tolist():
            yield Place(window.rows[at].node, window.rows[at].index), int(shown[at])
