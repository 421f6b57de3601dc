"""Hands the slots of one job from the thread that judges to the one that scores.

Only copies of what is new cross over: the newest slot, or all that the windows hold when whoever
scores begins anew. Handing over never waits; of what is not fetched the oldest is let go.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.portrait import Portrait

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from paramedic.ingest.contract import Event, JobName, TelemetryBatch, Window
    from paramedic.ingest.recordings.description import JobDescription
    from paramedic.ingest.windows.job import JobWindows

ROOM_SLOTS = 8
"""So many slots wait to be scored; a hitch of a few seconds costs none."""
_NEWEST = slice(-1, None)
_ALL = slice(0, None)


@dataclass(frozen=True, slots=True)
class Handover:
    """Copies of a job's windows, by kind; of nothing that goes on being written."""

    windows: Mapping[Entity, Window]
    description: JobDescription | None = None
    is_whole: bool = False
    """All that the windows hold, to begin anew with; else what is new since the one before."""

    @property
    def second(self) -> int:
        """The newest slot, by its first second."""
        return max(window.last_second for window in self.windows.values())

    @property
    def slots(self) -> int:
        """How many there are."""
        return max(len(window.seconds) for window in self.windows.values())


class JobFeed:
    """An Onlooker in the thread that judges; all else is the other thread's."""

    def __init__(self, job: JobName, clock: Callable[[], float]) -> None:
        """`clock`: seconds, steady."""
        self.job = job
        self._clock = clock
        self._portrait = Portrait(job)
        self._lock = threading.Lock()
        self._layout: Hashable = None  # None: begin anew
        self._width = 0
        self._last: tuple[int, int] = (0, 0)
        self._closed = 0
        self._is_wanted = False
        self._whole: Handover | None = None
        self._slots: deque[Handover] = deque()
        self.is_full = False
        """Whether the job has been seen for as long as a window is."""
        self.skipped = 0
        """Slots that were let go because nobody fetched them in time."""
        self.heard_at = clock()
        """When a slot last closed."""

    def see(self, batch: TelemetryBatch) -> None:
        """Take note of who is there."""
        self._portrait.see(batch)

    def hear(self, event: Event) -> None:
        """Take note of roles: they tell who is compared with whom."""
        self._portrait.hear(event)

    def slot_closed(self, windows: JobWindows, second: int) -> None:
        """Copy what has to be known of the slot."""
        every = (windows.window_at(entity, second) for entity in Entity)
        held = {window.entity: window for window in every if window.rows}
        if held:
            self.offer(held)

    def offer(self, windows: Mapping[Entity, Window]) -> None:
        """The windows that end in a slot that has just closed."""
        self.heard_at = self._clock()
        with self._lock:
            self._follow_run(next(iter(windows.values())))
            if not (self.is_full and self._is_wanted):
                return
            layout = self._layout_of(windows)
            if layout != self._layout:
                self._begin_anew(windows, layout)
            else:
                self._go_on(windows)

    def ask(self) -> None:
        """Have the next handover hold everything."""
        with self._lock:
            self._is_wanted, self._layout = True, None

    def leave(self) -> None:
        """Copy nothing more, until asked again."""
        with self._lock:
            self._is_wanted, self._layout, self._whole = False, None, None
            self._slots.clear()

    def take(self) -> Sequence[Handover]:
        """What has gathered, oldest first."""
        with self._lock:
            whole = () if self._whole is None else (self._whole,)
            taken = (*whole, *self._slots)
            self._whole = None
            self._slots.clear()
        return taken

    def _follow_run(self, window: Window) -> None:
        """Another width, or time that goes back, is another run: its window is not full yet."""
        now = window.generation, window.last_second
        if window.slot_seconds != self._width or now < self._last:
            self._width, self._closed, self.is_full = window.slot_seconds, 0, False
            self._layout = self._whole = None
            self._slots.clear()
        self._last = now
        self._closed += 1
        self.is_full = self.is_full or self._closed >= len(window.seconds)

    def _layout_of(self, windows: Mapping[Entity, Window]) -> Hashable:
        """What a scorer is made for: it serves as long as this stays."""
        parts = tuple((kind, one.rows, one.metrics) for kind, one in windows.items())
        return self._portrait.version, self._width, parts

    def _begin_anew(self, windows: Mapping[Entity, Window], layout: Hashable) -> None:
        self._layout = layout
        self._slots.clear()  # the whole windows hold these slots too
        everything = {kind: _copied(one, _ALL) for kind, one in windows.items()}
        self._whole = Handover(everything, self._portrait.description(), is_whole=True)

    def _go_on(self, windows: Mapping[Entity, Window]) -> None:
        if len(self._slots) == ROOM_SLOTS:
            self._slots.popleft()
            self.skipped += 1
        self._slots.append(Handover({kind: _copied(one, _NEWEST) for kind, one in windows.items()}))


def _copied(window: Window, slots: slice) -> Window:
    """In the order in which it lies in memory, which is several times as fast as any other."""
    return replace(
        window,
        first_second=window.seconds[slots][0],
        values=window.values[:, :, slots].copy(order="K"),
        observed=window.observed[:, :, slots].copy(order="K"),
    )
