"""The job's events: states that change, checkpoints, joins, and the driver's error codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np

from paramedic.ingest.contract import Event, EventKind, JobState, NodeName
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.phases import Pause, Progress


class Storyteller:
    """Makes events of what the physics did."""

    def __init__(self, config: ClusterConfig, layout: Layout) -> None:
        self._config = config
        self._layout = layout

    def opening(self) -> Iterator[Event]:
        """The job starts, and its ranks join."""
        yield self._event(EventKind.JOB_STATE, 0.0, state=JobState.STARTING.value)
        for node, ranks in zip(self._layout.nodes, self._layout.rank.tolist(), strict=True):
            for rank in ranks:
                yield self._event(EventKind.MEMBERSHIP, 0.0, node, rank, change="joined")

    def turns(self, before: Progress, turns: Sequence[Progress]) -> Iterator[Event]:
        """What changed when one thing ended and the next began."""
        for after in turns:
            yield from self._checkpoint(before, after)
            if self._state(after) is not self._state(before):
                yield self._event(
                    EventKind.JOB_STATE, after.started, state=self._state(after).value
                )
            before = after

    def xids(self, codes: Floats, offset: int) -> Iterator[Event]:
        """Error codes that the driver raised in this second; (nodes, gpus), 0 for none."""
        for node, gpu in np.argwhere(codes > 0).tolist():
            yield self._event(
                EventKind.XID, float(offset), self._layout.nodes[node], gpu=gpu,
                xid=int(codes[node, gpu]),
            )  # fmt: skip

    def exits(self, codes: Floats, offset: int) -> Iterator[Event]:
        """Processes that ended in this second; (nodes, gpus), negative for signals, 0 for none."""
        for node, gpu in np.argwhere(codes != 0).tolist():
            code = int(codes[node, gpu])
            rank = int(self._layout.rank[node, gpu])
            how = {"exit_code": code} if code > 0 else {"signal": -code}
            yield self._event(
                EventKind.PROCESS_EXIT, float(offset), self._layout.nodes[node], rank, **how
            )

    def _checkpoint(self, before: Progress, after: Progress) -> Iterator[Event]:
        if before.pause is Pause.CHECKPOINT:
            is_cut = after.pause is not None and after.pause.is_halt
            result, step = "failed" if is_cut else "saved", after.step - 1
        elif before.pause is Pause.STARTING and after.step > 0:
            result, step = "loaded", after.step - 1
        else:
            return
        yield self._event(EventKind.CHECKPOINT, after.started, result=result, step=step)

    def _state(self, progress: Progress) -> JobState:
        is_cold = progress.step < self._config.work.warm_up_steps
        if progress.pause is None and is_cold:
            return JobState.WARMING_UP
        return progress.job_state

    def _event(
        self, kind: EventKind, offset: float, node: NodeName | None = None,
        rank: int | None = None, gpu: int | None = None, **details: str | int,
    ) -> Event:  # fmt: skip
        moment = datetime.fromtimestamp(self._config.first_second + offset, UTC)
        return Event(moment, kind, self._config.job, node, gpu, rank, 0, details)
