"""What collect has done so far, for the metrics page and for a line that people read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paramedic.ingest.contract import JobName, NodeName
from paramedic.ingest.wording import counted


@dataclass(frozen=True, slots=True)
class JobStatus:
    """One job that has been found."""

    nodes: int
    gpus: int
    sampling_seconds: int
    is_training: bool


@dataclass(frozen=True, slots=True)
class CollectStatus:
    """A snapshot; everything that is no state only grows."""

    pages: int = 0
    samples: int = 0
    """Values that were read, before cleaning."""
    facts: int = 0
    rejected: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Samples that cleaning left out, by reason and metric."""
    unpublished_rows: Mapping[str, int] = field(default_factory=dict)
    """Clean rows that belong nowhere, by reason (see Leftovers)."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Lost, by what: `page`, `fact`, `silence` for want of room before cleaning, `telemetry` and
    `events` before the bus, `batch` where the format does not take one."""
    bus_resets: int = 0
    """How often the bus was found without what it had taken."""
    forgotten_messages: int = 0
    """What was on it then, with what had expired already."""
    batches: int = 0
    events: int = 0
    lag_seconds: float = 0.0
    """How old the newest page was when it had been dealt with."""
    waiting_messages: int = 0
    """Messages that the bus has not taken yet."""
    silent_origins: int = 0
    silence: str = ""
    """Who of them gives nothing, and why the first does not; empty where all answer."""
    strangers: tuple[NodeName, ...] = ()
    """Nodes with host telemetry and no GPU that is known: their rows belong to no job."""
    twins: tuple[NodeName, ...] = ()
    """Names that several machines bear, whose labels name different jobs."""
    hosts: int = 0
    gpus: int = 0
    jobs: Mapping[JobName, JobStatus] = field(default_factory=dict)


def progress_line(before: CollectStatus, now: CollectStatus, seconds: float) -> str:
    """What happened between two snapshots, in one line.

    >>> progress_line(CollectStatus(), CollectStatus(samples=3000, hosts=2, gpus=16), 10.0)
    '2 hosts, 16 GPUs, no job; 300 samples/s, 0 rejected, lag 0.0 s'
    """
    jobs = ", ".join(
        f"{name} ({counted(job.nodes, 'node')})" for name, job in sorted(now.jobs.items())
    )
    rejected = _total(now.rejected) - _total(before.rejected)
    dropped = _total(now.dropped) - _total(before.dropped)
    parts = [
        f"{(now.samples - before.samples) / seconds:,.0f} samples/s",
        f"{rejected} rejected",
        f"lag {now.lag_seconds:.1f} s",
        *([f"{dropped} dropped"] if dropped else []),
        *([f"{counted(now.silent_origins, 'source')} silent"] if now.silent_origins else []),
    ]
    size = f"{counted(now.hosts, 'host')}, {counted(now.gpus, 'GPU')}"
    return f"{size}, {jobs or 'no job'}; {', '.join(parts)}"


def _total(counts: Mapping[str, int] | Mapping[tuple[str, str], int]) -> int:
    return sum(counts.values())
