"""Seconds of a cluster written straight into windows' arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity
from paramedic.ingest.synthetic.arrays import Booleans, Floats
from paramedic.ingest.synthetic.ranks import RANK_METRICS
from paramedic.ingest.synthetic.reading import Second

_BLOCK_SECONDS = 64
"""So many seconds are gathered before they are turned into the order of windows."""

Numbers = np.float32 | np.float64


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of row is taken from a second."""

    entity: Entity
    number: type[Numbers]
    columns: Callable[[Second], Mapping[str, Floats]]
    seen: Callable[[Second], Booleans]
    metrics: Callable[[Second], tuple[str, ...]]


KINDS = (
    Kind(
        Entity.NODE, np.float32, lambda s: s.node, lambda s: s.sight.node_page,
        lambda s: tuple(s.node),
    ),
    Kind(
        Entity.GPU, np.float32, lambda s: s.gpu,
        lambda s: s.is_present & s.sight.gpu_page[:, None], lambda s: tuple(s.gpu),
    ),
    Kind(
        Entity.RANK, np.float64, lambda s: s.rank,
        lambda s: s.has_process & s.sight.ranks[:, None], lambda _s: RANK_METRICS,
    ),
)  # fmt: skip


class Filling:
    """One kind's array, second by second."""

    def __init__(self, kind: Kind, first: Second, seconds: int) -> None:
        """`first` tells how many rows and which metrics there are; it is not written."""
        self.kind = kind
        self.metrics = metrics = kind.metrics(first)
        rows = kind.seen(first).size
        self._values: NDArray[Numbers] = np.empty((rows, len(metrics), seconds), kind.number)
        self._block = np.full((_BLOCK_SECONDS, len(metrics), rows), np.nan, kind.number)
        self._at = 0

    def take(self, second: Second) -> None:
        """Write one more second."""
        into = self._block[self._at % _BLOCK_SECONDS]
        columns = self.kind.columns(second)
        for place, metric in enumerate(self.metrics):
            column = columns.get(metric)
            into[place] = np.nan if column is None else column.ravel()
        seen = self.kind.seen(second).ravel()
        if not seen.all():
            into[:, ~seen] = np.nan
        self._at += 1
        if self._at % _BLOCK_SECONDS == 0:
            self._turn(_BLOCK_SECONDS)

    def finish(self) -> NDArray[Numbers]:
        """The array (rows, metrics, seconds), NaN where nothing was observed."""
        self._turn(self._at % _BLOCK_SECONDS)
        return self._values

    def _turn(self, number: int) -> None:
        if number:
            turned = self._block[:number].transpose(2, 1, 0)
            self._values[:, :, self._at - number : self._at] = turned
