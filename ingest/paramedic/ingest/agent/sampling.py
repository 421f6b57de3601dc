"""What the operating system says of a process tree, as a port, with the fake that tests use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from paramedic.ingest.agent.errors import SampleError


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that the processes share."""

    cpus: int
    """Processors that may be used."""
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class ProcessTotals:
    """One process as the system counts it; totals since the process began."""

    process_id: int
    started_seconds: float
    """Unix seconds; tells a process from a later one with the same id."""
    cpu_seconds: float
    context_switches: int
    """Voluntary and not, as the system counts them for the main thread."""
    disk_bytes: int | None
    """Read from and written to disks; None where the system does not say."""
    resident_bytes: int
    is_stopped: bool
    """State T or t: stopped by a signal or a tracer."""


@dataclass(frozen=True, slots=True)
class TreeReading:
    """A process and all its living descendants; the root comes first."""

    members: tuple[ProcessTotals, ...]


class Sampler(Protocol):
    """Reads process trees."""

    def machine(self) -> Machine:
        """The machine, read once."""
        ...

    def read(self, process_id: int, now_seconds: float) -> TreeReading | None:
        """The tree of that process now; None when it is gone. `now_seconds` is monotonic.

        Raises SampleError when the system does not answer.
        """
        ...


class FakeSampler:
    """Answers from a script: what is set for a process is read, an error is raised."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._answers: dict[int, TreeReading | SampleError] = {}

    def set(self, answers: Mapping[int, TreeReading | SampleError]) -> None:
        """From now on the answers are these; every other process is gone."""
        self._answers = dict(answers)

    def machine(self) -> Machine:
        """The machine it was made with."""
        return self._machine

    def read(self, process_id: int, now_seconds: float) -> TreeReading | None:  # noqa: ARG002
        """The scripted answer."""
        answer = self._answers.get(process_id)
        if isinstance(answer, SampleError):
            raise answer
        return answer
