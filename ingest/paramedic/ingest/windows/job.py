"""The windows of one job: takes batches and membership in, gives closed windows out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Entity, Event, JobName, NodeName, Window
from paramedic.ingest.windows.counters import Fate, Tally, WindowCounters
from paramedic.ingest.windows.errors import ForeignBatchError, WindowNotHeldError
from paramedic.ingest.windows.roster import Roster
from paramedic.ingest.windows.slots import EntitySlots
from paramedic.ingest.windows.snapshot import WindowsSnapshot
from paramedic.ingest.windows.tables import TableBlock
from paramedic.ingest.windows.timeline import Place, Timeline

if TYPE_CHECKING:
    from paramedic.ingest.contract import TelemetryBatch
    from paramedic.ingest.windows.clocks import RebasedClock
    from paramedic.ingest.windows.configuration import WindowConfig


class JobWindows:
    """Aligns the telemetry of one job to one-second slots by event time.

    Deterministic: the same batches in the same order with the same arrival times give the same
    windows, and any order within the allowed lateness gives the same closed slots. Not safe to be
    used from several threads.
    """

    def __init__(
        self, config: WindowConfig, job: JobName, snapshot: WindowsSnapshot | None = None
    ) -> None:
        self._config = config
        self._job = job
        self._roster = Roster(snapshot.roster if snapshot else None)
        self._timeline = Timeline(config, snapshot.timeline if snapshot else None)
        self._slots = {entity: EntitySlots(entity) for entity in Entity}
        for part in snapshot.slots if snapshot else ():
            self._slots[part.entity] = EntitySlots(part.entity, part)
        self._tally = Tally(snapshot.counts if snapshot else None)

    @classmethod
    def resume(cls, config: WindowConfig, snapshot: WindowsSnapshot) -> JobWindows:
        """Go on where a snapshot was taken, with the settings it was taken with."""
        return cls(config, snapshot.job, snapshot)

    def snapshot(self) -> WindowsSnapshot:
        """A copy of the whole state."""
        return WindowsSnapshot(
            job=self._job,
            roster=self._roster.snapshot(),
            timeline=self._timeline.snapshot(),
            slots=tuple(slots.snapshot() for slots in self._slots.values()),
            counts=self._tally.snapshot(),
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
        blocks = [TableBlock(table) for table in batch.tables]
        self._roster.hear(batch.generation)
        names = dict.fromkeys(node for table in batch.tables for node in table.nodes)
        live = self._roster.live(names)
        placement = self._timeline.place(live, batch.second, arrived_seconds)
        if placement.begins_anew:
            for slots in self._slots.values():
                slots.clear()
        for block in blocks:
            chosen = self._present(block, placement.places)
            if block.entity is Entity.RANK:
                chosen = self._current(block, chosen, batch.generation)
            self._write(block, chosen, placement.places)

    def membership(self, event: Event) -> None:
        """Take a membership event in; events of other kinds change nothing.

        A node that left, or was replaced, is out of the live set and of all windows from now on,
        past included; what still comes from it is refused until it joins again.
        """
        gone = self._roster.apply(event)
        if gone is not None:
            self._timeline.clocks.forget([gone])
            for slots in self._slots.values():
                slots.forget(lambda row: row[0] == gone)

    def advance(self, now_seconds: float) -> list[int]:
        """The seconds that have closed since the last call, oldest first.

        `now_seconds` is the observer's clock; it moves the watermark only when telemetry does not.
        Call it after everything that has arrived was accepted. Seconds beyond the history are left
        out and counted.
        """
        closed, skipped = self._timeline.advance(now_seconds)
        self._tally.add("skipped_seconds", skipped)
        return closed

    def window(self, entity: Entity) -> Window:
        """The window that ends in the newest closed second.

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
        """The window that ends in a closed second, at most `history_slots` before the newest.

        Its arrays are read-only views that later telemetry never changes. Raises
        WindowNotHeldError when the second is open, or older than the history.
        """
        self._require_held(entity, second)
        slots = self._slots[entity]
        first = second - self._config.slots + 1
        values, observed = slots.read(first, second, self._timeline.watermark.keep_from(second))
        return Window(
            job=self._job,
            generation=self._roster.generation,
            entity=entity,
            first_second=first,
            rows=slots.row_keys(),
            metrics=slots.metrics(),
            values=values,
            observed=observed,
        )

    def rebased_clocks(self) -> tuple[RebasedClock, ...]:
        """The nodes whose clock is off and whose seconds are moved, by name."""
        return self._timeline.clocks.rebased()

    def counters(self) -> WindowCounters:
        """What became of the rows that arrived."""
        return self._tally.counters()

    @property
    def watermark(self) -> int | None:
        """The newest closed second; it never goes back. None as long as nothing is closed."""
        return self._timeline.watermark.closed

    @property
    def generation(self) -> int:
        """The newest generation that telemetry or membership spoke of."""
        return self._roster.generation

    def _present(self, block: TableBlock, places: Mapping[NodeName, Place]) -> list[int]:
        """The rows whose node has not left."""
        present = [at for at, (node, _) in enumerate(block.rows) if node in places]
        self._tally.add(Fate.DEPARTED, len(block.rows) - len(present))
        return present

    def _current(self, block: TableBlock, chosen: list[int], generation: int) -> list[int]:
        """The rank rows whose generation is not over.

        A newer generation ends the older rows of its ranks and of its nodes, past included.
        """
        current = [at for at in chosen if self._roster.is_current(block.rows[at], generation)]
        self._tally.add(Fate.STALE_GENERATION, len(chosen) - len(current))
        here = {block.rows[at] for at in current}
        renewed = self._roster.renew(here, generation)
        if renewed:
            self._slots[Entity.RANK].forget(
                lambda row: row not in here and not renewed.isdisjoint(row)
            )
        return current

    def _write(
        self, block: TableBlock, chosen: Iterable[int], places: Mapping[NodeName, Place]
    ) -> None:
        groups: dict[Place, list[int]] = defaultdict(list)
        for at in chosen:
            groups[places[block.rows[at][0]]].append(at)
        for place, positions in groups.items():
            self._tally.add(place.fate, len(positions))
            self._tally.add("rebased", len(positions) if place.is_rebased else 0)
            if place.fate is Fate.ACCEPTED:
                self._write_second(block, positions, place.second)

    def _write_second(self, block: TableBlock, positions: list[int], second: int) -> None:
        duplicates = self._slots[block.entity].write(
            second,
            self._timeline.watermark.keep_from(second),
            [block.rows[at] for at in positions],
            block.metrics,
            block.values[:, positions],
        )
        self._tally.add("duplicate", duplicates)

    def _require_held(self, entity: Entity, second: int) -> None:
        closed = self.watermark
        oldest = None if closed is None else closed - self._config.history_slots
        if closed is None or oldest is None or not oldest <= second <= closed:
            raise WindowNotHeldError(
                f"job {self._job!r}: no {entity} window ends in second {second}; held are"
                f" {oldest} to {closed}"
            )
