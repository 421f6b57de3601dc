"""One job, scored with one model for as long as its rows and metrics stay."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from paramedic.diagnosis.pattern_watch.report import JobPatterns
from paramedic.models.registry.fit import fit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paramedic.diagnosis.pattern_watch.feed import Handover
    from paramedic.diagnosis.pattern_watch.serving import OpenedModel
    from paramedic.ingest.contract import JobName
    from paramedic.models.registry.fit import Fit

_LOG = logging.getLogger(__name__)
_PIECE_SLOTS = 10
"""So much of a whole window is read at once: what is made of it is many times as large."""


class JobScoring:
    """Begins with whole windows, so that it knows at once what they still hold."""

    def __init__(
        self,
        job: JobName,
        opened: OpenedModel,
        whole: Handover,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_ending`: asked between two pieces, so that a long window holds up no end."""
        self._job = job
        self._is_ending = is_ending
        self.opened = opened
        windows = whole.windows
        self._scorer = opened.scorer(windows, whole.description)
        self._drift = opened.drift(windows, whole.description)
        self._patience = whole.slots
        self._slot = 0
        self._seen: dict[str, int] = {}
        self._oddest = 0.0
        self._fit: Fit | None = None
        self.take(whole)

    def take(self, handover: Handover) -> None:
        """Score the slots of a handover."""
        windows = handover.windows
        for begin in range(0, handover.slots, _PIECE_SLOTS):
            if self._is_ending():
                return
            piece = slice(begin, min(begin + _PIECE_SLOTS, handover.slots))
            scores = self._scorer.advance(windows, piece)
            self._oddest = max((float(one[-1].max(initial=0)) for one in scores), default=0.0)
            for panel in self._drift:
                panel.advance(windows, piece)
        arriving = set(_arriving(handover))
        self._slot += 1
        self._seen.update(dict.fromkeys(arriving, self._slot))
        closed = self.opened.watch.saw(handover.second, arriving)
        for one in () if closed is None else closed.drifted:
            _LOG.warning(
                "%s of %s has drifted since training: %.0f %% lie elsewhere (%.0f %% may be "
                "chance); train anew if it stays so",
                one.quantity.value,
                one.metric,
                100 * one.distance,
                100 * one.margin,
            )

    def patterns(self) -> JobPatterns:
        """How the job is scored; a change of what fits is told in a line."""
        recent = self._slot - self._patience
        arriving = [metric for metric, slot in self._seen.items() if slot > recent]
        fit = fit_of(self.opened.model.artifact, arriving)
        if fit != self._fit:
            self._fit = fit
            for remark in fit.remarks:
                _LOG.info("job %s, %s: %s", self._job, self.opened.model.title, remark)
        model = self.opened.model
        return JobPatterns(model.manifest.name, model.version, fit, self._oddest)


def _arriving(handover: Handover) -> Iterator[str]:
    """Metrics of which anything was observed."""
    for window in handover.windows.values():
        there = np.flatnonzero(window.observed.any(axis=(0, 2)))
        yield from (window.metrics[at] for at in there)
