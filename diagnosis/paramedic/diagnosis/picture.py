"""What the events say about a job: what it is doing, and which nodes have left it.

Answers are functions of the events' own times, so the order of arrival does not matter.
"""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from paramedic.diagnosis.maintenance.plan import MaintenancePlan
from paramedic.ingest.contract import EventKind, JobState

if TYPE_CHECKING:
    from typing import Protocol

    from paramedic.ingest.contract import Event, NodeName

    class Settling(Protocol):
        """How many seconds nothing is compared after something has begun."""

        @property
        def settle_seconds(self) -> int:
            """After the job began to train, or a generation began."""

        @property
        def pause_settle_seconds(self) -> int:
            """After a checkpoint or an evaluation."""


_PAUSES = (JobState.CHECKPOINTING, JobState.EVALUATING)
"""The job stands still on purpose and goes on as before."""
_GOES_ON = (*_PAUSES, JobState.TRAINING)
_STATES = frozenset(JobState)
_GENERATIONS_KEPT = 7
_MEMORY_SECONDS = 900
"""Older changes are forgotten; windows are far shorter."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """A beginning of training that lasts, pauses aside."""

    begun: float
    """Unix seconds."""
    generation: int


@dataclass(slots=True)
class JobPicture:
    """A job's states, generations and departures so far."""

    generation: int = -1
    departed: frozenset[NodeName] = frozenset()
    """The nodes that have left, were replaced, or whose process has ended."""
    maintenance: MaintenancePlan = field(default_factory=MaintenancePlan)
    """Who is put aside on purpose, and when."""
    _members: dict[NodeName, tuple[float, bool]] = field(default_factory=dict)
    """When a node last came or went (Unix seconds), and whether it is gone since."""
    _states: list[tuple[float, JobState, int]] = field(default_factory=list)
    """When each state began (Unix seconds), and in which generation."""
    _beginnings: list[int] = field(default_factory=list)
    """The first second of each generation."""
    _sent_home: float = -math.inf
    """When a spare was last asked to end (Unix seconds)."""

    @property
    def finished(self) -> bool:
        """Whether the job's steps are over."""
        return bool(self._states) and self._states[-1][1] is JobState.FINISHED

    @property
    def doing(self) -> JobState:
        """What the job does now; one without events counts as training."""
        return self._states[-1][1] if self._states else JobState.TRAINING

    @property
    def training_since(self) -> float | None:
        """When the present state of training began (Unix seconds); None while it does not train.

        A job without events counts as training. One that sends its spares home is at its end.
        """
        begun, state, _ = self._states[-1] if self._states else (0.0, JobState.TRAINING, 0)
        if state is not JobState.TRAINING or self._sent_home >= begun or not self._beginnings:
            return None
        return max(begun, self._beginnings[-1])

    @property
    def resumption(self) -> Resumption | None:
        """When and in which generation the job began to train; None while it does not."""
        found = None
        for begun, state, generation in reversed(self._states):
            if state not in _GOES_ON:
                break
            found = Resumption(begun, generation) if state is JobState.TRAINING else found
        return found

    def is_another_run(self, event: Event) -> bool:
        """Whether the event is the start of a later run of a job of this name."""
        if not self._states or event.details.get("state") != JobState.STARTING:
            return False
        goes_back = event.generation is not None and event.generation < self.generation
        is_newer = event.timestamp.timestamp() > self._states[-1][0]
        return is_newer and (self.finished or goes_back)

    def see(self, second: int, generation: int) -> None:
        """Telemetry of this second and generation has arrived."""
        if generation > self.generation:
            self.generation = generation
            self._beginnings = [*self._beginnings[-_GENERATIONS_KEPT:], second]
        elif generation == self.generation:
            # Batches come out of order: the oldest second of a generation is its beginning.
            self._beginnings[-1] = min(self._beginnings[-1], second)

    def record(self, event: Event) -> None:
        """An event has arrived."""
        if event.kind is EventKind.JOB_STATE:
            self._change_state(event)
        elif event.kind is EventKind.MAINTENANCE:
            self.maintenance.record(event)
        elif _is_sent_home(event):
            self._sent_home = max(self._sent_home, event.timestamp.timestamp())
        elif event.node is not None and _is_departure(event):
            self._move(event.node, event, gone=True)
        elif event.node is not None and event.details.get("change") == "joined":
            self._move(event.node, event, gone=False)

    def in_maintenance(self, second: float) -> frozenset[NodeName]:
        """The nodes under declared maintenance in this second: neither accused nor peers."""
        return self.maintenance.nodes_at(second)

    def is_over(self, generation: int, second: float) -> bool:
        """Whether the job has begun to train again since something of this generation happened."""
        now = self.resumption
        return now is not None and (generation < now.generation or second <= now.begun)

    def stretch(self, second: float) -> float:
        """When the stretch of training that this second belongs to began (Unix seconds).

        A new generation, and every state after which the job does not go on as before, begins one.
        What was seen in one stretch says nothing about another.
        """
        breaks = (begun for begun, state, _ in self._states if state not in _GOES_ON)
        return max((begun for begun in (*self._beginnings, *breaks) if begun <= second), default=0)

    def is_past(self, second: int) -> bool:
        """Whether the stretch that this second belongs to is known to be over."""
        return self.stretch(second) < self.stretch(math.inf)

    def is_fit(self, second: int, settings: Settling) -> bool:
        """Whether the job was training steadily in this second, so that ranks can be compared."""
        return self.fit_part(range(second, second + 1), settings)[0]

    def fit_part(self, seconds: range, settings: Settling) -> list[bool]:
        """`is_fit` of each of these seconds."""
        fit = [False] * len(seconds)
        beginnings = sorted(self._beginnings)
        for begun, next_begun in pairwise([*beginnings, math.inf]):
            _mark(fit, seconds, begun + settings.settle_seconds, next_begun, as_fit=True)
        for begun, ended, state, settle in self._stretches(settings):
            if state is not JobState.TRAINING:
                # A second in the midst of which the state began has a part in it.
                _mark(fit, seconds, math.floor(begun), ended + settle, as_fit=False)
        for begun, ended in self.maintenance.of_job():
            _mark(fit, seconds, math.floor(begun), ended, as_fit=False)
        return fit

    def pause_of(self, second: int, settings: Settling) -> tuple[JobState, float, int] | None:
        """What the job did instead of training, in this second or until lately: until when, and
        how long after that nothing is compared."""
        for begun, ended, state, settle in reversed(self._stretches(settings)):
            is_of_it = math.floor(begun) <= second < ended + settle
            if is_of_it and state is not JobState.TRAINING:
                return state, ended, settle
        return None

    def _stretches(self, settings: Settling) -> list[tuple[float, float, JobState, int]]:
        """Begin, end, state, and how long after its end nothing is compared."""
        ends = [begun for begun, *_ in self._states[1:]] + [math.inf]
        return [
            (
                begun,
                ended,
                state,
                settings.pause_settle_seconds if state in _PAUSES else settings.settle_seconds,
            )
            for (begun, state, _), ended in zip(self._states, ends, strict=False)
        ]

    def _move(self, node: NodeName, event: Event, *, gone: bool) -> None:
        moved = (event.timestamp.timestamp(), gone)
        self._members[node] = max(self._members.get(node, moved), moved)
        if self._members[node][1] != (node in self.departed):
            self.departed ^= {node}

    def _change_state(self, event: Event) -> None:
        state = str(event.details.get("state"))
        if state not in _STATES:
            return  # a newer writer's state: what it means for us is unknown, so nothing changes
        generation = self.generation if event.generation is None else event.generation
        insort(self._states, (event.timestamp.timestamp(), JobState(state), generation))
        oldest = self._states[-1][0] - _MEMORY_SECONDS
        while len(self._states) > 1 and self._states[1][0] < oldest:
            del self._states[0]


def _mark(fit: list[bool], seconds: range, begun: float, ended: float, *, as_fit: bool) -> None:
    """Marks the seconds from one moment on until the other, which is left out."""
    first = min(max(math.ceil(begun) - seconds.start, 0), len(seconds))
    last = len(seconds) if math.isinf(ended) else math.ceil(ended) - seconds.start
    count = max(0, min(last, len(seconds)) - first)
    fit[first : first + count] = [as_fit] * count


def _is_sent_home(event: Event) -> bool:
    """Whether a spare ended because it was asked to, with nothing left to wait for."""
    is_asked = event.kind is EventKind.PROCESS_EXIT and event.details.get("expected") is True
    return is_asked and event.rank is None


def _is_departure(event: Event) -> bool:
    if event.kind is EventKind.PROCESS_EXIT:
        return True
    return event.details.get("change") in ("left", "replaced_by")
