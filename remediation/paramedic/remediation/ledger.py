"""The goodput ledger: every moment of a job's life in exactly one class. Pure functions.

The life is cut wherever anything changes, each piece is given its class, and neighbours that are
alike are joined: without overlap or hole by construction.

- Until the first `training` everything is starting.
- A fault that stops the job takes the time from its onset, although the job's state still said
  training: detection until it is known (a verdict, or the supervisor recovering), localisation
  until a machine is named, recovery until the job trains again or the verdict is resolved.
- After a recovery, steps that are done again are recomputation, for as long as steps took before.
- A fault that only slows the job down leaves the time productive, and so does evaluation.
- While a recovery says that it waits for a worker, because no spare was ready, the time is waiting
  for capacity; it ends when a worker takes the rank.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Event, JobName, JobState
from paramedic.remediation.contract import LedgerClass, LedgerRow
from paramedic.remediation.life import (
    StateChange,
    Stop,
    Trouble,
    VerdictLife,
    exits,
    newest_life,
    state_changes,
    stops,
    trouble_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

_CLASSES = {
    JobState.STARTING: LedgerClass.RECOVERY,
    JobState.WARMING_UP: LedgerClass.RECOVERY,
    JobState.RECOVERING: LedgerClass.RECOVERY,
    JobState.RESIZING: LedgerClass.RECOVERY,
    JobState.TRAINING: LedgerClass.PRODUCTIVE,
    JobState.EVALUATING: LedgerClass.PRODUCTIVE,
    JobState.CHECKPOINTING: LedgerClass.CHECKPOINT,
    JobState.SUSPENDED: LedgerClass.SUSPENDED,
    JobState.FINISHED: LedgerClass.SUSPENDED,
}
"""After the first `training`. An end is never followed by anything within one life."""

_LOST = frozenset(
    {
        LedgerClass.DETECTION,
        LedgerClass.LOCALISATION,
        LedgerClass.RECOVERY,
        LedgerClass.WAITING_FOR_CAPACITY,
    }
)


def book(
    job: JobName, events: Sequence[Event], lives: Iterable[VerdictLife], until: datetime
) -> tuple[LedgerRow, ...]:
    """The ledger of a job's newest life, from its first state to its end or to `until`."""
    changes = newest_life(state_changes(events))
    return rows_of(job, changes, [*map(trouble_of, lives), *exits(events)], until)


def goodput(rows: Iterable[LedgerRow]) -> float | None:
    """Productive share of the wall time, 0..1; None without any time."""
    total = productive = timedelta()
    for row in rows:
        length = row.ended_at - row.started_at
        total += length
        if row.spent_on is LedgerClass.PRODUCTIVE:
            productive += length
    return productive / total if total else None


def rows_of(
    job: JobName, changes: Sequence[StateChange], troubles: Sequence[Trouble], until: datetime
) -> tuple[LedgerRow, ...]:
    """Rows without overlap or hole from the first change to the end or to `until`."""
    if not changes:
        return ()
    is_over = changes[-1].state is JobState.FINISHED
    end = changes[-1].at if is_over else max(until, changes[-1].at)
    view = _View.of(changes, troubles, end)
    pieces = [
        LedgerRow(job, view.class_at(left), left, right, view.incident_at(left))
        for left, right in pairwise(view.cuts(changes[0].at, end))
    ]
    return tuple(_joined(_with_recomputation(pieces, changes)))


@dataclass(frozen=True, slots=True)
class _View:
    """Answers what is true at one moment."""

    changes: Sequence[StateChange]
    change_times: Sequence[datetime]
    troubles: Sequence[Trouble]
    stops: Sequence[Stop]
    first_training: datetime

    @classmethod
    def of(
        cls, changes: Sequence[StateChange], troubles: Sequence[Trouble], end: datetime
    ) -> _View:
        trainings = (change.at for change in changes if change.state is JobState.TRAINING)
        return cls(
            changes=changes,
            change_times=[change.at for change in changes],
            troubles=troubles,
            stops=stops(changes, troubles, end),
            first_training=next(trainings, end),
        )

    def cuts(self, start: datetime, end: datetime) -> list[datetime]:
        moments = {start, end, *self.change_times}
        for stop in self.stops:
            moments |= {stop.onset, stop.known_at, stop.named_at, stop.over_at}
        for trouble in self.troubles:
            moments |= {trouble.known_at, trouble.resolved_at or end}
        return sorted(moment for moment in moments if start <= moment <= end)

    def class_at(self, moment: datetime) -> LedgerClass:
        change = self.changes[bisect_right(self.change_times, moment) - 1]
        spent_on = self._class_in(change.state, moment)
        is_waiting = change.waits and spent_on is LedgerClass.RECOVERY
        return LedgerClass.WAITING_FOR_CAPACITY if is_waiting else spent_on

    def _class_in(self, state: JobState, moment: datetime) -> LedgerClass:
        if state is JobState.SUSPENDED:
            return LedgerClass.SUSPENDED
        if moment < self.first_training:
            return LedgerClass.STARTING
        stop = next(iter(self._stops_at(moment)), None)
        if stop is None:
            return _CLASSES[state]
        if moment < stop.known_at:
            return LedgerClass.DETECTION
        return LedgerClass.LOCALISATION if moment < stop.named_at else LedgerClass.RECOVERY

    def incident_at(self, moment: datetime) -> str | None:
        if self.class_at(moment) not in _LOST:
            return None
        held_up = [stop.incident for stop in self._stops_at(moment)]
        known = [trouble.incident for trouble in self.troubles if _is_known(trouble, moment)]
        return next((incident for incident in [*held_up, *known] if incident is not None), None)

    def _stops_at(self, moment: datetime) -> list[Stop]:
        return [stop for stop in self.stops if stop.onset <= moment < stop.over_at]


def _is_known(trouble: Trouble, moment: datetime) -> bool:
    is_resolved = trouble.resolved_at is not None and trouble.resolved_at <= moment
    return trouble.known_at <= moment and not is_resolved


@dataclass(slots=True)
class _Redoing:
    """Counts steps and productive time, to know how long lost steps take to do again."""

    productive: timedelta = timedelta()
    first: tuple[int, timedelta] | None = None
    """The first step that was told, and the productive time before it."""
    owed: timedelta = timedelta()

    def enter(self, change: StateChange) -> None:
        if change.state is not JobState.TRAINING or change.step is None:
            return
        if self.first is None:
            self.first = (change.step, self.productive)
            return
        first_step, before = self.first
        done = change.step + change.steps_lost - first_step
        if done > 0:
            self.owed += (self.productive - before) * min(change.steps_lost / done, 1.0)

    def pay(self, piece: LedgerRow, incident: str | None) -> list[LedgerRow]:
        length = piece.ended_at - piece.started_at
        redone = min(self.owed, length)
        self.owed -= redone
        self.productive += length - redone
        turn = piece.started_at + redone
        again = replace(piece, spent_on=LedgerClass.RECOMPUTATION, ended_at=turn, incident=incident)
        return [row for row in (again, replace(piece, started_at=turn)) if _has_length(row)]


def _with_recomputation(
    pieces: Iterable[LedgerRow], changes: Iterable[StateChange]
) -> list[LedgerRow]:
    entered: dict[datetime, list[StateChange]] = {}
    for change in changes:
        entered.setdefault(change.at, []).append(change)
    redoing = _Redoing()
    rows: list[LedgerRow] = []
    incident: str | None = None
    for piece in pieces:
        for change in entered.get(piece.started_at, ()):
            redoing.enter(change)
        if piece.spent_on is LedgerClass.PRODUCTIVE:
            rows += redoing.pay(piece, incident)
        else:
            rows.append(piece)
            incident = piece.incident
    return rows


def _has_length(row: LedgerRow) -> bool:
    return row.ended_at > row.started_at


def _joined(rows: Iterable[LedgerRow]) -> list[LedgerRow]:
    joined: list[LedgerRow] = []
    for row in rows:
        last = joined[-1] if joined else None
        if last and (last.spent_on, last.incident) == (row.spent_on, row.incident):
            joined[-1] = replace(last, ended_at=row.ended_at)
        else:
            joined.append(row)
    return joined
