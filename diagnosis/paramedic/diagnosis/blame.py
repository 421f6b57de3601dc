"""Whom it is laid to that a job stands or has ended: who has failed, or who is accused most.

What was a symptom has then failed. Nobody is accused for it who was not before: all others look
alike in a job that does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Phase, Severity
from paramedic.diagnosis.exits import EXIT
from paramedic.diagnosis.finding import OF_THE_MACHINE, Subject, Trouble, moment
from paramedic.diagnosis.one_card import SAYS_NO_WHY, is_told

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.going_on import GoingOn
    from paramedic.ingest.contract import NodeName

_SUSPECTS = (Trouble.ALIVE, Trouble.GROUP, *OF_THE_MACHINE)
_ABOUT_THEN_SECONDS = 60.0
"""What a driver or a silence told that hurt nobody is no reason, unless it began about then."""

_RECOVERY_SECONDS = 120.0
"""Most jobs are brought back after an end without a person, and within this time."""
_GOES_ON = "the job goes on"
_STANDS = "; the job has come to stand: "
_STOOD = "; the job has stood still, and goes on"

Case = tuple[Subject, "Verdict"]


def causes(docket: Docket, going_on: GoingOn) -> list[Case]:
    """The nodes and groups that have failed, and the job has not gone on since."""
    return [
        (subject, verdict)
        for subject, verdict in docket.open.items()
        if _is_somebody(verdict) and verdict.phase is Phase.FAILED and not going_on.after(verdict)
    ]


def suspect(docket: Docket, since: float) -> Case | None:
    """Who is under the strongest accusation, in a job that stands or has ended since then."""
    found = [
        (subject, verdict)
        for subject, verdict in docket.open.items()
        if _is_somebody(verdict)
        and subject.trouble in _SUSPECTS
        and (not _is_told_once(subject, verdict) or _is_about(verdict, since))
    ]
    return max(found, key=lambda one: (one[1].confidence, one[1].onset), default=None)


def reported(docket: Docket, since: float) -> Case | None:
    """Of whose card, or of which node, an error was told about then or shortly before."""
    found = [
        (subject, verdict)
        for subject, verdict in docket.open.items()
        if subject.trouble is Trouble.CARD
        and any(
            is_told(one) and abs(since - one.since.timestamp()) <= _ABOUT_THEN_SECONDS
            for one in verdict.evidence
        )
    ]
    return max(found, key=lambda one: (one[1].confidence, one[1].onset), default=None)


def explained(docket: Docket, node: NodeName, since: float) -> Case | None:
    """What is open about a machine, and is why a process of it ended then."""
    found = [
        (subject, verdict)
        for subject, verdict in docket.open.items()
        if subject.node == node
        and subject.trouble in (Trouble.CARD, Trouble.DEPARTED)
        and verdict.fault not in SAYS_NO_WHY
        and (not _is_told_once(subject, verdict) or _is_about(verdict, since))
    ]
    return max(found, key=lambda one: (one[1].confidence, one[1].onset), default=None)


def lay_standstill(
    docket: Docket, going_on: GoingOn, since: int, at: datetime, said: str
) -> Iterator[Verdict]:
    """What a standstill since then means for its cause; nothing where nobody is held to be it.

    The job cannot go on, which is as grave as it gets.
    """
    known = causes(docket, going_on)
    case = known[0] if known else suspect(docket, float(since))
    if case is None or any(verdict.severity is Severity.P0 for _, verdict in known):
        return
    subject, verdict = case
    seconds = at.timestamp() - since
    if _has_ended(subject, verdict) and seconds < _RECOVERY_SECONDS:
        return
    words = f"{verdict.summary.replace(_STOOD, '')}{_STANDS}{said}"
    yield docket.fail(subject, at, moment(since), words, throughput_ratio=0.0)
    yield from docket.clear(None, Trouble.JOB, at, "it is known why the job stands")


def take_back(docket: Docket, going_on: GoingOn, at: datetime) -> Iterator[Verdict]:
    """Who was held to be the cause has a symptom again, as the job has gone on since."""
    for subject, verdict in list(docket.open.items()):
        if verdict.failed_at is not None and going_on.after(verdict):
            before = verdict.summary.split(_STANDS)[0]
            yield docket.recede(subject, at, f"{before}{_STOOD}")


def end_with_going_on(
    docket: Docket, going_on: GoingOn, departed: Collection[NodeName], at: datetime
) -> Iterator[Verdict]:
    """Ends and departures are over where the job goes on, and nobody tells that it trains again."""
    for subject, verdict in list(docket.open.items()):
        is_out = subject.trouble is Trouble.GONE or subject.node in departed
        if is_out and verdict.phase is Phase.FAILED and going_on.after(verdict):
            yield from docket.clear(subject.node, subject.trouble, at, _GOES_ON, subject.gpu)


def _is_somebody(verdict: Verdict) -> bool:
    return verdict.node is not None or bool(verdict.members)


def _has_ended(subject: Subject, verdict: Verdict) -> bool:
    """Whether it is a process that has ended, of whatever."""
    return subject.trouble is Trouble.GONE or any(one.metric == EXIT for one in verdict.evidence)


def _is_told_once(subject: Subject, verdict: Verdict) -> bool:
    """Whether it is a trend that nothing has to go on showing."""
    return verdict.severity is Severity.P2 and subject.trouble in (Trouble.CARD, Trouble.UNHEARD)


def _is_about(verdict: Verdict, since: float) -> bool:
    return verdict.onset.timestamp() >= since - _ABOUT_THEN_SECONDS
