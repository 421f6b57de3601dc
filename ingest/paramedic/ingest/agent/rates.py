"""Turns two readings of a process tree into the metrics of one second.

`cpu_utilization_ratio` is busy seconds ÷ (seconds passed × processors that may be used): 0 to 1,
so a tree that keeps one of two processors busy shows 0.5. Resident memory is summed over the tree,
shared pages once for each process. Nothing is known of rates before the second reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paramedic.ingest.agent.sampling import Machine, ProcessTotals, TreeReading

_Total = Callable[[ProcessTotals], float | None]


@dataclass(frozen=True, slots=True)
class TimedReading:
    """A reading and when it was taken, in monotonic seconds."""

    reading: TreeReading
    taken_seconds: float


def metrics_of(
    previous: TimedReading | None, current: TimedReading, machine: Machine
) -> dict[str, float]:
    """Metric id to value; a rate that cannot be known is left out."""
    members = current.reading.members
    resident_bytes = float(sum(member.resident_bytes for member in members))
    metrics = {
        "process_resident_bytes": resident_bytes,
        "memory_used_ratio": min(1.0, resident_bytes / machine.memory_bytes),
        "process_stopped": float(any(member.is_stopped for member in members)),
    }
    if previous is not None and current.taken_seconds > previous.taken_seconds:
        metrics.update(_rates(previous, current, machine))
    return metrics


def _rates(previous: TimedReading, current: TimedReading, machine: Machine) -> dict[str, float]:
    seconds = current.taken_seconds - previous.taken_seconds
    busy = _growth(previous, current, lambda member: member.cpu_seconds)
    switches = _growth(previous, current, lambda member: member.context_switches)
    rates = {
        # The system counts in ticks of 10 ms, so a second can seem to hold a little too much.
        "cpu_utilization_ratio": min(1.0, busy / (seconds * machine.cpus)),
        "context_switches_per_second": switches / seconds,
    }
    members = (*previous.reading.members, *current.reading.members)
    if all(member.disk_bytes is not None for member in members):
        disk_bytes = _growth(previous, current, lambda member: member.disk_bytes)
        rates["disk_throughput_bytes_per_second"] = disk_bytes / seconds
    return rates


def _growth(previous: TimedReading, current: TimedReading, total: _Total) -> float:
    """Summed process by process, so that the end of a child is no negative growth.

    A descendant that is new has done all it has done since the previous reading.
    """
    before = {_identity(member): total(member) or 0.0 for member in previous.reading.members}
    return sum(
        max(0.0, (total(member) or 0.0) - before.get(_identity(member), 0.0))
        for member in current.reading.members
    )


def _identity(member: ProcessTotals) -> tuple[int, float]:
    return member.process_id, member.started_seconds
