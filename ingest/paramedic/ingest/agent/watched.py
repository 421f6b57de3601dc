"""Which processes the agent watches; the launcher changes the list while the agent runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from paramedic.ingest.contract import NodeName


@dataclass(frozen=True, slots=True)
class WatchedProcess:
    """A worker: the root of a process tree that plays a node."""

    node: NodeName
    process_id: int
    rank: int | None
    """None for a spare."""


class WatchList:
    """The watched processes. Safe to use from several threads."""

    def __init__(self, processes: Iterable[WatchedProcess] = ()) -> None:
        self._lock = threading.Lock()
        self._processes = tuple(processes)

    def replace(self, processes: Iterable[WatchedProcess]) -> None:
        """From now on watch these, and no others."""
        processes = tuple(processes)
        with self._lock:
            self._processes = processes

    def current(self) -> tuple[WatchedProcess, ...]:
        """What is watched now."""
        with self._lock:
            return self._processes
