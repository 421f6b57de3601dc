"""The failures and the nodes of all jobs that a process knows of, by event time.

A failure is known by its verdict's id, so it makes no difference how often, or in which order, a
verdict is heard of: from the detector that decides it, and from the verdict topic.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Scope, Severity, Status
from paramedic.diagnosis.history.chance import Counts
from paramedic.diagnosis.history.settings import HistorySettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paramedic.diagnosis.contract import Verdict
    from paramedic.ingest.contract import JobName, NodeName

_NO_FAILURES = frozenset({Fault.NODE_FAILURE_RATE, Fault.TELEMETRY_LOST})
_OF_A_MACHINE = frozenset({Scope.NODE, Scope.GPU})
_WINDOWS_KEPT = 2
"""A backlog is judged by its own time, which may lie behind."""


@dataclass(frozen=True, slots=True, order=True)
class Failure:
    """A verdict that counts."""

    second: float
    """`detected_at` of its first state that counts (Unix seconds)."""
    verdict: str
    fault: Fault
    job: JobName


@dataclass(slots=True)
class _Span:
    """When a job had a node, in Unix seconds."""

    first: float
    last: float


def is_failure(verdict: Verdict) -> bool:
    """Whether the verdict says that one machine has failed or works badly."""
    return (
        verdict.status is not Status.RESOLVED
        and verdict.scope in _OF_A_MACHINE
        and verdict.severity is not Severity.P2
        and verdict.fault not in _NO_FAILURES
    )


@dataclass(slots=True)
class FleetHistory:
    """What is known of every node, whichever job it was in."""

    settings: HistorySettings = field(default_factory=HistorySettings)
    _failures: dict[NodeName, list[Failure]] = field(default_factory=dict)
    """By node, oldest first."""
    _known: set[str] = field(default_factory=set)
    _spans: dict[JobName, dict[NodeName, _Span]] = field(default_factory=dict)
    _newest: float = 0.0

    def hear(self, verdict: Verdict) -> None:
        """A verdict was decided, or stands on the verdict topic."""
        if verdict.node is None or verdict.id in self._known or not is_failure(verdict):
            return
        second = verdict.detected_at.timestamp()
        failure = Failure(second, verdict.id, verdict.fault, verdict.job)
        insort(self._failures.setdefault(verdict.node, []), failure)
        self._known.add(verdict.id)
        self._pass_time(second)

    def see(self, job: JobName, nodes: Iterable[NodeName], second: float) -> None:
        """These nodes of a job were heard of."""
        spans = self._spans.setdefault(job, {})
        for node in nodes:
            span = spans.get(node)
            if span is None:
                spans[node] = _Span(second, second)
            else:
                span.first, span.last = min(span.first, second), max(span.last, second)
        self._pass_time(second)

    def incidents(self, node: NodeName, job: JobName, second: float) -> list[Failure]:
        """The failures of a node in the window that ends in this second, one an incident."""
        begun = second - self.settings.window_seconds
        return [one for one in self._incidents(node, job, second) if one.second > begun]

    def counts(self, node: NodeName, job: JobName, second: float) -> Counts:
        """The failures of the node, as its job knows it, against those of the fleet."""
        shares = dict(self._shares(job, second))
        own = shares.get(node, self.settings.incident_seconds)
        peers = sum(share for other, share in shares.items() if other != node) / own
        failed = {
            one: len(self.incidents(one, job, second))
            for one in self._failures
            if one in shares or one == node
        }
        return Counts(failed.get(node, 0), sum(failed.values()), peers)

    def failing(self, job: JobName, second: float) -> Iterator[tuple[NodeName, float]]:
        """Every node with failures in the window, and how many."""
        for node in self._failures:
            yield node, float(len(self.incidents(node, job, second)))

    def _incidents(self, node: NodeName, job: JobName, second: float) -> Iterator[Failure]:
        """The first failure of each incident."""
        over = float("-inf")
        for one in self._failures.get(node, ()):
            is_known = one.second <= self._known_until(one.job, job, second)
            if is_known and one.second > over:
                over = one.second + self.settings.incident_seconds
                yield one

    def _shares(self, job: JobName, second: float) -> Iterator[tuple[NodeName, float]]:
        """How many seconds of the window each node was heard of in; an incident's at least."""
        begun, least = second - self.settings.window_seconds, self.settings.incident_seconds
        total: dict[NodeName, float] = {}
        for other, spans in self._spans.items():
            until = self._known_until(other, job, second)
            for node, span in spans.items():
                seconds = min(span.last, until) - max(span.first, begun)
                if seconds >= 0:
                    total[node] = max(total.get(node, least), seconds)
        yield from total.items()

    def _known_until(self, told_by: JobName, job: JobName, second: float) -> float:
        return second if told_by == job else second - self.settings.foreign_delay_seconds

    def _pass_time(self, second: float) -> None:
        """Forgets what is far behind, once in a window."""
        window = self.settings.window_seconds
        if second - self._newest < window:
            return
        self._newest = second
        oldest = second - _WINDOWS_KEPT * window
        for node, failures in list(self._failures.items()):
            self._known -= {one.verdict for one in failures if one.second < oldest}
            self._failures[node] = [one for one in failures if one.second >= oldest]
        self._failures = {node: kept for node, kept in self._failures.items() if kept}
        self._spans = {
            job: kept
            for job, spans in self._spans.items()
            if (kept := {node: span for node, span in spans.items() if span.last >= oldest})
        }
