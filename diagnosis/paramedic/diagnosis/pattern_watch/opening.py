"""Real models: the registry, the model that ships, and the network in torch, all loaded late."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.pattern_watch.errors import MissingPackagesError, UnusableModelError
from paramedic.diagnosis.pattern_watch.serving import ModelAccess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from paramedic.diagnosis.pattern_watch.serving import DriftFollower, OpenedModel, Scorer
    from paramedic.ingest.contract import Entity, Window
    from paramedic.ingest.recordings.description import JobDescription
    from paramedic.models.drift.reading import DriftReader
    from paramedic.models.drift.watch import DriftWatch
    from paramedic.models.pattern.scorer import PatternReader
    from paramedic.models.registry.following import ProductionFollower, ServedModel

_WRONG = (ValueError, TypeError, LookupError, ArithmeticError)
"""What settings of other releases may lead to."""


@dataclass(frozen=True, slots=True)
class ReadyModel:
    """An OpenedModel."""

    model: ServedModel
    watch: DriftWatch
    reader: PatternReader
    drift_reader: DriftReader

    def scorer(
        self, windows: Mapping[Entity, Window], description: JobDescription | None
    ) -> Scorer:
        """A scorer for a job with these rows and metrics."""
        return self.reader.scorer(windows, description)

    def drift(
        self, windows: Mapping[Entity, Window], description: JobDescription | None
    ) -> Sequence[DriftFollower]:
        """What reads such a job for drift."""
        return tuple(self.drift_reader.panels(windows, description, self.watch))


def access_to(registry_folder: Path | None) -> ModelAccess:
    """What is in production in a registry; None: always the model that ships."""
    return ModelAccess(lambda: _follower(registry_folder), _ready)


def _follower(registry_folder: Path | None) -> ProductionFollower:
    """Raises MissingPackagesError."""
    with _packages():
        from paramedic.models.default.shipped import FOLDER, shipped_model
        from paramedic.models.registry.following import ProductionFollower
        from paramedic.models.registry.registry import Registry

    # The folder of the model that ships holds no record, so that nothing is ever in production.
    return ProductionFollower(Registry(registry_folder or FOLDER), shipped_model)


def _ready(model: ServedModel) -> OpenedModel:
    """Raises MissingPackagesError or UnusableModelError."""
    with _packages():
        import torch

        from paramedic.models.drift.reading import DriftReader
        from paramedic.models.drift.watch import DriftConfig
        from paramedic.models.pattern.errors import PatternError
        from paramedic.models.pattern.scorer import PatternReader
        from paramedic.models.pattern.settings import PatternSettings

    torch.set_num_threads(1)  # the budget is one of a single core
    config, artifact = DriftConfig(), model.artifact
    try:
        reader = PatternReader(artifact, PatternSettings.of(artifact.settings))
        drift = DriftReader(artifact, config.every_slots)
        return ReadyModel(model, config.build(artifact), reader, drift)
    except (PatternError, *_WRONG) as error:
        raise UnusableModelError(
            f"{error!r}: use the release that trained the model, or train it again"
        ) from error


@contextmanager
def _packages() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingPackagesError(
            f"{error.name} is not installed: pip install 'paramedic[models]', or set models.scoring"
            " to off"
        ) from error
    except (ImportError, OSError) as error:  # a torch without its libraries raises either
        raise MissingPackagesError(
            f"a package of the extra `models` cannot be loaded ({error}): install it anew with pip "
            "install --force-reinstall 'paramedic[models]', or set models.scoring to off"
        ) from error
