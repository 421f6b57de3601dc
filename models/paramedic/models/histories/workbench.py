"""What the notebooks work with: recordings, a registry and a model, one's own or made up.

PARAMEDIC_RECORDINGS               folders of recordings, separated as in PATH
PARAMEDIC_MODELS_REGISTRY_FOLDER   the registry, as for every command
PARAMEDIC_NOTEBOOKS_QUICK          1: everything as small as it can be, in a registry of its own
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.models.default.shipped import is_shipped, shipped_model
from paramedic.models.histories.example_recordings import record_faulty, record_healthy
from paramedic.models.histories.labelled import LabelledHistory, healthy_parts, read_labelled
from paramedic.models.registry.registry import Registry
from paramedic.models.training.fit_settings import FitSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.artifact import PatternArtifact

RECORDINGS = "PARAMEDIC_RECORDINGS"
REGISTRY = "PARAMEDIC_MODELS_REGISTRY_FOLDER"
QUICK = "PARAMEDIC_NOTEBOOKS_QUICK"
_REGISTRY_BY_DEFAULT = "paramedic-models"


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is made up and learnt."""

    healthy: int
    faulty: int
    seconds: int
    """Of each recording."""
    fit: FitSettings


_WHOLE = Amount(healthy=6, faulty=12, seconds=900, fit=FitSettings())
_SMALL = Amount(
    healthy=2,
    faulty=4,
    seconds=420,
    fit=FitSettings(windows=2_000, windows_to_calibrate=10_000, most_epochs=2),
)


@dataclass(frozen=True, slots=True)
class Workbench:
    """One notebook's surroundings."""

    folder: Path
    """Where recordings are made up and a quick registry lies."""
    own_recordings: tuple[Path, ...]
    registry_folder: Path
    is_quick: bool

    @classmethod
    def of(cls, environment: Mapping[str, str], folder: Path, current: Path) -> Workbench:
        """What the variables say; relative paths start at the current folder."""
        named = [one for one in environment.get(RECORDINGS, "").split(os.pathsep) if one]
        is_quick = environment.get(QUICK, "") == "1"
        registry = current / environment.get(REGISTRY, _REGISTRY_BY_DEFAULT)
        own = tuple(current / one for one in named)
        return cls(folder, own, folder / "models" if is_quick else registry, is_quick)

    @property
    def amount(self) -> Amount:
        """How much is made up and learnt."""
        return _SMALL if self.is_quick else _WHOLE

    @property
    def registry(self) -> Registry:
        """Where versions of the model are kept."""
        return Registry(self.registry_folder)

    @property
    def fit_settings(self) -> FitSettings:
        """For a training that takes some minutes, or seconds."""
        return self.amount.fit

    def recordings(self) -> list[Path]:
        """One's own, or else some that are made up: healthy ones first, then those with a fault.

        Raises RecordingError when they cannot be written.
        """
        if self.own_recordings:
            return list(self.own_recordings)
        root = self.folder / "recordings"
        if root.exists():
            return sorted(one for one in root.iterdir() if one.is_dir())[::-1]
        amount = self.amount
        healthy = record_healthy(root, amount.seconds, amount.healthy, seed=0)
        faulty = record_faulty(root, amount.seconds, amount.faulty, seed=100)
        return [*sorted(healthy)[::-1], *sorted(faulty)[::-1]]

    def labelled(self) -> list[LabelledHistory]:
        """All stretches of all recordings. Raises RecordingFormatError or LabelError."""
        return [one for recording in self.recordings() for one in read_labelled(recording)]

    def model_in_use(self, learn: Callable[[list[JobHistory]], PatternArtifact]) -> PatternArtifact:
        """The production version, or else the model that ships.

        Where a build has none, it is learnt from what is healthy. Raises ModelFileError.
        """
        version = self.registry.production()
        if version is not None:
            return self.registry.load(version)[0]
        if is_shipped():
            return shipped_model()[0]
        return learn([part for one in self.labelled() for part in healthy_parts(one)])


def split(labelled: list[LabelledHistory]) -> tuple[list[LabelledHistory], list[LabelledHistory]]:
    """Every other job for choosing thresholds, the rest for comparing; no job is in both.

    Jobs with a known fault and jobs without are divided alike.
    """
    validation: list[LabelledHistory] = []
    test: list[LabelledHistory] = []
    for has_fault in (True, False):
        those = [one for one in labelled if bool(one.faults) == has_fault]
        names = list(dict.fromkeys(one.history.job for one in those))
        chosen = {job for one, job in enumerate(names) if one % 2 == 0}
        taken = {one.history.job for one in validation}
        for one in those:
            job = one.history.job
            into_validation = job in taken or (job in chosen and job not in _jobs(test))
            (validation if into_validation else test).append(one)
    return validation, test


def _jobs(labelled: list[LabelledHistory]) -> set[str]:
    return {one.history.job for one in labelled}
