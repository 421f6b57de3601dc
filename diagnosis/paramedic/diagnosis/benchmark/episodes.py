"""Episodes: a job's history, and beside it, never in it, what was broken.

    EpisodeSource ──draw(split)──▶ plans ──live(plan)──▶ Episode(facts, history)

Plans are small and travel to the processes that live them; facts are what scoring needs, and are
kept with the results so that scoring needs no history.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from paramedic.ingest.contract import JobName, NodeName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paramedic.models.history import JobHistory


class Part(StrEnum):
    """What an episode is for; jobs of different parts have nothing in common."""

    TRAIN = "train"
    """Detectors learn from it."""
    VALIDATION = "validation"
    """Thresholds are chosen on it."""
    TEST = "test"
    """Rows of the table are computed on it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What broke, where and when; times are Unix seconds."""

    kind: str
    """A fault of formats, section 3."""
    nodes: tuple[NodeName, ...]
    onset: int
    end: int | None = None
    """The first second in which it was over; None: it stayed."""
    halted_at: int | None = None
    """When the job ended of it: until then there was somebody to be named."""
    loudness: str = "loud"
    is_group: bool = False
    """A whole domain deviates, and no machine in particular is to be accused."""
    gpu: int | None = None
    """None: the whole node."""
    stopped_at: int | None = None
    """When the machine stopped and the others began to wait."""
    metrics_shown: int | None = None
    """In how many metrics the machines themselves show it; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an episode besides its history."""

    name: str
    job: JobName
    part: Part
    nodes: int
    first_second: int
    seconds: int
    missing_share: float = 0.0
    faults: tuple[Fault, ...] = ()
    setting: str = ""
    """What sort of episode it is, where its source has sorts."""

    @property
    def is_healthy(self) -> bool:
        """Whether nothing broke."""
        return not self.faults

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Facts:
        """The facts that `to_json` wrote. Raises KeyError, TypeError or ValueError for others."""
        faults = tuple(
            Fault(**{**one, "nodes": tuple(map(NodeName, one["nodes"]))})
            for one in fields["faults"]
        )
        return cls(**{**fields, "part": Part(fields["part"]), "faults": faults})


@dataclass(frozen=True, slots=True)
class Episode:
    """A history, and what is known of it."""

    facts: Facts
    history: JobHistory


@dataclass(frozen=True, slots=True)
class Drawn:
    """An episode before it is lived."""

    name: str
    part: Part
    plan: object
    """What the source needs to live it; small, and can be pickled."""
    is_for_variants: bool = True
    """Whether variants of detectors examine it, too, of which nothing is promised."""
    is_for_disturbed: bool = False
    """Whether it is also examined disturbed (`verdicts/disturbing.py`)."""


class EpisodeSource(Protocol):
    """Where episodes come from; travels to worker processes."""

    def draw(self, part: Part) -> Sequence[Drawn]:
        """All episodes of a part, faulty and healthy; the same every time."""
        ...

    def live(self, drawn: Drawn) -> Episode:
        """Let it happen; the same every time."""
        ...


@runtime_checkable
class Disturbs(Protocol):
    """A detector that sees episodes disturbed; it is scored by the facts of the undisturbed one."""

    def disturb(self, episode: Episode) -> Episode | None:
        """The episode as this detector sees it; None where it would mean nothing."""
        ...
