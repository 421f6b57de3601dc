"""How far each node of a job has come, and whose clock is off.

A node's offset is its own second less the arrival time at the observer: transport delay and clock
error in one. Nodes are compared with the median offset, so the observer's own clock cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
        self._version = 0
        self._state = np.zeros(0, _STATE)
        self._limit_seconds = config.clock_limit_seconds + config.grid_seconds
        self._steady_seconds = _STEADY_SECONDS + config.grid_seconds
        self._residuals: NDArray[np.float64] | None = None
        self._head: int | None = None
        self._head_is_known = False
        self._anybody_shifted = False
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> ClocksSnapshot:
        """A copy of the state."""
        return ClocksSnapshot(tuple(self._index), self._live().copy())

    def hear(self, crowd: Crowd, second: int, arrived_seconds: float) -> Hearing:
        """Take note of nodes that state a second; returns what is thought of their clocks."""
        ids = self._ids(crowd, second, arrived_seconds)
        state = self._state
        offset = second - arrived_seconds
        moved = ids[np.abs(state["offset"][ids] - offset) > self._steady_seconds]
        if moved.size:
            state["offset"][moved] = offset
            state["steady_since"][moved] = arrived_seconds
            self._residuals = None
        state["heard"][ids] = np.maximum(state["heard"][ids], second)
        self._head_is_known = False
        return self._judge(ids, second, arrived_seconds)

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
        if not self._head_is_known:
            self._head, self._head_is_known = self._newest_of_half(), True
        return self._head

    def forget(self, nodes: Iterable[NodeName]) -> None:
        """Take nodes out of the live set."""
        gone = {self._index[node] for node in nodes if node in self._index}
        if gone:
            names = [node for node, at in self._index.items() if at not in gone]
            self._restore(ClocksSnapshot(tuple(names), np.delete(self._live(), sorted(gone))))

    def _restore(self, snapshot: ClocksSnapshot) -> None:
        self._index = {node: at for at, node in enumerate(snapshot.nodes)}
        self._version += 1
        self._state = snapshot.state.copy()
        self._anybody_shifted = bool(self._state["shift"].any())
        self._residuals = None
        self._head_is_known = False

    def _live(self) -> NDArray[Any]:
        return self._state[: len(self._index)]

    def _newest_of_half(self) -> int | None:
        live = self._live()
        believed = self._residual() <= self._limit_seconds
        reached = (live["heard"] + live["shift"])[believed]
        if not reached.size:
            return None
        at = reached.size - (reached.size + 1) // 2
        return int(np.partition(reached, at)[at])

    def _ids(self, crowd: Crowd, second: int, arrived_seconds: float) -> NDArray[np.intp]:
        if crowd.version != self._version:
            newcomers = [node for node in crowd.nodes if node not in self._index]
            self._enter(newcomers, second, arrived_seconds)
            crowd.ids = np.array([self._index[node] for node in crowd.nodes], np.intp)
            crowd.version = self._version
        return crowd.ids

    def _enter(self, newcomers: list[NodeName], second: int, arrived_seconds: float) -> None:
        if not newcomers:
            return
        begin, end = len(self._index), len(self._index) + len(newcomers)
        if end > self._state.size:
            self._state = np.concatenate([self._state, np.zeros(end, _STATE)])
        offset = second - arrived_seconds
        self._state[begin:end] = (second, 0, offset, arrived_seconds, 0.0)
        self._index.update(zip(newcomers, range(begin, end), strict=True))
        self._residuals = None

    def _judge(self, ids: NDArray[np.intp], second: int, arrived: float) -> Hearing:
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
        self._anybody_shifted = bool(self._live()["shift"].any())
        self._residuals = None

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
