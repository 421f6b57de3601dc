"""How far each node of a job has come, and whose clock is off.

A node's offset is its own second less the arrival time at the observer: transport delay and clock
error in one. Nodes are compared with the median offset, so the observer's own clock cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.ingest.windows.crowd import Spread
from paramedic.ingest.windows.row_places import stretch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.ingest.windows.configuration import WindowConfig
    from paramedic.ingest.windows.crowd import Crowd

_STEADY_SECONDS = 1.5
"""Offsets that differ by less (and a slot's width) are the same: times are those of slots, and
batches jitter."""

_STATE = np.dtype(
    [
        ("heard", np.int64),  # newest second by the node's own clock
        ("shift", np.int64),  # added to the node's seconds
        ("offset", np.float64),
        ("steady_since", np.float64),  # arrival time since which the offset has not moved
        ("shifted_at", np.float64),
    ]
)


@dataclass(frozen=True, slots=True)
class RebasedClock:
    """A node whose clock is off, and what is done about it."""

    node: NodeName
    shift_seconds: int
    """Added to every second the node states."""
    since_seconds: float
    """Arrival time (Unix seconds) of the batch that settled it."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """What is thought of the clocks of a crowd, node by node; None stands for "of none"."""

    shifts: NDArray[np.int64] | None = None
    """Seconds to add, of nodes that are re-based."""
    ahead: NDArray[np.bool_] | None = None
    """Off the median by more than the limit, for too short a time to be re-based."""
    behind: NDArray[np.bool_] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all clocks are believed as they are."""
        return self.shifts is None and self.ahead is None


_ALL_RIGHT = Hearing()


@dataclass(frozen=True, slots=True)
class ClocksSnapshot:
    """The state of NodeClocks."""

    nodes: tuple[NodeName, ...]
    state: NDArray[Any]


class NodeClocks:
    """The clocks of the live nodes: those heard from that have not left."""

    def __init__(self, config: WindowConfig, snapshot: ClocksSnapshot | None = None) -> None:
        self._config = config
        self._index: dict[NodeName, int] = {}
        self._state = np.zeros(0, _STATE)
        self._limit_seconds = config.clock_limit_seconds + config.grid_seconds
        self._steady_seconds = _STEADY_SECONDS + config.grid_seconds
        self._residuals: NDArray[np.float64] | None = None
        self._members = 0  # grows whenever nodes change their places
        self._version = 0  # grows whenever nodes, offsets or shifts change
        self._anybody_shifted = False
        self._head: int | None = None
        self._may_be_beyond: int | None = None  # at most so many are past the head; None: unknown
        self._half = 0
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> ClocksSnapshot:
        """A copy of the state."""
        return ClocksSnapshot(tuple(self._index), self._live().copy())

    def hear(self, crowd: Crowd, second: int, arrived_seconds: float) -> Hearing:
        """Take note of nodes that state a second; returns what is thought of their clocks."""
        self._meet(crowd, second, arrived_seconds)
        offset = second - arrived_seconds
        if not crowd.offsets.is_within(self._steady_seconds, offset):
            self._move(crowd, offset, arrived_seconds)
        heard = self._state["heard"]
        heard[crowd.where] = np.maximum(heard[crowd.where], second)
        if self._may_be_beyond is not None and (
            self._anybody_shifted or self._head is None or second > self._head
        ):
            self._may_be_beyond += crowd.ids.size
        if crowd.residuals.is_within(self._limit_seconds) and not self._anybody_shifted:
            return _ALL_RIGHT
        return self._judge(crowd, second, arrived_seconds)

    def rebased(self) -> tuple[RebasedClock, ...]:
        """The nodes that are re-based now, by name."""
        shifts = self._live()["shift"].tolist()
        names = sorted(node for node, at in self._index.items() if shifts[at])
        found = ((node, self._state[self._index[node]]) for node in names)
        return tuple(
            RebasedClock(node, int(state["shift"]), float(state["shifted_at"]))
            for node, state in found
        )

    def head(self) -> int | None:
        """The newest second that half of the live nodes have reached.

        Nodes too far ahead to be believed have no say; None when nobody has one.
        """
        beyond = self._may_be_beyond
        if beyond is None or beyond >= self._half:
            self._find_head()
        return self._head

    def forget(self, nodes: Iterable[NodeName]) -> None:
        """Take nodes out of the live set."""
        gone = {self._index[node] for node in nodes if node in self._index}
        if gone:
            names = [node for node, at in self._index.items() if at not in gone]
            self._restore(ClocksSnapshot(tuple(names), np.delete(self._live(), sorted(gone))))

    def _restore(self, snapshot: ClocksSnapshot) -> None:
        self._index = {node: at for at, node in enumerate(snapshot.nodes)}
        self._state = snapshot.state.copy()
        self._members += 1
        self._changed()

    def _changed(self) -> None:
        """Nodes, offsets or shifts are others than before."""
        self._version += 1
        self._residuals = None
        self._may_be_beyond = None
        self._anybody_shifted = bool(self._live()["shift"].any())

    def _live(self) -> NDArray[Any]:
        return self._state[: len(self._index)]

    def _find_head(self) -> None:
        live = self._live()
        believed = self._residual() <= self._limit_seconds
        reached = (live["heard"] + live["shift"])[believed]
        self._half = (reached.size + 1) // 2
        at = reached.size - self._half
        self._head = int(np.partition(reached, at)[at]) if reached.size else None
        self._may_be_beyond = int(np.count_nonzero(reached > self._head)) if reached.size else None

    def _meet(self, crowd: Crowd, second: int, arrived_seconds: float) -> None:
        """Look up what is known of a crowd's clocks, if it may have changed."""
        if crowd.version == self._version:
            return
        if crowd.members != self._members:
            newcomers = [node for node in crowd.nodes if node not in self._index]
            if newcomers:
                self._enter(newcomers, second, arrived_seconds)
            crowd.ids = np.array([self._index[node] for node in crowd.nodes], np.intp)
            crowd.where = stretch(crowd.ids)
            crowd.members = self._members
        self._look_at(crowd)

    def _look_at(self, crowd: Crowd) -> None:
        crowd.offsets = Spread.of(self._state["offset"][crowd.ids])
        crowd.residuals = Spread.of(self._residual()[crowd.ids])
        crowd.version = self._version

    def _enter(self, newcomers: list[NodeName], second: int, arrived_seconds: float) -> None:
        begin, end = len(self._index), len(self._index) + len(newcomers)
        if end > self._state.size:
            self._state = np.concatenate([self._state, np.zeros(end, _STATE)])
        offset = second - arrived_seconds
        self._state[begin:end] = (second, 0, offset, arrived_seconds, 0.0)
        self._index.update(zip(newcomers, range(begin, end), strict=True))
        self._changed()

    def _move(self, crowd: Crowd, offset: float, arrived_seconds: float) -> None:
        """Note the offset of those for whom it is another than before."""
        state, ids = self._state, crowd.ids
        moved = ids[np.abs(state["offset"][ids] - offset) > self._steady_seconds]
        state["offset"][moved] = offset
        state["steady_since"][moved] = arrived_seconds
        self._changed()
        self._look_at(crowd)

    def _judge(self, crowd: Crowd, second: int, arrived: float) -> Hearing:
        ids = crowd.ids
        residual = self._residual()[ids]
        off = np.abs(residual) > self._limit_seconds
        doubted = None
        if off.any():
            steady_for = arrived - self._state["steady_since"][ids]
            settled = steady_for >= self._config.clock_settle_seconds
            self._rebase(ids[off & settled], second, arrived)
            doubted = off & ~settled
        return Hearing(
            shifts=self._state["shift"][ids] if self._anybody_shifted else None,
            ahead=None if doubted is None else doubted & (residual > 0),
            behind=None if doubted is None else doubted & (residual < 0),
        )

    def _rebase(self, ids: NDArray[np.intp], second: int, arrived: float) -> None:
        """Move nodes onto the median, or back to their own clock where that is right again."""
        if not ids.size:
            return
        state, width = self._state, self._config.sampling_seconds
        deviation = state["offset"][ids] - _median(self._live()["offset"])
        off = np.abs(deviation) > self._limit_seconds
        state["shift"][ids] = np.where(off, -np.round(deviation / width) * width, 0)
        state["heard"][ids], state["shifted_at"][ids] = second, arrived
        self._changed()

    def _residual(self) -> NDArray[np.float64]:
        """How far every live node is off the median after re-basing, in seconds."""
        if self._residuals is None:
            offsets = self._live()["offset"]
            middle = _median(offsets) if offsets.size else 0.0
            self._residuals = offsets - middle + self._live()["shift"]
        return self._residuals


def _median(offsets: NDArray[np.float64]) -> float:
    """The middle offset; of two middle ones the one nearer to the observer's clock.

    A mean of two would call both nodes of a pair wrong.
    """
    middle = offsets.size // 2
    if offsets.size % 2:
        return float(np.partition(offsets, middle)[middle])
    low, high = np.partition(offsets, (middle - 1, middle))[middle - 1 : middle + 1].tolist()
    return float(low if abs(low) <= abs(high) else high)
