"""Why a machine with enough evidence against it is not accused: kept to be told who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName

_HOLDS_SECONDS = 60
"""So long after it was last given; some are given only when evidence reaches the level anew."""


class Excuse(StrEnum):
    """In the words in which it is told."""

    BUSY = "its host is busy with something else, which has cost the job little so far"
    CLOCK = "its clock is off: moved by some seconds, it does what its peers do"
    CROWD = "more than a third of all nodes depart: that is nobody's in particular"
    DOMAIN = "what it shares a switch, a rack or a stage with departs in the same way"
    MISSED = "another node is heard of no more since about the same time: it may wait for that one"
    SECOND = "another node is accused since before, and most who look odd then wait for it"
    SMALL = "it differs from its peers by less than anybody would miss"
    SOON = "what all GPUs of a node show together is given some seconds to pass"
    VICTIM = "others depart in the same way: it waits for one of them"
    WAITS = (
        "another node is suspected since about the same time: who stands apart is seen in seconds"
    )


@dataclass(slots=True)
class Excuses:
    """The newest of each node."""

    _given: dict[NodeName, tuple[Excuse, int]] = field(default_factory=dict)

    def give(self, node: NodeName, excuse: Excuse, second: int) -> None:
        """It is not accused in this second, although evidence would decide."""
        self._given[node] = excuse, second

    def of(self, node: NodeName, second: int) -> Excuse | None:
        """What still holds in this second."""
        excuse, given = self._given.get(node, (None, 0))
        return excuse if second - given <= _HOLDS_SECONDS else None
