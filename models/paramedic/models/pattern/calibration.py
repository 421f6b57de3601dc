"""Which tables belong to a panel's metrics: what training counted, as an artifact keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.panels import KINDS
from paramedic.models.pattern.tails import GRID, TailCounter, Tails, normal_table, tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from paramedic.models.pattern.panels import Panel
    from paramedic.models.pattern.settings import PatternSettings

    Numbers = NDArray[np.floating]
    Tensors = Mapping[str, NDArray[np.float32]]

LINES = "lines"
"""Setting of an artifact: the names of the tables' lines, in order."""
_PACED, _SURPRISE = "tails.paced", "tails.surprise"


class CalibrationCounter:
    """Counts, while training histories are gone through, how odd healthy rows look."""

    def __init__(self, paces: int) -> None:
        self._names: dict[str, int] = {}
        self._kinds: list[int] = []
        self._paced = [TailCounter(0) for _ in range(paces)]
        self._surprise = TailCounter(0)

    @property
    def names(self) -> tuple[str, ...]:
        """Metrics of panels that were counted, in order."""
        return tuple(self._names)

    @property
    def kinds(self) -> NDArray[np.int64]:
        """The kind of each line."""
        return np.array(self._kinds, np.int64)

    @property
    def own_tables_ratio(self) -> float:
        """The share of metrics that have tables of their own, at every pace and for the network."""
        counters = (*self._paced, self._surprise)
        return float(np.all([one.are_enough for one in counters], axis=0).mean())

    def lines(self, panel: Panel) -> NDArray[np.intp]:
        """The line of each of a panel's metrics; those of new metrics are opened."""
        for name, kind in zip(panel.metrics, panel.kinds.tolist(), strict=True):
            if name not in self._names:
                self._names[name] = len(self._names)
                self._kinds.append(kind)
        for counter in (*self._paced, self._surprise):
            missing = len(self._names) - len(counter.counts)
            counter.counts = np.concatenate([counter.counts, np.zeros((missing, GRID))])
        return np.array([self._names[name] for name in panel.metrics], np.intp)

    def count_paced(self, panel: Panel, paced: Numbers) -> None:
        """Count one slot, (paces, metrics, rows)."""
        lines = self.lines(panel)[:, None]
        for counter, statistic in zip(self._paced, paced, strict=True):
            counter.count(lines, statistic)

    def count_surprise(self, lines: NDArray[np.intp], surprise: Numbers) -> None:
        """Count windows, each in the line of its metric."""
        self._surprise.count(lines, surprise)

    def tensors(self, most: float) -> dict[str, NDArray[np.float32]]:
        """The tables by line, then those of kinds, then that of all."""
        paced = np.stack([self._with_kinds(one.counts) for one in self._paced])
        surprise = self._with_kinds(self._surprise.counts)
        return {
            _PACED: _filled(tables(paced, most, is_two_sided=True)),
            _SURPRISE: _filled(tables(surprise, most, is_two_sided=False)),
        }

    def quantile(self, name: str, share: float) -> tuple[float, float]:
        """What so large a share of a metric's input and of its surprise did not exceed."""
        line = self._names[name]
        return tuple(
            _quantile(counter.counts[line], share) for counter in (self._paced[0], self._surprise)
        )  # type: ignore[return-value]

    def _with_kinds(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        of_kinds = np.zeros((KINDS, GRID))
        np.add.at(of_kinds, self.kinds, counts)
        return np.concatenate([counts, of_kinds, counts.sum(axis=0, keepdims=True)])


def _filled(found: NDArray[np.float32]) -> NDArray[np.float32]:
    """Kinds that were never met are read by the table of all."""
    is_empty = ~(found > 0).any(axis=-1, keepdims=True)
    filled: NDArray[np.float32] = np.where(is_empty, found[..., -1:, :], found)
    return filled


def _quantile(counts: NDArray[np.float64], share: float) -> float:
    if not counts.any():
        return float("nan")
    at = int(np.searchsorted(np.cumsum(counts), share * counts.sum()))
    return float(np.sinh((at / ((GRID - 1) / 2) - 1) * 5.0))


@dataclass(frozen=True)
class Calibration:
    """The tables of an artifact."""

    names: tuple[str, ...]
    tensors: Tensors

    def paced(self, panel: Panel) -> list[Tails]:
        """Tails of the running means, one a pace."""
        lines = self._lines(panel)
        return [Tails(np.ascontiguousarray(one[lines])) for one in self.tensors[_PACED]]

    def surprise(self, panel: Panel) -> Tails:
        """Tails of the network's surprise."""
        return Tails(np.ascontiguousarray(self.tensors[_SURPRISE][self._lines(panel)]))

    def _lines(self, panel: Panel) -> list[int]:
        known = {name: line for line, name in enumerate(self.names)}
        first = len(self.names)
        kinds = zip(panel.metrics, panel.kinds.tolist(), strict=True)
        return [known.get(name, first + kind) for name, kind in kinds]


def uncalibrated(panel: Panel, settings: PatternSettings) -> list[Tails]:
    """Tails of a normal distribution for every metric and pace."""
    table = np.tile(normal_table(settings.most_nats), (len(panel.metrics), 1))
    return [Tails(table) for _ in settings.paces]
