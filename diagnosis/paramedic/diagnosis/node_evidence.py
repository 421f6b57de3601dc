"""The strongest of what speaks against a node, and when it began."""

from __future__ import annotations

from dataclasses import dataclass

from paramedic.diagnosis.beginnings import OF_NODES_SECONDS

SUSPECT = 1 / 3
"""A row with so much of the evidence that decides is suspected."""


@dataclass(frozen=True, slots=True)
class NodeEvidence:
    """Of the row that has most of it."""

    strength: float
    """As a share of what decides."""
    since: int

    def began_about(self, second: int) -> bool:
        """Whether the node is suspected since about this second."""
        return self.strength >= SUSPECT and abs(self.since - second) <= OF_NODES_SECONDS
