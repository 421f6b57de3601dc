"""What is under declared maintenance, as the events of a job say it.

An event of kind `maintenance` says all there is to say: `id`, `change` (`declared` or `ended`),
`begins`, `ends`, `reason`; without a node it is about the whole job. Of one id and node the newest
word holds, so the order of arrival does not matter. Answers are functions of event time alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.ingest.contract import EventKind, parse_time

if TYPE_CHECKING:
    from paramedic.ingest.contract import Event, NodeName

_MEMORY_SECONDS = 7200.0
"""What has been over for longer is forgotten; windows are shorter."""


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """How declared maintenance is understood."""

    settle_seconds: float = 60.0
    """So long after its end a machine is still put aside: it has to start, warm up and catch up."""


@dataclass(frozen=True, slots=True)
class Stay:
    """One node's time under maintenance, or the whole job's; in Unix seconds."""

    node: NodeName | None
    begins: float
    ends: float
    """Infinite until somebody says that it is over."""
    said_at: tuple[float, bool]
    """When this was said, and whether it was the word of its end, which outdoes the other."""
    reason: str = ""


@dataclass(slots=True)
class MaintenancePlan:
    """Who is put aside, and when."""

    settings: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    _stays: dict[tuple[str, NodeName | None], Stay] = field(default_factory=dict)
    _stopped: set[NodeName] = field(default_factory=set)
    """Nodes whose failure was put aside: they explain why the job stands still."""

    def record(self, event: Event) -> None:
        """An event has arrived. One whose times cannot be read silences nobody."""
        if event.kind is not EventKind.MAINTENANCE:
            return
        key = (str(event.details.get("id", "")), event.node)
        known = self._stays.get(key)
        stay = _stay_of(event, known)
        if stay is not None and (known is None or stay.said_at >= known.said_at):
            self._stays[key] = stay
            self._forget(event.timestamp.timestamp())

    def nodes_at(self, second: float) -> frozenset[NodeName]:
        """The nodes that are put aside in this second; the whole job's maintenance names none."""
        if not self._stays:
            return frozenset()
        return frozenset(one.node for one in self._at(second) if one.node is not None)

    def covers_job(self, second: float) -> bool:
        """Whether the job as a whole is put aside."""
        return bool(self._stays) and any(one.node is None for one in self._at(second))

    def covers(self, node: NodeName | None, second: float) -> bool:
        """Whether nothing may be said of this node; None asks about the job."""
        return self.covers_job(second) or (node is not None and node in self.nodes_at(second))

    def stay_of(self, node: NodeName, second: float) -> Stay | None:
        """Why nothing may be said of this node: of several the one that lasts longest."""
        found = (one for one in self._at(second) if one.node in (None, node))
        return max(found, key=lambda one: one.ends, default=None)

    def of_job(self) -> list[tuple[float, float]]:
        """Begin and end (settling included) of each maintenance of the whole job."""
        settle = self.settings.settle_seconds
        return [(one.begins, one.ends + settle) for one in self._stays.values() if one.node is None]

    def note_stop(self, node: NodeName) -> None:
        """A failure of this node was put aside."""
        self._stopped.add(node)

    def explains_standstill(self, second: float) -> bool:
        """Whether a node that is put aside now has failed: then it is known why the job stands."""
        return bool(self._stopped) and bool(self._stopped & self.nodes_at(second))

    def _at(self, second: float) -> list[Stay]:
        settle = self.settings.settle_seconds
        return [
            one
            for one in self._stays.values()
            # What was withdrawn before it began has neither length nor settling.
            if one.begins <= second < one.ends + settle and one.begins < one.ends
        ]

    def _forget(self, now: float) -> None:
        oldest = now - _MEMORY_SECONDS
        self._stays = {key: one for key, one in self._stays.items() if one.ends >= oldest}


def _stay_of(event: Event, known: Stay | None) -> Stay | None:
    said, is_end = event.timestamp.timestamp(), event.details.get("change") == "ended"
    try:
        begins = _time(event, "begins")
        ends = _time(event, "ends")
    except ValueError:
        return None
    if begins is None:
        begins = known.begins if known is not None and is_end else said
    if ends is None:
        ends = said if is_end else math.inf
    reason = event.details.get("reason") or ("" if known is None else known.reason)
    return Stay(event.node, begins, ends, (said, is_end), str(reason))


def _time(event: Event, name: str) -> float | None:
    """The Unix seconds of a detail. Raises ValueError when it is no time."""
    text = event.details.get(name)
    return None if text is None else parse_time(str(text)).timestamp()
