"""Made-up windows, clocks and models for the tests of pattern scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models.registry.models_of_ours import METRICS, artifact_of, manifest_of
from paramedic.diagnosis.pattern_watch.errors import UnusableModelError
from paramedic.diagnosis.pattern_watch.serving import ModelAccess, OpenedModel
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.ingest.recordings.description import JobDescription
from paramedic.models.contract import ModelError
from paramedic.models.drift.watch import DriftConfig, DriftWatch
from paramedic.models.registry.following import Adopted, Change, ServedModel

JOB = JobName("llama-7b")
FIRST = 1_780_000_000
SLOTS = 6
"""In a window of these tests."""


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def windows_at(
    at: int,
    nodes: int = 3,
    metrics: Sequence[str] = METRICS,
    generation: int = 0,
    width: int = 1,
    absent: Sequence[str] = (),
) -> dict[Entity, Window]:
    """What a job's windows hold when its slot `at` has closed; values tell their slots."""
    rows = tuple(EntityKey(Entity.GPU, NodeName(f"n{one}"), 0) for one in range(nodes))
    slots = np.arange(at - SLOTS + 1, at + 1, dtype=np.float32)
    values = np.broadcast_to(slots, (nodes, len(metrics), SLOTS)).copy()
    values[:, [name in absent for name in metrics]] = np.nan
    first = FIRST + (at - SLOTS + 1) * width
    window = Window(
        JOB, generation, Entity.GPU, first, rows, tuple(metrics), values, ~np.isnan(values), width
    )
    return {Entity.GPU: window}


@dataclass
class FakeScorer:
    """Remembers the slots that it was shown; looking at one takes time."""

    clock: Clock
    seconds_a_slot: float
    described: JobDescription | None
    rows: int
    failing_rows: set[int] = field(default_factory=set)
    seen: list[int] = field(default_factory=list)

    def advance(
        self, windows: Mapping[Entity, Window], slots: slice
    ) -> Sequence[NDArray[np.float32]]:
        if self.rows in self.failing_rows:
            raise IndexError("out of\nbounds")
        window = windows[Entity.GPU]
        shown = window.seconds[slots]
        self.seen += [second - FIRST for second in shown]
        self.clock.now += self.seconds_a_slot * len(shown)
        return [np.full((len(shown), 1, self.rows), shown[-1] - FIRST, np.float32)]


@dataclass
class FakeModel:
    """An OpenedModel; scorers and drift are told apart by what they have seen."""

    model: ServedModel
    clock: Clock
    seconds_a_slot: float = 0.0
    failing_rows: set[int] = field(default_factory=set)
    config: DriftConfig = field(default_factory=DriftConfig)
    scorers: list[FakeScorer] = field(default_factory=list)
    read: list[FakeScorer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watch: DriftWatch = self.config.build(self.model.artifact)

    def scorer(
        self, windows: Mapping[Entity, Window], description: JobDescription | None
    ) -> FakeScorer:
        rows = len(windows[Entity.GPU].rows)
        self.scorers.append(
            FakeScorer(self.clock, self.seconds_a_slot, description, rows, self.failing_rows)
        )
        return self.scorers[-1]

    def drift(
        self, windows: Mapping[Entity, Window], description: JobDescription | None
    ) -> Sequence[_FakeDrift]:
        self.read.append(FakeScorer(self.clock, 0.0, description, len(windows[Entity.GPU].rows)))
        return [_FakeDrift(self.read[-1])]


@dataclass
class _FakeDrift:
    reader: FakeScorer

    def advance(self, windows: Mapping[Entity, Window], slots: slice) -> None:
        self.reader.advance(windows, slots)


def served(version: int | None) -> ServedModel:
    return ServedModel(version, artifact_of(version or 0), manifest_of("small"))


@dataclass
class Access:
    """Models as tests want them: put changes, errors, or nothing on `changes`."""

    clock: Clock = field(default_factory=Clock)
    seconds_a_slot: float = 0.0
    changes: list[Change | Exception] = field(default_factory=list)
    unusable: set[int | None] = field(default_factory=set)
    failing_rows: set[int] = field(default_factory=set)
    """Jobs of so many rows cannot be scored."""
    opened: list[FakeModel] = field(default_factory=list)
    looks: int = 0

    def promote(self, version: int | None) -> None:
        self.changes.append(Adopted(served(version)))

    def look(self, now_seconds: float) -> Sequence[Change]:  # noqa: ARG002 (the port's signature)
        self.looks += 1
        waiting, self.changes = self.changes, []
        for one in waiting:
            if isinstance(one, Exception):
                raise one
        return [one for one in waiting if not isinstance(one, Exception)]

    def open_model(self, model: ServedModel) -> OpenedModel:
        if model.version in self.unusable:
            raise UnusableModelError("weights do not fit")
        self.opened.append(FakeModel(model, self.clock, self.seconds_a_slot, self.failing_rows))
        return self.opened[-1]

    def access(self) -> ModelAccess:
        return ModelAccess(lambda: self, self.open_model)


def nothing_ships() -> ModelError:
    """What looking raises where the package was built without a model, after another trouble."""
    error = ModelError("nothing ships")
    error.__context__ = ModelError("version 1 is damaged")
    return error
