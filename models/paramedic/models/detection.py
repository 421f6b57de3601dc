"""Faulty-machine detectors that can be compared: a whole history goes in, alarms come out.

    detector ──train(histories)──▶ detector ──examine(history)──▶ examination ──alarms(threshold)

What costs time is done once a history (`examine`); the threshold is applied afterwards, so that all
thresholds are tried on validation at the price of one. A detector looks at no slot before it has
closed: cut anywhere, a history gives the same alarms up to there (a contract test holds it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.models.history import JobHistory


@dataclass(frozen=True, slots=True)
class Alarm:
    """Machines that are accused together, and when."""

    second: int
    """The slot that decided, by its first second (Unix, UTC)."""
    nodes: tuple[NodeName, ...]
    """Sorted; more than one where several are named at once."""
    score: float
    """How sure, in the detector's own unit; more is surer."""
    gpu: int | None = None
    family: str | None = None
    """A fault of formats, section 3, where the detector says one."""


class Examination(Protocol):
    """What a detector has made of one history."""

    def alarms(self, threshold: float) -> Sequence[Alarm]:
        """In the order of their seconds. A machine that goes on being accused is told once; after
        it has been quiet for a minute, again."""
        ...


class FaultyMachineDetector(Protocol):
    """One row of a comparison."""

    name: str
    thresholds: Sequence[float]
    """Those among which validation chooses, the most suspicious (lowest) first."""

    def train(self, histories: Iterable[JobHistory]) -> None:
        """Learn from unlabelled histories, most of them healthy; called once, before the rest.

        Deterministic: the same histories give the same detector."""
        ...

    def examine(self, history: JobHistory) -> Examination:
        """Do what does not depend on the threshold."""
        ...


@dataclass(frozen=True, slots=True)
class MarkedHistory:
    """A history of which it is known when a machine was broken, not which."""

    history: JobHistory
    is_faulty: NDArray[np.bool_]
    """For each slot."""


@runtime_checkable
class LearnsFromLabels(Protocol):
    """A detector that takes some of what it knows from labels. It is given them after `train`."""

    def train_on_labels(self, examples: Sequence[MarkedHistory]) -> None:
        """Learn from histories in which something broke, each with a time in which nothing was."""
        ...
