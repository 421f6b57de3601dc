"""From histories to a model: one pass for counts and windows, some epochs for the network, and the
calibration of what the network then says.

One seed, the same histories and the same settings give the same model, to the last bit. Histories
may hold faults, as long as most rows are well most of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.pattern.artifact import PatternArtifact
from paramedic.models.pattern.calibration import LINES
from paramedic.models.pattern.errors import TrainingError
from paramedic.models.pattern.metric_kinds import ABSENCE, MEAN_OF_NODE
from paramedic.models.pattern.surprise import Surprise
from paramedic.models.training.sampling import sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytorch_lightning.loggers import Logger

    from paramedic.models.history import JobHistory
    from paramedic.models.training.epochs import Trained
    from paramedic.models.training.fit_settings import FitSettings, Progress
    from paramedic.models.training.sampling import Sample

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def _unheard(stage: str, share: float) -> None:
    del stage, share


def fit(
    histories: Sequence[JobHistory],
    settings: FitSettings,
    progress: Progress = _unheard,
    loggers: Sequence[Logger] = (),
) -> PatternArtifact:
    """Train a model. Raises TrainingError where the histories cannot teach one.

    `progress` hears what is being done, and the share of it that is done.
    """
    drawn = sample(histories, settings, progress) if histories else None
    if drawn is None:
        raise TrainingError(
            f"{len(histories)} histories hold no window of {settings.pattern.window_slots} slots:"
            " give longer recordings with more than two machines"
        )
    # Lightning takes seconds to import.
    from paramedic.models.training.epochs import trained

    taught = drawn.thinned(settings.windows, np.random.default_rng([settings.seed, 2]))
    network = trained(taught, settings, progress, loggers)
    progress("calibrating", 0.0)
    surprise = Surprise(settings.pattern, network.weights).of(drawn.windows, drawn.kinds)
    drawn.counter.count_surprise(drawn.lines, surprise)
    progress("done", 1.0)
    return _artifact(drawn, network, settings)


def _artifact(drawn: Sample, network: Trained, settings: FitSettings) -> PatternArtifact:
    names = drawn.counter.names
    return PatternArtifact(
        settings={**settings.pattern.as_mapping(), LINES: " ".join(names), "seed": settings.seed},
        tensors={**network.weights, **drawn.counter.tensors(settings.pattern.most_nats)},
        metrics=tuple(sorted(filter(_is_plain, names))),
        fingerprint={name: _fingerprint(drawn, name) for name in names},
        scores={
            **network.scores,
            "windows_calibrated": len(drawn.windows),
            "own_tables_ratio": round(drawn.counter.own_tables_ratio, 4),
        },
    )


def _is_plain(name: str) -> bool:
    return not name.startswith((MEAN_OF_NODE, ABSENCE))


def _fingerprint(drawn: Sample, name: str) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for share in _QUANTILES:
        mark = f"q{round(share * 100):02d}"
        found[f"input_{mark}"], found[f"score_{mark}"] = drawn.counter.quantile(name, share)
    return found
