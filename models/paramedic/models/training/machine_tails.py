"""How much more than most others healthy machines have against them, learnt from all but the oddest
machines: those may be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.evidence import EXCESS_UNIT
from paramedic.models.pattern.following import evidence_of
from paramedic.models.pattern.tails import TailCounter, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.scorer import PatternReader
    from paramedic.models.training.fit_settings import FitSettings, Progress

_WARM_UP_SLOTS = 60


def machine_tails(
    reader: PatternReader,
    histories: Sequence[JobHistory],
    settings: FitSettings,
    progress: Progress,
) -> NDArray[np.float32]:
    """The table of one line; `reader` has no such table yet."""
    counts, oddness = [], []
    chosen = histories[: settings.most_histories_for_machines]
    for at, history in enumerate(chosen):
        progress("weighing machines", at / len(chosen))
        excess = evidence_of(reader, history).excess[_WARM_UP_SLOTS:]
        counter = TailCounter(len(history.nodes))
        counter.count(np.arange(len(history.nodes)), excess / EXCESS_UNIT)
        counts.append(counter.counts)
        oddness.append(excess.mean(axis=0) if len(excess) else np.zeros(len(history.nodes)))
    machines, odd = np.concatenate(counts), np.concatenate(oddness)
    kept = np.sort(np.argsort(odd, kind="stable")[: _kept(len(odd), settings.trimmed_share)])
    total = machines[kept].sum(axis=0, keepdims=True)
    return tables(total, settings.pattern.most_nats, is_two_sided=False)


def _kept(machines: int, trimmed_share: float) -> int:
    return max(1, machines - int(np.ceil(machines * trimmed_share)))
