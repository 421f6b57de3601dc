"""What a newcomer to the bus has to know of the jobs: the events that still hold, kept to be told
again.

A bus forgets events after days, and all at once when it comes back with an empty disk. What is told
again is what was told before, with its old time: whoever knows it already learns nothing new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Event, EventKind, JobState

if TYPE_CHECKING:
    from paramedic.ingest.contract import JobName

_FAREWELLS_KEPT = 1000
_Key = tuple[str, str]
"""A job, and a state of it or the node that came or left."""


class Chronicle:
    """Hears every event that is told; for one thread."""

    def __init__(self) -> None:
        self._present: dict[_Key, Event] = {}
        """Of jobs that go on, the newest word on each state and each node that is in."""
        self._gone: dict[_Key, Event] = {}
        """Nodes that have left and jobs that have ended, the oldest first: who did not hear of it
        would take them for silent."""

    def hear(self, events: Iterable[Event]) -> None:
        """Take over what is told."""
        for event in events:
            if event.kind is EventKind.JOB_STATE:
                self._hear_state(event)
            elif event.kind is EventKind.MEMBERSHIP:
                self._hear_member(event)

    def events(self) -> Sequence[Event]:
        """Everything that holds, in the order in which it happened."""
        kept = (*self._gone.values(), *self._present.values())
        return sorted(kept, key=lambda event: event.timestamp)

    @property
    def jobs(self) -> int:
        """How many jobs go on."""
        return len({job for job, _ in self._present})

    def _hear_state(self, event: Event) -> None:
        state = str(event.details.get("state"))
        if state == JobState.FINISHED.value:
            for key in [*self._keys(self._present, event.job), *self._keys(self._gone, event.job)]:
                self._present.pop(key, None)
                self._gone.pop(key, None)
            self._part((event.job, state), event)
            return
        self._put((event.job, state), event)
        self._follow_cadence(event)

    def _hear_member(self, event: Event) -> None:
        key = (event.job, f"node {event.node}")
        if event.details.get("change") == "joined":
            self._gone.pop(key, None)
            self._put(key, event)
        else:
            self._present.pop(key, None)
            self._part(key, event)

    def _follow_cadence(self, event: Event) -> None:
        """An older word on the job would set back whoever knows the newer cadence."""
        cadence = event.details.get("sampling_seconds")
        for key in self._keys(self._present, event.job):
            kept = self._present[key]
            if kept.kind is EventKind.JOB_STATE and cadence is not None:
                details = {**kept.details, "sampling_seconds": cadence}
                self._present[key] = replace(kept, details=details)

    def _put(self, key: _Key, event: Event) -> None:
        self._present.pop(key, None)
        self._present[key] = event

    def _part(self, key: _Key, event: Event) -> None:
        self._gone.pop(key, None)
        self._gone[key] = event
        if len(self._gone) > _FAREWELLS_KEPT:
            del self._gone[next(iter(self._gone))]

    @staticmethod
    def _keys(kept: dict[_Key, Event], job: JobName) -> list[_Key]:
        return [key for key in kept if key[0] == job]
