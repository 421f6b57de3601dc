"""Isolation forest and local outlier factor, on what machines do relative to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.models.rivals.peers import PeerResiduals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from paramedic.models.rivals.machine_level import MachineLevel

_LARGEST = 10.0
_ROWS_PER_CALL = 65_536
_FEWEST_ROWS = 21
"""A row and its twenty neighbours; with fewer there is no density to speak of."""


class OutlierModel:
    """A scikit-learn model of outliers over robust z of all metrics (a Scorer)."""

    def __init__(self, build: Callable[[], Any], sample: int) -> None:
        """`build` makes a model with `fit` and `score_samples`; `sample`: rows it is fitted on."""
        self._build = build
        self._sample = sample
        self._residuals = PeerResiduals()
        self._model: Any = None

    def learn(self, levels: Iterable[MachineLevel]) -> None:
        """Fit on rows that are spread evenly over all histories; too few rows teach nothing."""
        kept = list(levels)
        self._residuals.learn(kept)
        if not kept or not self._residuals.metrics:
            return
        each = max(1, self._sample // len(kept))
        rows = np.concatenate([_evenly(self._rows(level), each) for level in kept])
        self._model = self._build().fit(rows) if len(rows) >= _FEWEST_ROWS else None

    def score(self, level: MachineLevel) -> NDArray[np.float64]:
        """Minus the model's score of normality; all zero before anything was learnt."""
        scores = np.zeros(level.values.shape[:2])
        if self._model is None or not scores.size:
            return scores
        rows = self._rows(level)
        parts = range(0, len(rows), _ROWS_PER_CALL)
        normal = [self._model.score_samples(rows[at : at + _ROWS_PER_CALL]) for at in parts]
        return -np.concatenate(normal).reshape(scores.shape)

    def _rows(self, level: MachineLevel) -> NDArray[np.float64]:
        """(steps × nodes, metrics); what is not known does not stand out."""
        z = np.nan_to_num(self._residuals.of(level))
        return np.clip(z, -_LARGEST, _LARGEST).reshape(-1, z.shape[-1])


def isolation_forest() -> OutlierModel:
    """Fifty trees."""
    return OutlierModel(_forest, sample=20_000)


def local_outlier_factor() -> OutlierModel:
    """Density against that of the twenty nearest training rows."""
    return OutlierModel(_density, sample=2000)


def _forest() -> Any:
    from sklearn.ensemble import IsolationForest

    return IsolationForest(n_estimators=50, random_state=0)


def _density() -> Any:
    from sklearn.neighbors import LocalOutlierFactor

    return LocalOutlierFactor(n_neighbors=20, novelty=True)


def _evenly(rows: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """At most so many rows, at even distances."""
    if len(rows) <= number:
        return rows
    return rows[np.linspace(0, len(rows) - 1, number).astype(np.intp)]
