"""Why a machine, or what several share, is not accused although there is evidence enough: kept to
be told who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.diagnosis.grouping import Domain
    from paramedic.ingest.contract import NodeName

_HOLDS_SECONDS = 60
"""So long after it was last given; some are given only when evidence reaches the level anew."""


class Excuse(StrEnum):
    """In the words in which it is told, before the figures that say how far it holds."""

    BUSY = (
        "its host, or that of one that began with it, is busy with something else, which is borne"
        " as long as little work is lost"
    )
    NO_LONGER_BUSY = (
        "its host was busy with something else, which cost the job some work and is over"
    )
    CHAINED = (
        "it only works differently, as all do who work on one copy of the model, or exchange"
        " tokens, with a node that is accused"
    )
    CLOCK = "its clock is off: moved by some seconds, it does what its peers do"
    CROWD = "more nodes stand apart than are ever accused at once: that is nobody's in particular"
    DOMAIN = (
        "what it shares a switch, a rack or a stage with departs in the same way, and they are"
        " accused together"
    )
    FAILED = "it has failed or left, and of such a node nothing more is said"
    FOLLOWS = "the job stands still because another has failed: it only waits"
    MISSED = (
        "another node is heard of no more since about the same time: it may wait for that one,"
        " until the silence has lasted long"
    )
    ILL_BEFORE = (
        "one of its nodes was ill before, and what drops packets at one congests all that share"
        " the switch: that node is accused alone"
    )
    NO_PART = (
        "the job stands still, and its host is only busy: since before that, or as that of who"
        " saves the job's state is"
    )
    PAST = "what spoke against it is not to be seen any more"
    SECOND = (
        "another node is accused since before, and most who look odd then wait for it: more is"
        " needed"
    )
    SMALL = (
        "it differs from its peers by less than anybody would miss: too little of it is said by"
        " metrics that differ enough"
    )
    SOON = "what all GPUs of a node show together is given some seconds to pass"
    TOLD = "a verdict that is open tells of it already, such as that of a group that it belongs to"
    VICTIM = (
        "others depart in the same way, and it waits for one of them: a cause stands apart by more"
        " of its own departure"
    )
    WAITS = (
        "another node is suspected since about the same time: in some seconds it is seen who"
        " stands apart"
    )
    WAS_BUSY = (
        "its host was busy with something else, which explained it: most of the evidence of then"
        " is dropped"
    )
    WEAKER = "another stands apart much farther, and this one is taken for its victim"


_UNITS = {
    Excuse.BUSY: "s",
    Excuse.CROWD: "nodes",
    Excuse.DOMAIN: "%",
    Excuse.MISSED: "s",
    Excuse.SECOND: "nats",
    Excuse.SMALL: "%",
    Excuse.SOON: "s",
    Excuse.VICTIM: "%",
    Excuse.WAITS: "s",
    Excuse.WEAKER: "%",
}


@dataclass(frozen=True, slots=True)
class Hold:
    """What keeps evidence from deciding, and how far it is from giving way."""

    why: str
    now: float | None = None
    needed: float | None = None
    """Where it gives way, of the same unit: from below, or from above where there is more now;
    None where no amount makes it give way."""
    unit: str = ""

    @property
    def text(self) -> str:
        """In one line.

        >>> Hold("it is given some seconds", 4.0, 9.0, "s").text
        'it is given some seconds (4 of 9 s)'
        >>> Hold("too many stand apart", 7, 3, "nodes").text
        'too many stand apart (7 nodes, where 3 are the most)'
        >>> Hold("its clock is off").text
        'its clock is off'
        """
        if self.now is None or self.needed is None:
            return self.why
        unit = f" {self.unit}".rstrip()
        if self.now > self.needed:
            return f"{self.why} ({self.now:.3g}{unit}, where {self.needed:.3g} are the most)"
        return f"{self.why} ({self.now:.3g} of {self.needed:.3g}{unit})"


@dataclass(slots=True)
class Excuses:
    """The newest of each node, and of each domain that nodes share."""

    _given: dict[NodeName | Domain, tuple[Hold, int]] = field(default_factory=dict)

    def give(
        self,
        whose: NodeName | Domain,
        excuse: Excuse,
        second: int,
        now: float | None = None,
        needed: float | None = None,
    ) -> None:
        """It is not accused in this second, although evidence would decide; how far that holds."""
        self._given[whose] = Hold(excuse.value, now, needed, _UNITS.get(excuse, "")), second

    def of(self, whose: NodeName | Domain, second: int) -> Hold | None:
        """What still holds in this second."""
        hold, given = self._given.get(whose, (None, 0))
        return hold if second - given <= _HOLDS_SECONDS else None
