"""A recording as a history: through the windows of a live run, slot by slot.

What was late live is not used, a clock that was off is re-based, holes stay holes, and slots are as
wide as the source was slow. Memory holds the result and no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from paramedic.ingest.contract import Entity, Event, EventKind, JobState, TelemetryBatch, Window
from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.recordings.errors import RecordingFormatError
from paramedic.ingest.recordings.introducing import introduced
from paramedic.ingest.recordings.moment import Moment
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.recording import Recording
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows
from paramedic.models.histories.growing import BLOCK_SLOTS, GrowingPast, runs
from paramedic.models.history import JobHistory

LONGEST_HOLE_SECONDS = 3600
"""After a longer silence another history begins: nobody learns from hours of nothing."""


def history_of(folder: Path) -> JobHistory:
    """The longest stretch of a recording.

    Raises RecordingFormatError when it is no recording, or nothing was observed in it.
    """
    histories = histories_of(folder)
    if not histories:
        raise RecordingFormatError(
            f"{folder} holds rows and no value: there is nothing to learn from"
        )
    return max(histories, key=lambda one: len(one.seconds))


def histories_of(folder: Path) -> list[JobHistory]:
    """All stretches of a recording, the earliest first.

    A new one begins after an hour's silence, with a later run of the job, and where the source
    changes how often it samples. Raises RecordingFormatError.
    """
    recording = open_recording(folder)
    events: list[Event] = []
    moments = introduced(_noted(recording.moments(), events), recording.job)
    windows = [part for run in _runs(recording, moments) for part in run.parts()]
    return [_history(part, recording.job, events) for part in windows]


class _Run:
    """Windows of one run of the job, and what has closed in them."""

    def __init__(self, job: JobDescription, width: int) -> None:
        self._config = WindowConfig(sampling_seconds=width)
        self._windows = JobWindows(self._config, job.job)
        self._pasts = {entity: GrowingPast(entity, width) for entity in Entity}
        self._taken: int | None = None
        self._now = -math.inf
        self._is_finished = False

    def accept(self, batch: TelemetryBatch) -> None:
        """Take a batch in when stream time (the end of the newest second) has come to it."""
        now = max(self._now, batch.second + 1.0)
        if now - self._now > self._config.slots * self._config.sampling_seconds / 2:
            self._take_open_slots()
        self._now = now
        self._windows.accept(batch, now)
        if self._windows.advance(now):
            self._take(self._windows)
            self._taken = self._windows.watermark

    def record(self, event: Event) -> None:
        """Take an event in: nodes come and go."""
        self._windows.membership(event)
        if event.kind is EventKind.JOB_STATE:
            self._is_finished = event.details.get("state") == JobState.FINISHED

    def is_ended_by(self, event: Event) -> bool:
        """Whether another run begins with this event, or other slots."""
        if event.kind is not EventKind.JOB_STATE:
            return False
        width = event.details.get("sampling_seconds", self._config.sampling_seconds)
        if width != self._config.sampling_seconds:
            return isinstance(width, int) and width >= 1
        goes_back = event.generation is not None and event.generation < self._windows.generation
        is_start = event.details.get("state") == JobState.STARTING
        return is_start and (self._is_finished or goes_back)

    def following(self, event: Event, job: JobDescription) -> _Run:
        """The run that begins with this event."""
        width = event.details.get("sampling_seconds", self._config.sampling_seconds)
        return _Run(job, width if isinstance(width, int) else self._config.sampling_seconds)

    def parts(self) -> Iterator[dict[Entity, Window]]:
        """What was observed, a window for each kind of row; one part between long holes."""
        self._take_open_slots()
        if self._windows.watermark is None:
            return
        likes = {entity: self._windows.window(entity) for entity in Entity}
        hole = LONGEST_HOLE_SECONDS // self._config.sampling_seconds
        for slots in runs(self._pasts, max(hole, BLOCK_SLOTS)):
            present = [entity for entity, past in self._pasts.items() if past.touches(slots)]
            yield {entity: self._pasts[entity].release(slots, likes[entity]) for entity in present}

    def _take(self, windows: JobWindows) -> None:
        for entity, past in self._pasts.items():
            past.put(windows.window(entity), self._taken)

    def _take_open_slots(self) -> None:
        """Look at what is not closed yet in a copy: a long silence would close it unseen."""
        if self._now == -math.inf:
            return
        copy = JobWindows.resume(self._config, self._windows.snapshot())
        config = self._config
        patience = config.silence_seconds + config.lateness_seconds + 2 * config.sampling_seconds
        for waited in range(math.ceil(patience) + 1):
            if copy.advance(self._now + waited):
                self._take(copy)


def _runs(recording: Recording, moments: Iterable[Moment]) -> list[_Run]:
    run = _Run(recording.job, max(1, math.ceil(recording.job.sampling_seconds)))
    past = [run]
    for moment in moments:
        if isinstance(moment.fact, TelemetryBatch):
            run.accept(moment.fact)
            continue
        if run.is_ended_by(moment.fact):
            run = run.following(moment.fact, recording.job)
            past.append(run)
        run.record(moment.fact)
    return past


def _noted(moments: Iterable[Moment], events: list[Event]) -> Iterator[Moment]:
    """The moments; the events among them are noted as they pass."""
    for moment in moments:
        if isinstance(moment.fact, Event):
            events.append(moment.fact)
        yield moment


def _history(windows: dict[Entity, Window], job: JobDescription, events: list[Event]) -> JobHistory:
    """Earlier events stay: they tell what the job was doing when the history began."""
    history = JobHistory(job.job, windows, job)
    end = history.seconds[-1] + history.seconds.step
    known = (event for event in events if event.timestamp.timestamp() < end)
    return replace(history, events=tuple(sorted(known, key=lambda one: one.timestamp)))
