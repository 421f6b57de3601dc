"""Verdicts as accusations: machine and group verdicts accuse, those about a job accuse nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Scope, Status
from paramedic.models.detection import Alarm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paramedic.diagnosis.benchmark.verdicts.feeding import Said
    from paramedic.diagnosis.contract import Verdict
    from paramedic.ingest.contract import NodeName


def accusations(said: Iterable[Said]) -> Iterator[tuple[Alarm, Verdict]]:
    """An alarm when a verdict fires, and again when it comes to name somebody else."""
    named: dict[str, set[NodeName]] = {}
    for one in said:
        verdict = one.verdict
        nodes = accused(verdict)
        known = named.setdefault(verdict.id, set())
        if verdict.status is not Status.RESOLVED and not known.issuperset(nodes):
            known.update(nodes)
            yield (
                Alarm(one.second, nodes, verdict.confidence, verdict.gpu, verdict.fault.value),
                verdict,
            )


def accused(verdict: Verdict) -> tuple[NodeName, ...]:
    """The machines that a verdict blames."""
    if verdict.scope is Scope.JOB:
        return ()
    return tuple(sorted(verdict.members)) if verdict.node is None else (verdict.node,)
