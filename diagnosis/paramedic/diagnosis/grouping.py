"""What nodes can share, and those of them that depart together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName


class DomainKind(StrEnum):
    """What nodes can share, the narrowest cause first."""

    SWITCH = "switch"
    RACK = "rack"
    STAGE = "stage"
    """A pipeline stage."""


class Domain(NamedTuple):
    """One switch, rack or stage."""

    kind: DomainKind
    name: str


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes of one domain that depart together."""

    domain: Domain
    members: tuple[NodeName, ...]
    """By name, at least three."""
    since: float
    """When the evidence began (Unix seconds)."""
