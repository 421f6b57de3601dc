"""How evidence stands at one moment: what speaks against a machine, and how much would decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.diagnosis.contract import Tier
    from paramedic.diagnosis.excuses import Hold
    from paramedic.ingest.contract import EntityKey, NodeName


@dataclass(frozen=True, slots=True)
class Standing:
    """One kind of evidence against one node, GPU or rank."""

    subject: EntityKey
    """Whom it speaks of."""
    tier: Tier
    kind: str
    """A metric id, or what is watched: `heartbeat`, `telemetry`, `known_errors`, `departure`."""
    evidence: float | None
    """What has added up so far; None where nothing can be said (`note` tells why)."""
    level: float | None
    """What would decide, in the same unit; None where no amount would."""
    since: datetime | None = None
    """When the evidence began; None while there is none."""
    note: str = ""
    """Why it stands so, and what is missing, in words."""
    unit: str = ""
    """Of evidence and level: `s`, `nats`, `reports`, …"""
    holds: tuple[Hold, ...] = ()
    """What keeps it from deciding, or from adding up, each with how far it is from giving way."""

    @property
    def share(self) -> float:
        """Evidence as a share of what would decide; from 1 on it does.

        >>> from paramedic.diagnosis.contract import Tier
        >>> from paramedic.ingest.contract import Entity, EntityKey
        >>> Standing(EntityKey(Entity.NODE, "a"), Tier.HEARTBEAT, "heartbeat", 4.0, 10.0).share
        0.4
        """
        return self.evidence / self.level if self.evidence and self.level else 0.0


@runtime_checkable
class Inspected(Protocol):
    """Whoever can say how evidence stands: a detector, or one of its watches."""

    def standing(self, node: NodeName) -> tuple[Standing, ...]:
        """Every kind of evidence about a node and its GPUs and ranks, also where there is none."""
        ...

    def holds(self, node: NodeName) -> tuple[Hold, ...]:
        """What keeps everything from being said of a node, whatever the evidence."""
        ...
