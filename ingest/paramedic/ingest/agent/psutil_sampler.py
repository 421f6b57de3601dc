"""Reads process trees with psutil, which is imported only when a sampler is made."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from paramedic.ingest.agent.errors import AgentSetupError, SampleError
from paramedic.ingest.agent.sampling import Machine, ProcessTotals, TreeReading

if TYPE_CHECKING:
    import psutil

_TREE_SECONDS = 5.0
"""How often descendants are looked for: that reads every process of the machine once."""


class PsutilSampler:
    """The real sampler; `system` is psutil unless told otherwise.

    Raises AgentSetupError when psutil is not installed.
    """

    def __init__(self, system: ModuleType | None = None) -> None:
        self._psutil = system or _psutil()
        memory = self._psutil.virtual_memory()
        self._machine = Machine(len(os.sched_getaffinity(0)), int(memory.total))
        self._children: dict[int, list[int]] = {}
        self._looked_seconds: float | None = None

    def machine(self) -> Machine:
        """The processors this process may use, and the memory of the machine."""
        return self._machine

    def read(self, process_id: int, now_seconds: float) -> TreeReading | None:
        """The tree of that process now; None when it has ended, a zombie included.

        Raises SampleError when psutil fails for the root or for a descendant.
        """
        try:
            self._look_for_children(now_seconds)
            root = self._totals(process_id)
            if root is None:
                return None
            return TreeReading((root, *self._descendants(process_id)))
        except (self._psutil.Error, OSError, ValueError, LookupError, RuntimeError) as error:
            raise SampleError(f"process {process_id}: psutil failed: {error!r}") from error

    def _descendants(self, process_id: int) -> Iterator[ProcessTotals]:
        for child in self._children.get(process_id, ()):
            totals = self._totals(child)
            if totals is not None:
                yield totals
                yield from self._descendants(child)

    def _totals(self, process_id: int) -> ProcessTotals | None:
        try:
            process = self._psutil.Process(process_id)
            with process.oneshot():
                status = process.status()
                if status in (self._psutil.STATUS_ZOMBIE, self._psutil.STATUS_DEAD):
                    return None
                return self._read(process, status)
        except (self._psutil.NoSuchProcess, ProcessLookupError):
            return None

    def _read(self, process: psutil.Process, status: str) -> ProcessTotals:
        cpu, switches = process.cpu_times(), process.num_ctx_switches()
        return ProcessTotals(
            process_id=process.pid,
            started_seconds=process.create_time(),
            cpu_seconds=cpu.user + cpu.system,
            context_switches=switches.voluntary + switches.involuntary,
            disk_bytes=self._disk_bytes(process),
            resident_bytes=process.memory_info().rss,
            is_stopped=status in (self._psutil.STATUS_STOPPED, self._psutil.STATUS_TRACING_STOP),
        )

    def _disk_bytes(self, process: psutil.Process) -> int | None:
        try:
            counters = process.io_counters()
        except (self._psutil.AccessDenied, AttributeError, ValueError, RuntimeError):
            # Not ours to see; or a kernel that does not count (psutil then has no such method) or
            # shows an empty file. Everything else of the process is known all the same.
            return None
        return int(counters.read_bytes + counters.write_bytes)

    def _look_for_children(self, now_seconds: float) -> None:
        if self._looked_seconds is not None and now_seconds < self._looked_seconds + _TREE_SECONDS:
            return
        self._looked_seconds = now_seconds
        children = defaultdict(list)
        for process in self._psutil.process_iter(["ppid"]):
            children[process.info["ppid"]].append(process.pid)
        self._children = dict(children)


def _psutil() -> ModuleType:
    try:
        import psutil
    except ImportError as error:
        raise AgentSetupError(
            "the agent needs psutil: install the extra `agent` (pip install paramedic[agent])"
        ) from error
    return psutil
