"""Sources that turn blind and come back: one line for all nodes that do so together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from paramedic.api.wiring.wording import counted
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from paramedic.ingest.contract import Event

_STATES = {"source_blind": "away", "source_back": "back"}
_WHOSE = {"gpu": "GPU", "node": "host"}
_GATHERING_SECONDS = 2.0
_APART_SECONDS = 10.0
_NAMES_SHOWN = 8


@dataclass(slots=True)
class _Group:
    """What one line will say."""

    at: datetime
    held_since: float
    whose: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Of each node, which of its sources."""


class Outages:
    """Holds what sources said for a moment. Times (seconds) are any steady clock's."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], _Group] = {}
        """By job and change."""
        self._told_at: dict[tuple[str, str], float] = {}

    def takes(self, event: Event, now: float) -> bool:
        """Whether the event is of a source, and is told later."""
        change = str(event.details.get("change"))
        if change not in _STATES or event.node is None:
            return False
        key = event.job, change
        group = self._groups.setdefault(key, _Group(event.timestamp, now))
        group.whose[event.node].add(_WHOSE.get(str(event.details.get("entity")), ""))
        return True

    def due(self, now: float) -> Iterator[str]:
        """Lines of whatever has been held for long enough; infinity gives all."""
        for key, group in list(self._groups.items()):
            told_at = self._told_at.get(key, -math.inf)
            if now >= max(group.held_since + _GATHERING_SECONDS, told_at + _APART_SECONDS):
                del self._groups[key]
                self._told_at[key] = now
                yield from _lines(*key, group)


def _lines(job: str, change: str, group: _Group) -> Iterator[str]:
    """A line for all nodes of which the same sources are meant."""
    nodes: dict[str, list[str]] = defaultdict(list)
    for node, whose in group.whose.items():
        nodes[" and ".join(sorted(whose - {""}))].append(node)
    for what, names in nodes.items():
        listed = some_names(sorted(names), _NAMES_SHOWN)
        which = f" ({what})" if what else ""
        yield (
            f"{group.at.astimezone(UTC):%H:%M:%SZ} job {job}: telemetry of "
            f"{counted(len(names), 'node')}{which} is {_STATES[change]}: {listed}"
        )
