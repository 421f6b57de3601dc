"""Whether a job without heart-beats is heard of at all: one verdict about the job when it is not.

Its clock is what still arrives: batches with nothing in them, and the sources' own word that they
are blind. When nothing of the job arrives any more, no time passes here.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Evidence, Fault, Phase, Severity, Tier
from paramedic.diagnosis.finding import Finding, moment
from paramedic.ingest.contract import EventKind

if TYPE_CHECKING:
    from collections.abc import Collection

    from paramedic.diagnosis.contract import Verdict
    from paramedic.ingest.contract import Event, NodeName, TelemetryBatch

_CONFIDENCE = 0.8
_BLIND_SECONDS = 5
"""So long without a row, and every source's word suffices: it has waited before it gave it."""
_FEWEST_SLOTS = 3
_SECONDS_TO_BE_BACK = 3


@dataclass(slots=True)
class _Named:
    """Whom lists of names name, found once for the same lists: senders keep theirs."""

    lists: list[tuple[NodeName, ...]] = field(default_factory=list)
    nodes: frozenset[NodeName] = frozenset()

    def of(self, lists: list[tuple[NodeName, ...]]) -> frozenset[NodeName]:
        is_known = len(lists) == len(self.lists) and all(map(operator.is_, lists, self.lists))
        if not is_known:
            self.lists, self.nodes = lists, frozenset(chain.from_iterable(lists))
        return self.nodes


@dataclass(slots=True)
class JobSight:
    """When anything was last heard of a job's machines, and which of them sources cannot see."""

    heard: int = 0
    """The newest second with a row."""
    head: int = 0
    """The newest second of anything."""
    nodes: dict[NodeName, int] = field(default_factory=dict)
    """The newest second with a row of each."""
    blind: dict[NodeName, set[str]] = field(default_factory=dict)
    """The origins that do not see a node."""
    seconds_heard: int = 0
    """Seconds with rows since the job was last found lost."""
    _named: _Named = field(default_factory=_Named)

    def see(self, batch: TelemetryBatch) -> None:
        """A batch has arrived."""
        self.head = max(self.head, batch.second)
        nodes = self._named.of([table.nodes for table in batch.tables])
        for node in nodes:
            self.nodes[node] = max(self.nodes.get(node, 0), batch.second)
        if nodes and batch.second > self.heard:
            self.heard = batch.second
            self.seconds_heard += 1

    def record(self, event: Event) -> bool:
        """An event has arrived; whether a source has turned blind by it."""
        change, node = event.details.get("change"), event.node
        if event.kind is not EventKind.TELEMETRY or node is None:
            return False
        origins = self.blind.setdefault(node, set())
        origin = str(event.details.get("origin"))
        if change == "source_back":
            origins.discard(origin)
        if change != "source_blind":
            return False
        origins.add(origin)
        self.head = max(self.head, int(event.timestamp.timestamp()))
        return True

    def judge(
        self,
        departed: Collection[NodeName],
        timeout_seconds: float,
        slot_seconds: int,
        generation: int,
    ) -> Finding | None:
        """That nothing is heard of the job: for the time-out, or by the word of all sources."""
        timeout_seconds = max(timeout_seconds, _FEWEST_SLOTS * slot_seconds)
        silent = self.head - self.heard
        lately = self.heard - timeout_seconds
        there = [n for n, at in self.nodes.items() if at >= lately and n not in departed]
        all_blind = all(self.blind.get(node) for node in there)
        enough = max(_BLIND_SECONDS, slot_seconds) if all_blind else timeout_seconds
        if not there or silent < enough:
            return None
        self.seconds_heard = 0
        return self._finding(len(there), silent, generation, all_blind=all_blind)

    def is_back(self, verdict: Verdict) -> bool:
        """Whether the job is heard of again since this verdict."""
        is_later = self.heard > verdict.detected_at.timestamp()
        return is_later and self.seconds_heard >= _SECONDS_TO_BE_BACK

    def _finding(self, nodes: int, silent: int, generation: int, *, all_blind: bool) -> Finding:
        since = moment(self.heard)
        whose = f"all {nodes} of the job's nodes" if nodes > 1 else "the job's only node"
        agree = ", and their sources call them blind" if all_blind else ""
        return Finding(
            node=None,
            rank=None,
            generation=generation,
            fault=Fault.TELEMETRY_LOST,
            phase=Phase.SYMPTOM,
            tier=Tier.HEARTBEAT,
            confidence=_CONFIDENCE,
            onset=since,
            detected_at=moment(self.head),
            summary=f"nothing has been heard of {whose} for {silent} s{agree}: the job's telemetry"
            " is lost",
            candidates=(),
            evidence=(Evidence("telemetry", None, None, 0.0, since),),
            severity=Severity.P2,
        )
