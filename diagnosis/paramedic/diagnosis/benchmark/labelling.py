"""Labels of training episodes, for detectors whose method asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.detection import MarkedHistory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from paramedic.diagnosis.benchmark.episodes import Episode, Fault


def labelled(episodes: Iterable[Episode]) -> Iterator[MarkedHistory]:
    """Of those in which machines broke, until the job halted; a group event is no machine's."""
    for episode in episodes:
        faults = [one for one in episode.facts.faults if not one.is_group]
        if faults:
            halts = [one.halted_at for one in faults if one.halted_at is not None]
            history = episode.history.until(min(halts)) if halts else episode.history
            seconds = np.array(history.seconds, np.int64)
            is_faulty = np.any([_is_broken(one, seconds) for one in faults], axis=0)
            yield MarkedHistory(history, is_faulty)


def _is_broken(fault: Fault, seconds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the fault is there in these seconds."""
    is_over = np.zeros_like(seconds, np.bool_) if fault.end is None else seconds >= fault.end
    return (seconds >= fault.onset) & ~is_over
