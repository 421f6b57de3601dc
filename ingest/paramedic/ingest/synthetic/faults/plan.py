"""What shall break, where, when and how: data, before the cluster exists."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from paramedic.ingest.contract import NodeName


class Loudness(StrEnum):
    """How far a fault stands out of the noise."""

    LOUD = "loud"
    QUIET = "quiet"
    """Plain to who looks at the right metric for a minute."""
    HIDDEN = "hidden"
    """At the edge of the noise."""


class StopKind(StrEnum):
    """How a machine ends that fails for good."""

    CRASH = "crash"
    """Its processes exit; the others wait in their collective."""
    HANG = "hang"
    """A rank stays in the middle of its step, with a kernel that spins."""
    LINK_DOWN = "link_down"
    """Its network card sends nothing more; the gradient collective never ends."""
    BLOCKED = "blocked"
    """A rank's process lives and launches nothing more; its GPU is idle."""
    CARD_GONE = "card_gone"
    """The card falls off the bus: no row of it any more."""
    NODE_GONE = "node_gone"
    """Nothing comes from the node any more."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """One effect of a fault, by its name among the kind's candidates."""

    effect: str
    strength: float
    """Between 0 and 1; what it means is the effect's own."""


@dataclass(frozen=True, slots=True)
class Intermittence:
    """The fault comes and goes."""

    period_seconds: int
    on_ratio: float


@dataclass(frozen=True, slots=True)
class Stop:
    """The fault becomes fatal; seconds count from the beginning of the simulation."""

    kind: StopKind
    at: int
    aborts_at: int
    """When the collectives of the waiting ranks time out and all of them exit."""
    exit_code: int = 1
    """Of who exits first in a crash; negative: the signal that ended it."""
    restarts_at: int | None = None
    """When the job is started again, with the machine mended; None: it is over."""


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """One fault; seconds count from the beginning of the simulation."""

    kind: str
    """A name of the fault catalogue, such as `tensor_loss`."""
    node: NodeName
    """One of a switch's nodes where the kind strikes switches."""
    gpu: int | None = None
    """None: the whole node."""
    onset: int = 0
    end: int | None = None
    """The first second in which it is over; None: it stays."""
    strength: float = 0.5
    """How bad, between 0 and 1; what it means is the fault's own."""
    symptoms: tuple[Symptom, ...] = ()
    """Empty: a random subset of the kind's effects, drawn from what the plan says."""
    ramp_seconds: int = 0
    """How long it takes to reach its strength, evenly."""
    intermittence: Intermittence | None = None
    stop: Stop | None = None
    loudness: Loudness = Loudness.LOUD
