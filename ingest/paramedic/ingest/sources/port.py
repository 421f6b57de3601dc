"""What every source hands to the cleaner: pages of series as their exporter names them, and facts.

A source runs in a thread of its own until it is told to stop, and speaks to a sink. It knows
addresses, time-outs and wire formats; names, units, odd values and jobs are not its business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from paramedic.ingest.contract import EventKind, NodeName


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One series as its exporter names it.

    Whoever reads pages keeps one object a series, so that identity is equality and everything that
    is known of it can be looked up without comparing labels.
    """

    name: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RawPage:
    """What one source said of one moment, before cleaning."""

    origin: str
    """The exporter's address, the Prometheus' address and query, the file: for messages."""
    taken_seconds: float
    """Event time, Unix seconds, UTC: when the exporter was asked, or the sample's own time."""
    series: Sequence[Series]
    values: Sequence[float]
    """One value a series; whatever the exporter said, blanks and infinities included."""
    unreadable: Mapping[str, int] = field(default_factory=dict)
    """Lines that could not be read, by reason; such a line costs itself and nothing else."""
    default_node: NodeName | None = None
    """The node of series whose labels name none: the exporter's host."""
    is_whole: bool = True
    """Whether a series that is not here was not there, as on an exporter's page. False for parts
    of an answer, where a missing GPU means nothing."""


@dataclass(frozen=True, slots=True)
class NodeFact:
    """A fact about a node or one of its GPUs; it becomes an event once its job is known."""

    timestamp_seconds: float
    """Unix seconds, UTC."""
    kind: EventKind
    node: NodeName
    gpu: int | None = None
    details: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


class Sink(Protocol):
    """Takes what sources give. Safe to be used from several threads; never waits long."""

    def page(self, page: RawPage) -> None:
        """A page has been read."""
        ...

    def fact(self, fact: NodeFact) -> None:
        """Something has happened."""
        ...

    def silent(self, origin: str, default_node: NodeName | None, reason: str) -> None:
        """The source was asked and gave nothing this time; `reason` is for people."""
        ...


class StopSignal(Protocol):
    """Tells a source to end; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether to end now."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until told to end, at most the time-out (seconds); whether told."""
        ...


class Source(Protocol):
    """One way for telemetry to come in."""

    name: str

    def run(self, sink: Sink, stop: StopSignal) -> None:
        """Read until told to stop. Troubles of the far side are reported to the sink and retried.

        Raises SourceError when the source can never work: a person has to change something.
        """
        ...


class SourceError(Exception):
    """A source that can never work as it is set up; a person has to change something.

    SourceError
    ├── AccessError         tokens, passwords, certificates that contradict or cannot be read
    ├── TargetsError        a list of exporters with a line that is none
    ├── MissingExtraError   a package that the source needs is not installed
    └── QueryError          a Prometheus refuses what it is asked, and always will

    SourceAwayError         try again: not a SourceError, and never leaves a source
    """


class SourceAwayError(Exception):
    """The far side gave nothing this time; trying again may help. The message is for people."""
