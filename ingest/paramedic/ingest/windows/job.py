"""The windows of one job: takes batches and membership in, gives closed windows out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Entity, Event, JobName, Window
from paramedic.ingest.windows.counters import Fate, Tally, WindowCounters
from paramedic.ingest.windows.crowd import Plans, TablePlan
from paramedic.ingest.windows.errors import ForeignBatchError, WindowNotHeldError
from paramedic.ingest.windows.roster import Roster
from paramedic.ingest.windows.slots import EntitySlots
from paramedic.ingest.windows.snapshot import WindowsSnapshot
from paramedic.ingest.windows.tables import TableBlock
from paramedic.ingest.windows.timeline import Place, Timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName, TelemetryBatch
    from paramedic.ingest.windows.clocks import RebasedClock
    from paramedic.ingest.windows.configuration import WindowConfig


class JobWindows:
    """Aligns the telemetry of one job to slots by event time; a slot goes by its first second.

    Deterministic: the same batches in the same order with the same arrival times give the same
    windows, and any order within the allowed lateness gives the same closed slots. Not safe to be
    used from several threads.
    """

    def __init__(
        self, config: WindowConfig, job: JobName, snapshot: WindowsSnapshot | None = None
    ) -> None:
        if snapshot is not None:
            config = replace(config, sampling_seconds=snapshot.sampling_seconds)
        self._config = config
        self._job = job
        self._roster = Roster(snapshot.roster if snapshot else None)
        self._timeline = Timeline(config, snapshot.timeline if snapshot else None)
        parts = {part.entity: part for part in snapshot.slots} if snapshot else {}
        self._slots = {
            entity: EntitySlots(entity, config.room, parts.get(entity)) for entity in Entity
        }
        self._late: dict[Entity, dict[NodeName, int]] = {entity: {} for entity in Entity}
        for entity, nodes in (snapshot.late if snapshot else {}).items():
            self._late[entity].update(nodes)
        self._plans = Plans()
        self._read: dict[Entity, tuple[int, Window]] = {}
        """The window of each kind that was read last, and its newest slot, while it is valid."""
        self._tally = Tally(snapshot.counts if snapshot else None)

    @classmethod
    def resume(cls, config: WindowConfig, snapshot: WindowsSnapshot) -> JobWindows:
        """Go on where a snapshot was taken, with the settings it was taken with.

        The width of slots is that of the snapshot.
        """
        return cls(config, snapshot.job, snapshot)

    def snapshot(self) -> WindowsSnapshot:
        """A copy of the whole state."""
        return WindowsSnapshot(
            job=self._job,
            sampling_seconds=self._config.sampling_seconds,
            roster=self._roster.snapshot(),
            timeline=self._timeline.snapshot(),
            slots=tuple(slots.snapshot() for slots in self._slots.values()),
            counts=self._tally.snapshot(),
            late={entity: dict(nodes) for entity, nodes in self._late.items()},
        )

    def accept(self, batch: TelemetryBatch, arrived_seconds: float) -> None:
        """Take a batch in; `arrived_seconds` is the observer's clock (Unix seconds).

        Raises ForeignBatchError, and takes nothing in, when the batch is of another job or does
        not hold together.
        """
        if batch.job != self._job:
            raise ForeignBatchError(
                f"batch of job {batch.job!r} came to the windows of {self._job!r}: route by job"
            )
        self._read.clear()
        blocks = [TableBlock(table) for table in batch.tables]
        self._roster.hear(batch.generation)
        plan = self._plans.plan(batch.tables, self._roster)
        placement = self._timeline.place(
            plan.crowd, batch.second, arrived_seconds, batch.shard, batch.shards
        )
        if placement.begins_anew:
            for slots in self._slots.values():
                slots.clear()
        for table, block in zip(plan.tables, blocks, strict=True):
            self._tally.add(Fate.DEPARTED, len(table) - table.present.size)
            if table.entity is Entity.RANK:
                self._renew(table, batch.generation)
                self._tally.add(Fate.STALE_GENERATION, table.present.size - table.current.size)
            for place in placement.places:
                self._write(table, block, place)

    def membership(self, event: Event) -> None:
        """Take a membership event in; events of other kinds change nothing.

        A node that left, or was replaced, is out of the live set and of all windows from now on,
        past included; what still comes from it is refused until it joins again.
        """
        self._read.clear()
        gone = self._roster.apply(event)
        if gone is not None:
            self._timeline.clocks.forget([gone])
            for slots in self._slots.values():
                slots.forget(lambda row: row[0] == gone)
            for nodes in self._late.values():
                nodes.pop(gone, None)

    def resample(self, sampling_seconds: int) -> None:
        """Go on with slots of this width; what was seen in slots of another width is let go.

        Raises WindowSettingError when it is no whole number of seconds.
        """
        if sampling_seconds == self._config.sampling_seconds:
            return
        self._read.clear()
        config = self._config = replace(self._config, sampling_seconds=sampling_seconds)
        self._timeline = Timeline(config)
        self._slots = {entity: EntitySlots(entity, config.room) for entity in Entity}
        self._plans = Plans()

    def advance(self, now_seconds: float) -> list[int]:
        """The slots that have closed since the last call, oldest first, by their first seconds.

        `now_seconds` is the observer's clock; it moves the watermark only when telemetry does not.
        Call it after everything that has arrived was accepted. Slots beyond the history are left
        out and their seconds counted.
        """
        closed, skipped = self._timeline.advance(now_seconds)
        self._tally.add("skipped_seconds", skipped)
        return closed

    def window(self, entity: Entity) -> Window:
        """The window that ends in the newest closed slot; see `window_at`.

        Raises WindowNotHeldError before anything is closed.
        """
        closed = self.watermark
        if closed is None:
            raise WindowNotHeldError(
                f"job {self._job!r}: no second is closed yet, so there is no {entity} window;"
                " wait until advance() returns one"
            )
        return self.window_at(entity, closed)

    def window_at(self, entity: Entity, second: int) -> Window:
        """The window that ends in a closed slot, at most `history_seconds` before the newest.

        Its arrays are read-only views of what later telemetry goes on writing: they are valid
        until the next call of `accept`, `membership`, `window` or `window_at`; copy what has to
        last. Raises WindowNotHeldError when the slot is open, or older than the history.
        """
        self._require_held(entity, second)
        return self.window_until(entity, second)

    def window_until(self, entity: Entity, second: int) -> Window:
        """The window that ends in a slot, which may be open: what has been heard of it so far.

        Of slots that are no longer held, or not yet, nothing is observed. Views as of `window_at`.
        """
        last = second // self._config.sampling_seconds
        known = self._read.get(entity)
        if known is None or known[0] != last:
            known = self._read[entity] = last, self._window_until(entity, last)
        return known[1]

    def is_heard(self, entity: Entity, second: int) -> bool:
        """Whether any row of this kind has come of a slot that is held."""
        return self._slots[entity].is_heard(second // self._config.sampling_seconds)

    def _window_until(self, entity: Entity, last: int) -> Window:
        config, slots = self._config, self._slots[entity]
        first = last - config.slots + 1
        keep_from = self._keep_from(last * config.sampling_seconds)
        values, observed = slots.read(first, last, keep_from)
        return Window(
            job=self._job,
            generation=self._roster.generation,
            entity=entity,
            first_second=first * config.sampling_seconds,
            rows=slots.row_keys(),
            metrics=slots.metrics(),
            values=values,
            observed=observed,
            slot_seconds=config.sampling_seconds,
        )

    def closed_by(self, second: int) -> int:
        """The slot that is closed at the latest when half of the live nodes reach this second."""
        return self._config.on_grid(second - self._config.lateness_seconds)

    @property
    def slot_seconds(self) -> int:
        """The width of a slot."""
        return self._config.sampling_seconds

    def late(self, entity: Entity) -> Mapping[NodeName, int]:
        """Nodes whose rows have come too late to be used, and at which closed second they did so
        last: what comes late is not lost."""
        return self._late[entity]

    def rebased_clocks(self) -> tuple[RebasedClock, ...]:
        """The nodes whose clock is off and whose seconds are moved, by name."""
        return self._timeline.clocks.rebased()

    def counters(self) -> WindowCounters:
        """What became of the rows that arrived."""
        return self._tally.counters()

    @property
    def watermark(self) -> int | None:
        """The newest closed slot, by its first second; it never goes back.

        None as long as nothing is closed.
        """
        return self._timeline.watermark.closed

    @property
    def generation(self) -> int:
        """The newest generation that telemetry or membership spoke of."""
        return self._roster.generation

    def _renew(self, table: TablePlan, generation: int) -> None:
        """Find the rank rows whose generation is not over.

        A newer generation ends the older rows of its ranks and of its nodes, past included.
        """
        if table.current_as_of == (generation, self._roster.renewals):
            return
        rows = table.rows(table.present)
        current = [self._roster.is_current(row, generation) for row in rows]
        here = {row for row, is_current in zip(rows, current, strict=True) if is_current}
        renewed = self._roster.renew(here, generation)
        if renewed:
            self._slots[Entity.RANK].forget(
                lambda row: row not in here and not renewed.isdisjoint(row)
            )
        table.current = table.present[current]
        table.current_as_of = (generation, self._roster.renewals)

    def _write(self, table: TablePlan, block: TableBlock, place: Place) -> None:
        chosen = table.current
        if place.members is not None:
            chosen = chosen[place.members[table.members[chosen]]]
        self._tally.add(place.fate, chosen.size)
        self._tally.add("rebased", chosen.size if place.is_rebased else 0)
        if place.fate is Fate.LATE:
            here = self.watermark or place.second
            self._late[table.entity].update((node, here) for node, _ in table.rows(chosen))
        elif place.fate is Fate.ACCEPTED:
            self._write_rows(table, block, chosen, place.second)

    def _write_rows(
        self, table: TablePlan, block: TableBlock, chosen: NDArray[np.intp], second: int
    ) -> None:
        slots = self._slots[table.entity]
        whole = chosen.size == len(table)
        duplicates = slots.write(
            second // self._config.sampling_seconds,
            self._keep_from(second),
            table.places(chosen, slots),
            block.metrics,
            block.values if whole else block.values[:, chosen],
        )
        self._tally.add("duplicate", duplicates)

    def _keep_from(self, second: int) -> int:
        """The oldest slot that is still of use, when this second is about to be used."""
        return self._timeline.watermark.keep_from(second) // self._config.sampling_seconds

    def _require_held(self, entity: Entity, second: int) -> None:
        closed = self.watermark
        width = self._config.sampling_seconds
        oldest = None if closed is None else closed - self._config.history_slots * width
        held = () if closed is None or oldest is None else range(oldest, closed + 1, width)
        if second not in held:
            raise WindowNotHeldError(
                f"job {self._job!r}: no {entity} window ends in second {second}; held are"
                f" {oldest} to {closed}, every {width} s"
            )
