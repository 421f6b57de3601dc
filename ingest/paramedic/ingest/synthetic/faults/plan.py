"""What shall break, where and when: data, before the cluster exists."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.ingest.contract import NodeName


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """One fault; seconds count from the beginning of the simulation."""

    kind: str
    """A name of the fault catalogue, such as `tensor_loss`."""
    node: NodeName
    gpu: int | None = None
    """None: the whole node."""
    onset: int = 0
    end: int | None = None
    """The first second in which it is over; None: it stays."""
    strength: float = 0.5
    """How bad, between 0 and 1; what it means is the fault's own."""
