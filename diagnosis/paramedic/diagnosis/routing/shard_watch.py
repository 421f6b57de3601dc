"""One shard of a large job, as the member sees it that aligns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.ordering import StreamTime
from paramedic.diagnosis.routing.aligner import ShardAligner
from paramedic.diagnosis.routing.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.ingest.contract import JobName, TelemetryBatch
    from paramedic.ingest.windows.configuration import WindowConfig

_MEMORY_SECONDS = 15.0
"""Beyond the lateness; so many seconds make a successor know every node and its clock."""


class ShardWatch:
    """Feeds an aligner, in the time of the stream while it flows and of the clock when it stops."""

    def __init__(self, config: WindowConfig, job: JobName, shard: int) -> None:
        self._aligner = ShardAligner(config, job, shard)
        self._time = StreamTime()
        self._trail = Trail(config.lateness_seconds + config.silence_seconds + _MEMORY_SECONDS)
        self.heard_at = 0.0

    @property
    def rows_left_out(self) -> int:
        """Rows that came too late or from clocks that are not believed."""
        return self._aligner.rows_left_out

    def accept(
        self, batch: TelemetryBatch, offset: int, now: float, *, is_new: bool
    ) -> Iterator[TelemetryBatch]:
        """Take a batch in and give the slots that it closes; `now` is any steady clock.

        `is_new` is False for what a predecessor has seen already.
        """
        self.heard_at = now
        self._trail.note(batch.second, offset, now, is_new=is_new)
        arrived = self._time.see(batch)
        self._aligner.accept(batch, arrived)
        yield from self._aligner.closed(arrived)

    def pass_time(self, now: float) -> Iterator[TelemetryBatch]:
        """The slots that close because nothing comes any more."""
        if not self._aligner.is_empty:
            yield from self._aligner.closed(self._time.seconds + now - self.heard_at)

    def needed(self, now: float) -> int | None:
        """The oldest telemetry offset that a successor would have to read."""
        return self._trail.needed(now)
