"""How grave a finding about a machine is: by who else is accused, and what the job still does.

Known errors and troubles of the job bring a severity of their own, and keep it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Fault, Severity
from paramedic.diagnosis.family.severity import Impact, severity_of
from paramedic.diagnosis.finding import Trouble

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.finding import Finding, Subject
    from paramedic.ingest.contract import NodeName

_OF_A_MACHINE = (Trouble.ALIVE, Trouble.GONE, Trouble.DEPARTED, Trouble.CARD)
_AT_ONCE_SECONDS = 600.0
"""Who was accused so long before is another trouble."""


def graded(finding: Finding, known: Mapping[Subject, Verdict], throughput_ratio: float) -> Finding:
    """The finding with its severity; `known` is what is open, the ratio as in `Impact`.

    The same trouble of the same machine never becomes less grave by getting worse.
    """
    if finding.severity is not None:
        return finding
    left = finding.throughput_ratio
    if math.isnan(left) and finding.fault is not Fault.PROCESS_EXIT:
        left = throughput_ratio  # a job stands after any end, and most go on without a person
    impact = finding.impact(left, 1 + len(_others_accused(finding, known)))
    severity = severity_of(finding.fault, impact)
    before = known.get(finding.subject)
    return replace(finding, severity=severity if before is None else min(severity, before.severity))


def when_failed(
    verdict: Verdict, known: Mapping[Subject, Verdict], throughput_ratio: float = math.nan
) -> Severity:
    """The severity of an open verdict whose machine has failed since; `known` is what is open.

    A job stands after any end, so its speed says nothing then; what was a trend is one no longer.
    """
    impact = Impact(1 + len(_others_accused(verdict, known)), throughput_ratio)
    return min(verdict.severity, severity_of(verdict.fault, impact))


def _others_accused(finding: Finding | Verdict, known: Mapping[Subject, Verdict]) -> set[NodeName]:
    """The other machines that something is open about that is no trend, and not of long ago."""
    now = finding.detected_at.timestamp()
    return {
        subject.node
        for subject, verdict in known.items()
        if subject.node not in (None, finding.node)
        and subject.trouble in _OF_A_MACHINE
        and verdict.severity is not Severity.P2
        and now - verdict.detected_at.timestamp() < _AT_ONCE_SECONDS
        and subject.node is not None
    }
