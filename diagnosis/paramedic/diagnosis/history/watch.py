"""One job's view of the past: which of its nodes fail abnormally often, by its own verdicts.

The job whose verdict is the failure that tips the balance tells it, so it is told once, whoever
judges the other jobs.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import (
    Evidence,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Tier,
)
from paramedic.diagnosis.finding import Finding, Trouble, moment, ranked
from paramedic.diagnosis.history.chance import chance, rate_ratio
from paramedic.diagnosis.history.fleet import FleetHistory, is_failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.history.chance import Counts
    from paramedic.diagnosis.history.fleet import Failure
    from paramedic.ingest.contract import JobName, NodeName, TelemetryBatch

_LOOK_SECONDS = 60
"""How often a job's nodes are noted, and open verdicts are looked at."""
_CANDIDATES = 5
_SURE = 10.0
"""So many times rarer than the level: the node is kept out of jobs, not only tested."""
_DAY = 86_400
_LATER = timedelta(microseconds=1)
"""An id is made of node and time: the failure that tips the balance has one of its own."""


@dataclass(slots=True)
class FailureHistory:
    """What a job's detector remembers of failures, in its own jobs and in others."""

    job: JobName
    fleet: FleetHistory = field(default_factory=FleetHistory)
    _noted: dict[int, int] = field(default_factory=dict)
    """The second in which the nodes of each shard were noted last."""

    def see(self, batch: TelemetryBatch, docket: Docket) -> Iterator[Verdict]:
        """Telemetry has come: the nodes are noted, and what is no longer so ends."""
        if batch.second - self._noted.get(batch.shard, -_LOOK_SECONDS) < _LOOK_SECONDS:
            return
        self._noted[batch.shard] = batch.second
        nodes = {node for table in batch.tables for node in table.nodes}
        self.fleet.see(self.job, nodes, batch.second)
        for subject in [one for one in docket.open if one.trouble is Trouble.OFTEN]:
            if subject.node is not None and self._is_over(subject.node, batch.second):
                reason = f"{subject.node} has not failed so often any more"
                yield from docket.clear(subject.node, Trouble.OFTEN, moment(batch.second), reason)

    def follow(self, verdicts: Sequence[Verdict], docket: Docket) -> Iterator[Verdict]:
        """What these verdicts of the job say about nodes that have failed before."""
        for verdict in verdicts:
            if verdict.node is None or not is_failure(verdict):
                continue
            self.fleet.hear(verdict)
            finding = self._judge(verdict.node, verdict)
            if finding is not None:
                yield from docket.report(finding)

    def odds_factor(self, node: NodeName, second: float) -> float:
        """By what a node's past multiplies the odds of a new accusation; 1 where it is not asked.

        Never a reason to name another node: it is applied to whoever is named already.
        """
        settings = self.fleet.settings
        if not settings.use_prior:
            return 1.0
        before = second - settings.incident_seconds  # an incident says nothing about itself
        return rate_ratio(self.fleet.counts(node, self.job, before), settings.unevenness)

    def _judge(self, node: NodeName, newest: Verdict) -> Finding | None:
        settings, second = self.fleet.settings, newest.detected_at.timestamp()
        failures = self.fleet.incidents(node, self.job, second)
        is_one_more = bool(failures) and failures[-1].second == second
        if not is_one_more or len(failures) < settings.least_failures:
            return None
        counts = self.fleet.counts(node, self.job, second)
        by_chance = counts.fleet * chance(counts, settings.unevenness)
        if by_chance > settings.weeks * settings.false_alarms_per_week:
            return None
        return self._finding(node, newest, failures, counts, by_chance)

    def _finding(
        self,
        node: NodeName,
        newest: Verdict,
        failures: Sequence[Failure],
        counts: Counts,
        by_chance: float,
    ) -> Finding:
        settings = self.fleet.settings
        onset, second = moment(int(failures[0].second)), newest.detected_at.timestamp()
        expected = settings.weeks * settings.bad_nodes_per_week
        rest = counts.fleet - counts.node
        spread = math.sqrt(counts.mean * (1 + counts.mean * settings.unevenness**2))
        deviation = round((counts.node - counts.mean) / spread, 2)
        peers = round(rest / counts.peers, 4)
        return Finding(
            node=node,
            rank=newest.rank,
            generation=newest.generation,
            fault=Fault.NODE_FAILURE_RATE,
            phase=Phase.SYMPTOM,
            tier=Tier.KNOWN_ERROR,
            confidence=round(expected / (expected + by_chance), 4),
            onset=onset,
            detected_at=newest.detected_at + _LATER,
            summary=f"{node} has failed {counts.node} times in"
            f" {_days(settings.window_seconds)} days ({_kinds(failures)}), while the rest of the"
            f" fleet has failed {rest} times",
            candidates=ranked(self.fleet.failing(self.job, second), _CANDIDATES),
            evidence=(Evidence("failures", float(counts.node), peers, deviation, onset),),
            action=_advice(by_chance, settings.weeks * settings.false_alarms_per_week),
        )

    def _is_over(self, node: NodeName, second: float) -> bool:
        count = len(self.fleet.incidents(node, self.job, second))
        return count < self.fleet.settings.least_failures


def _advice(by_chance: float, level: float) -> Recommendation:
    rarity = f"of sound nodes {by_chance:.1g} in a whole fleet fail so often"
    if _SURE * by_chance <= level:
        return Recommendation(
            RecommendedAction.CORDON_NODE, f"{rarity}: keep it out of jobs until it is tested"
        )
    return Recommendation(RecommendedAction.RUN_TEST, f"{rarity}: test its hardware")


def _kinds(failures: Sequence[Failure]) -> str:
    """Which faults, the most frequent first."""
    found = Counter(one.fault.value for one in failures).most_common()
    return ", ".join(f"{fault} {times} ×" if times > 1 else fault for fault, times in found)


def _days(seconds: float) -> str:
    return f"{seconds / _DAY:g}"
