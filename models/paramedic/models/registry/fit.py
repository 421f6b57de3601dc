"""Whether a model fits what arrives: which of its metrics are there, which lack, which are new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.ingest.some_names import some_names
from paramedic.models.pattern.metric_kinds import ABSENCE, MEAN_OF_NODE, OF_THE_JOB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paramedic.models.pattern.artifact import PatternArtifact

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Fit:
    """Canonical ids, sorted."""

    usable: tuple[str, ...]
    """Arrive, and the model was trained on them: judged as they were in training."""
    missing: tuple[str, ...]
    """The model was trained on them, and they do not arrive: it goes on without."""
    new: tuple[str, ...]
    """Arrive, and the model has never seen them: judged as others of their kind are."""

    @property
    def is_whole(self) -> bool:
        """Whether everything that the model knows arrives."""
        return not self.missing

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know; empty where all is well."""
        told = []
        if self.missing:
            known = len(self.usable) + len(self.missing)
            told.append(
                f"the model was trained on {known} metrics, and {len(self.missing)} of them do not "
                f"arrive ({some_names(self.missing, _SHOWN)}): it judges by the other "
                f"{len(self.usable)}"
            )
        if self.new:
            told.append(
                f"{len(self.new)} metrics arrive that the model was not trained on "
                f"({some_names(self.new, _SHOWN)}): they are judged as others of their kind are"
            )
        return tuple(told)


def fit_of(artifact: PatternArtifact, arriving: Iterable[str]) -> Fit:
    """How a model fits these metrics. What it derives from a metric stands for the metric."""
    known = observed(artifact.metrics)
    there = observed(arriving)
    return Fit(
        usable=tuple(sorted(known & there)),
        missing=tuple(sorted(known - there)),
        new=tuple(sorted(there - known)),
    )


def observed(metrics: Iterable[str]) -> set[str]:
    """The metrics that can arrive, behind those that a model makes of them.

    What tells of the job as a whole is left out: no model is trained on it or judges by it.

    >>> sorted(observed(["b", "node_mean_of:a", "absence_of:gpu", "step_seconds"]))
    ['a', 'b']
    """
    there = {one.removeprefix(MEAN_OF_NODE) for one in metrics if not one.startswith(ABSENCE)}
    return there - OF_THE_JOB
