"""How far each node of a job has come, and whose clock is off.

A node's offset is its own second less the arrival time at the observer: transport delay and clock
error in one. Nodes are compared with the median offset, so the observer's own clock cancels out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.contract import NodeName
    from paramedic.ingest.windows.configuration import WindowConfig

_STEADY_SECONDS = 1.5
"""Offsets that differ by less are the same: slots are whole seconds, and batches jitter."""

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
class Doubted:
    """Nodes off the median by more than the limit, for too short a time to be re-based."""

    ahead: frozenset[NodeName] = frozenset()
    behind: frozenset[NodeName] = frozenset()

    def __contains__(self, node: NodeName) -> bool:
        return node in self.ahead or node in self.behind


_NOBODY = Doubted()


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
        self._shifted: dict[NodeName, int] = {}
        self._residuals: NDArray[np.float64] | None = None
        if snapshot is not None:
            self._restore(snapshot)

    def snapshot(self) -> ClocksSnapshot:
        """A copy of the state."""
        return ClocksSnapshot(tuple(self._index), self._live().copy())

    def hear(self, nodes: Collection[NodeName], second: int, arrived_seconds: float) -> Doubted:
        """Take note of nodes that state a second; returns those that are not believed (yet)."""
        ids = self._ids(nodes, second, arrived_seconds)
        state = self._state
        offset = second - arrived_seconds
        moved = ids[np.abs(state["offset"][ids] - offset) > _STEADY_SECONDS]
        state["offset"][moved] = offset
        state["steady_since"][moved] = arrived_seconds
        state["heard"][ids] = np.maximum(state["heard"][ids], second)
        if moved.size:
            self._residuals = None
        return self._judge(nodes, ids, second, arrived_seconds)

    def shifts(self) -> Mapping[NodeName, int]:
        """Seconds to add, of the nodes that are re-based."""
        return self._shifted

    def rebased(self) -> tuple[RebasedClock, ...]:
        """The nodes that are re-based now, by name."""
        found = ((node, self._state[self._index[node]]) for node in sorted(self._shifted))
        return tuple(
            RebasedClock(node, int(state["shift"]), float(state["shifted_at"]))
            for node, state in found
        )

    def head(self) -> int | None:
        """The newest second that half of the live nodes have reached.

        Nodes too far ahead to be believed have no say; None when nobody has one.
        """
        live = self._live()
        believed = self._residual() <= self._config.clock_limit_seconds
        reached = (live["heard"] + live["shift"])[believed]
        if not reached.size:
            return None
        at = reached.size - (reached.size + 1) // 2
        return int(np.partition(reached, at)[at])

    def forget(self, nodes: Iterable[NodeName]) -> None:
        """Take nodes out of the live set."""
        gone = [self._index[node] for node in nodes if node in self._index]
        if gone:
            names = [node for node, at in self._index.items() if at not in gone]
            self._restore(ClocksSnapshot(tuple(names), np.delete(self._live(), gone)))

    def _restore(self, snapshot: ClocksSnapshot) -> None:
        self._index = {node: at for at, node in enumerate(snapshot.nodes)}
        self._state = snapshot.state.copy()
        self._residuals = None
        shifts = zip(snapshot.nodes, self._state["shift"].tolist(), strict=True)
        self._shifted = {node: shift for node, shift in shifts if shift}

    def _live(self) -> NDArray[Any]:
        return self._state[: len(self._index)]

    def _ids(
        self, nodes: Collection[NodeName], second: int, arrived_seconds: float
    ) -> NDArray[np.intp]:
        newcomers = [node for node in nodes if node not in self._index]
        for node in newcomers:
            at = len(self._index)
            if at == self._state.size:
                self._state = np.concatenate([self._state, np.zeros(at + 8, _STATE)])
            offset = second - arrived_seconds
            self._state[at] = (second, 0, offset, arrived_seconds, 0.0)
            self._index[node] = at
            self._residuals = None
        return np.array([self._index[node] for node in nodes], np.intp)

    def _judge(
        self, nodes: Collection[NodeName], ids: NDArray[np.intp], second: int, arrived: float
    ) -> Doubted:
        residual = self._residual()[ids]
        off = np.abs(residual) > self._config.clock_limit_seconds
        if not off.any():
            return _NOBODY
        names = list(nodes)
        steady_for = arrived - self._state["steady_since"][ids]
        settled = steady_for >= self._config.clock_settle_seconds
        for position in np.flatnonzero(off & settled):
            self._rebase(names[position], int(ids[position]), second, arrived)
        ahead, behind = (np.flatnonzero(off & ~settled & (residual * side > 0)) for side in (1, -1))
        return Doubted(*(frozenset(names[position] for position in at) for at in (ahead, behind)))

    def _rebase(self, node: NodeName, at: int, second: int, arrived: float) -> None:
        """Move the node onto the median, or back to its own clock when that is right again."""
        state = self._state
        deviation = float(state["offset"][at]) - _median(self._live()["offset"])
        off = abs(deviation) > self._config.clock_limit_seconds
        shift = -round(deviation) if off else 0
        state["shift"][at], state["heard"][at], state["shifted_at"][at] = shift, second, arrived
        self._residuals = None
        self._shifted.pop(node, None)
        if shift:
            self._shifted[node] = shift

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
