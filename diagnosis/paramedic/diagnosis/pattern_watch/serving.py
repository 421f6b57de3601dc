"""Which pattern model is in use, ready for work: follows what is in production.

A model that cannot be used is told in one line and leaves the one in use where it is. Where none
can be had, or its packages are not installed, a line says so and verdicts go on.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from paramedic.diagnosis.pattern_watch.errors import MissingPackagesError, UnusableModelError
from paramedic.models.contract import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from paramedic.ingest.contract import Entity, Window
    from paramedic.ingest.recordings.description import JobDescription
    from paramedic.models.drift.watch import DriftWatch
    from paramedic.models.registry.following import Change, ServedModel

_LOG = logging.getLogger(__name__)
_RETRY_SECONDS = 5.0
"""Where there is no model at all, so soon after the first was promoted it is in use."""


class ModelSource(Protocol):
    """Tells which model is to be used; a `ProductionFollower` is one."""

    def look(self, now_seconds: float) -> Sequence[Change]:
        """What has changed since the last look. Raises ModelError when there is no model."""
        ...


class Scorer(Protocol):
    """Follows one job with fixed rows and metrics; a `PatternScorer` is one."""

    def advance(
        self, windows: Mapping[Entity, Window], slots: slice
    ) -> Sequence[NDArray[np.float32]]:
        """Take in the next slots; nats by panel, (slots, metrics, rows)."""
        ...


class DriftFollower(Protocol):
    """Reads one panel of a job for drift; a `PanelDrift` is one."""

    def advance(self, windows: Mapping[Entity, Window], slots: slice) -> None:
        """Take in the next slots."""
        ...


class OpenedModel(Protocol):
    """A model that is ready for work; jobs share it."""

    @property
    def model(self) -> ServedModel:
        """What was opened."""
        ...

    @property
    def watch(self) -> DriftWatch:
        """Gets the numbers of all jobs."""
        ...

    def scorer(
        self, windows: Mapping[Entity, Window], description: JobDescription | None
    ) -> Scorer:
        """A scorer for a job with these rows and metrics."""
        ...

    def drift(
        self, windows: Mapping[Entity, Window], description: JobDescription | None
    ) -> Sequence[DriftFollower]:
        """What reads such a job for drift."""
        ...


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """How models are come by. Both raise MissingPackagesError; neither is called before a window
    is full, so that a process that has nothing to score yet loads nothing."""

    source: Callable[[], ModelSource]
    open_model: Callable[[ServedModel], OpenedModel]
    """Raises UnusableModelError."""


class ServedModels:
    """Keeps the model in use; for one thread."""

    def __init__(self, access: ModelAccess) -> None:
        self._access = access
        self._source: ModelSource | None = None
        self._again = -math.inf
        self._told: str | None = None
        self.current: OpenedModel | None = None
        """The model in use."""
        self.refused = 0
        """Models that could not be used."""
        self.is_over = False
        """Whether there never will be one: packages are missing."""

    def look(self, now_seconds: float) -> None:
        """See whether another model is to be used; `now_seconds` is any steady clock."""
        if self.is_over or now_seconds < self._again:
            return
        try:
            if self._source is None:
                self._source = self._access.source()
            for change in self._source.look(now_seconds):
                self._follow(change)
        except MissingPackagesError as error:
            self.is_over = True
            _LOG.warning("no pattern is scored, verdicts go on without: %s", error)
        except ModelError as error:
            self._again = now_seconds + _RETRY_SECONDS
            self._say_once(_whole_story(error))

    def _follow(self, change: Change) -> None:
        from paramedic.models.registry.following import Refused

        if isinstance(change, Refused):
            self._refuse(change.why)
            return
        try:
            self.current = self._access.open_model(change.model)
        except UnusableModelError as error:
            self._refuse(f"{change.model.title}: {error}")
        else:
            self._told = None
            _LOG.info("patterns are scored with %s", change.model.title)

    def _refuse(self, why: str) -> None:
        self.refused += 1
        used = "none" if self.current is None else self.current.model.title
        _LOG.warning("a pattern model is refused (in use is %s): %s", used, why)

    def _say_once(self, why: str) -> None:
        if why != self._told:
            self._told = why
            _LOG.warning("no pattern is scored yet, verdicts go on without: %s", why)


def _whole_story(error: ModelError) -> str:
    """With what was tried first: that nothing ships is half of why a promoted model is not used."""
    first = error.__context__
    told = (str(one) for one in (first, error) if one is not None)
    return "; ".join(dict.fromkeys(told))
