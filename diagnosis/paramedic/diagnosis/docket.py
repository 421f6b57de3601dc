"""The verdicts of one job that are open, and how they come, change and go.

A node, and the job as a whole, has at most one open verdict of each kind of trouble (a lost card
has its own). The trouble of a living process gets worse under one id: a straggler that hangs is
`updated`, and one that is out of reach is so again. The end of the process is hard evidence of
another kind and a verdict of its own, unless it is known why (`downfall`). A machine that is lost
has failed under the id of its symptoms. What a card tells and how it works are one verdict where
the one explains the other. Nodes that share what has failed have one verdict together, and none of
their own beside it for the same trouble; who joins them later updates it. What is open on a node
that has left the job, or of the job itself, is resolved when the job trains again.
`detected_at` never goes back in a verdict's life, so whoever keeps the newest state by it keeps the
one that was said last.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from paramedic.diagnosis.admission import Admission
from paramedic.diagnosis.contract import Fault, Phase, Status, Verdict, verdict_id
from paramedic.diagnosis.finding import (
    NOT_WORKING,
    OF_THE_MACHINE,
    Finding,
    Subject,
    Trouble,
    is_worse,
    subject_of,
)
from paramedic.diagnosis.gravity import when_failed
from paramedic.diagnosis.joining import joined
from paramedic.diagnosis.membership import (
    goes_with,
    is_of_failed_group,
    is_within,
    subject_among,
    with_known,
)
from paramedic.diagnosis.one_card import (
    is_with_departure,
    partner_of,
    with_card,
    with_departure,
    without_card,
    without_departure,
)

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Evidence
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import JobName, NodeName

_LEAVES_WITH_NODE = (Trouble.ALIVE, Trouble.GROUP, *OF_THE_MACHINE)


class Docket:
    """Open verdicts of one job."""

    def __init__(self, job: JobName, admission: Admission | None = None) -> None:
        """`admission` is what every finding has to pass; without one all may be told."""
        self._job = job
        self._admission = admission or Admission()
        self._open: dict[Subject, Verdict] = {}

    @property
    def open(self) -> Mapping[Subject, Verdict]:
        """What is open now, by node and kind of trouble."""
        return MappingProxyType(self._open)

    @property
    def groups(self) -> tuple[Verdict, ...]:
        """What is open about nodes that depart together."""
        return tuple(verdict for verdict in self._open.values() if verdict.members)

    def adopt(self, verdicts: Sequence[Verdict]) -> None:
        """Take these for what is open, in place of what was; a predecessor has told them."""
        self._open = {_subject(one): one for one in verdicts}

    def would_change(self, finding: Finding) -> bool:
        """Whether this finding is news: nothing of its kind is open there, or something lesser."""
        return self._news(finding) is not None

    def report(self, finding: Finding) -> tuple[Verdict, ...]:
        """The verdict that fires or gets worse by this finding; nothing when it is no news.

        With a group's come the ends of what was open about its members and is one with it.
        """
        news = self._news(finding)
        if news is None:
            return ()
        weighed = self._admission.weighed(news, self._open)
        if (partner := partner_of(self._open, weighed)) is not None:
            return (self._unite(partner, weighed),)
        if (before := self._before_it_was_lost(weighed)) is not None:
            return (self._lose(before, weighed),)
        subject = subject_among(self._open, weighed)
        known = self._open.get(subject)
        verdict = _firing(self._job, weighed) if known is None else _revised(known, weighed)
        if verdict.members:  # the subject of a group that grows is another
            self._open.pop(subject, None)
            subject = _subject(verdict)
        self._open[subject] = verdict
        return (verdict, *self._clear_members(verdict))

    def revise(self, finding: Finding) -> tuple[Verdict, ...]:
        """The same for a finding that holds all that is known: it may also take something back.

        A card that is lost stays so, whatever else is told of it, and so does what has brought the
        job down.
        """
        known = self._open.get(finding.subject)
        if known is None:
            return self.report(finding)
        if known.failed_at is not None:
            gravest = min(known.severity, finding.gravity)
            finding = replace(finding, phase=Phase.FAILED, severity=gravest)
        is_lost = known.fault is Fault.GPU_CARD_DROP and finding.fault is not Fault.GPU_CARD_DROP
        if is_lost or self._admission.admitted(finding) is None:
            return ()
        is_one = is_with_departure(known)
        if _tells(known) == _tells(with_card(known, finding) if is_one else finding):
            return ()
        weighed = self._admission.weighed(finding, self._open)
        self._open[finding.subject] = verdict = _revised(known, weighed)
        return (verdict,)

    def join(self, subject: Subject, finding: Finding) -> tuple[Verdict, ...]:
        """What is open of this subject, with a slow rank of its node; nothing if it is no news."""
        known, news = self._open.get(subject), self._news(finding)
        if known is None or news is None:
            return ()
        verdict = joined(known, self._admission.weighed(news, self._open))
        del self._open[subject]  # with another fault it may be another trouble
        self._open[_subject(verdict)] = verdict
        return (verdict,)

    def amend(self, subject: Subject, at: datetime, summary: str) -> Verdict:
        """What is open of this subject, in other words."""
        known = self._open[subject]
        newest = max(known.detected_at, at)
        changed = replace(known, status=Status.UPDATED, detected_at=newest, summary=summary)
        self._open[subject] = changed
        return changed

    def fail(
        self,
        subject: Subject,
        at: datetime,
        since: datetime,
        summary: str,
        throughput_ratio: float = math.nan,
        evidence: Sequence[Evidence] = (),
    ) -> Verdict:
        """What is open of this subject has brought the job down `since` then, as this shows."""
        known = self._open[subject]
        changed = self.amend(subject, at, summary)
        severity = when_failed(changed, self._open, throughput_ratio)
        begun = since if known.phase is not Phase.FAILED else known.failed_at
        changed = replace(
            changed,
            phase=Phase.FAILED,
            severity=severity,
            failed_at=begun,
            evidence=(*changed.evidence, *evidence),
        )
        self._open[subject] = changed
        return changed

    def recede(self, subject: Subject, at: datetime, summary: str) -> Verdict:
        """What was made to have failed is a symptom again: the job goes on."""
        changed = self.amend(subject, at, summary)
        phase = Phase.SYMPTOM if changed.rank is None else Phase.DEGRADED
        self._open[subject] = changed = replace(changed, phase=phase, failed_at=None)
        return changed

    def support(
        self, subject: Subject, at: datetime, evidence: Sequence[Evidence]
    ) -> Verdict | None:
        """What is open of this subject, with more evidence; None where there is nothing new."""
        known = self._open.get(subject)
        told = () if known is None else {(one.metric, one.value) for one in known.evidence}
        new = tuple(one for one in evidence if (one.metric, one.value) not in told)
        if known is None or not new:
            return None
        self._open[subject] = verdict = replace(
            known,
            status=Status.UPDATED,
            detected_at=max(known.detected_at, at),
            evidence=(*known.evidence, *new),
        )
        return verdict

    def widen(
        self, node: NodeName, trouble: Trouble, gpus: Sequence[int | None]
    ) -> tuple[Verdict, ...]:
        """Makes the first verdict of these GPUs the node's; the others end in it."""
        open_ones = [s for s in (Subject(node, trouble, gpu) for gpu in gpus) if s in self._open]
        if not open_ones:
            return ()
        first, *others = sorted(open_ones, key=lambda s: self._open[s].detected_at)
        self._open[Subject(node, trouble)] = self._open.pop(first)
        reason = f"it is one with the trouble of GPU {first.gpu} of {node}"
        ended = [(one, self._open[one].detected_at) for one in others]
        return tuple(v for one, at in ended for v in self._clear(one, at, reason))

    @property
    def not_working(self) -> dict[Subject, Verdict]:
        """What is open that says that a node does not work as it should."""
        return {
            subject: verdict
            for subject, verdict in self._open.items()
            if subject.trouble in NOT_WORKING or is_with_departure(verdict)
        }

    @property
    def accused(self) -> frozenset[NodeName]:
        """The nodes that are said not to work as they should."""
        return frozenset(one.node for one in self.not_working if one.node is not None)

    def departed(self, node: NodeName | None) -> Subject | None:
        """Under which subject it is open that the node works unlike its peers."""
        found = (
            subject
            for subject, verdict in self.not_working.items()
            if subject.node == node
            and (subject.trouble is Trouble.DEPARTED or is_with_departure(verdict))
        )
        return next(found, None)

    def recover(self, subject: Subject, at: datetime, reason: str) -> tuple[Verdict, ...]:
        """The node works as it should again; what its card tells may still be open."""
        known = self._open.get(subject)
        if known is None or not is_with_departure(known):
            return self._clear(subject, at, reason)
        self._open[subject] = verdict = without_departure(known, at, reason)
        return (verdict,)

    def known(self, node: NodeName | None, trouble: Trouble) -> Verdict | None:
        """What is open of this kind."""
        return self._open.get(Subject(node, trouble))

    def clear(
        self,
        node: NodeName | None,
        trouble: Trouble,
        at: datetime,
        reason: str,
        gpu: int | None = None,
    ) -> tuple[Verdict, ...]:
        """The resolved verdict, if one was open; where a card works differently still, that."""
        subject = Subject(node, trouble, gpu)
        known = self._open.get(subject)
        if known is None or not is_with_departure(known):
            return self._clear(subject, at, reason)
        del self._open[subject]
        verdict = without_card(known, at, reason)
        self._open[_subject(verdict)] = verdict
        return (verdict,)

    def clear_group(self, group: Verdict, at: datetime, reason: str) -> tuple[Verdict, ...]:
        """The resolved verdict of a group of which nobody departs any more."""
        return self._clear(_subject(group), at, reason)

    def clear_after_recovery(self, picture: JobPicture) -> tuple[Verdict, ...]:
        """Resolves what is open on nodes that have left, if the job has trained again since."""
        resumption, departed = picture.resumption, picture.departed
        if resumption is None:
            return ()
        over = [
            subject
            for subject, verdict in self._open.items()
            if subject.trouble is not Trouble.OFTEN
            and (subject.trouble not in _LEAVES_WITH_NODE or departed.issuperset(_nodes(subject)))
            and picture.is_over(verdict.generation, verdict.detected_at.timestamp())
        ]
        at = datetime.fromtimestamp(resumption.begun, tz=UTC)
        reason = f"the job trains again in generation {resumption.generation}"
        return tuple(v for one in over for v in self._clear(one, at, reason))

    def clear_departed(
        self, node: NodeName, at: datetime, kept: Collection[Subject] = ()
    ) -> tuple[Verdict, ...]:
        """Resolves what goes with a machine that has left the job, but for what is kept."""
        over = [
            one
            for one in self._open
            if one.node == node and one.trouble in OF_THE_MACHINE and one not in kept
        ]
        return tuple(v for one in over for v in self._clear(one, at, f"{node} has left the job"))

    def close(
        self, at: datetime, reason: str, kept: Collection[Subject] = ()
    ) -> tuple[Verdict, ...]:
        """Resolves everything but what is kept: the job is over."""
        over = [one for one in self._open if one not in kept]
        return tuple(v for one in over for v in self._clear(one, at, reason))

    def _unite(self, partner: Subject, finding: Finding) -> Verdict:
        """What is open, with what is found of the same card by the other kind of evidence."""
        known = self._open.pop(partner)
        is_told = finding.subject.trouble is Trouble.CARD
        verdict = with_card(known, finding) if is_told else with_departure(known, finding)
        self._open[_subject(verdict)] = verdict
        return verdict

    def _before_it_was_lost(self, finding: Finding) -> Subject | None:
        """Under which subject it is open that a machine worked unlike its peers that is lost."""
        departed = Subject(finding.node, Trouble.DEPARTED)
        is_lost = finding.fault is Fault.MACHINE_UNREACHABLE and finding.subject not in self._open
        return departed if is_lost and departed in self._open else None

    def _lose(self, before: Subject, finding: Finding) -> Verdict:
        """A machine that is lost has failed under the id of its symptoms."""
        known = self._open.pop(before)
        verdict = replace(
            _worse(known, finding),
            summary=f"{finding.summary}; before that, {known.summary}",
            evidence=(*finding.evidence, *known.evidence),
            failed_at=finding.onset,
        )
        self._open[_subject(verdict)] = verdict
        return verdict

    def _news(self, finding: Finding) -> Finding | None:
        """What of the finding is to be told, and of whom."""
        joined = self._admission.joined(finding) if self._is_news(finding) else finding
        return self._admission.admitted(joined) if self._is_news(joined) else None

    def _is_news(self, finding: Finding) -> bool:
        """Whether nothing of its kind is open there, or something lesser."""
        known = self._open.get(subject_among(self._open, finding))
        known = known or self._lost_with_others(finding) or self._with_its_card(finding)
        is_worth_it = (
            known is None
            or is_worse(finding.fault, known.fault)
            or not set(finding.members) <= set(known.members)
            or (is_of_failed_group(finding) and known.phase is not Phase.FAILED)
        )
        trouble = finding.subject.trouble
        return is_worth_it and not any(goes_with(one, finding, trouble) for one in self.groups)

    def _clear_members(self, group: Verdict) -> tuple[Verdict, ...]:
        """Resolves what was open about members, alone or as a group, and is this one's trouble."""
        over = [
            subject
            for subject, known in self._open.items()
            if goes_with(group, known, subject.trouble) or is_within(group, known)
        ]
        reason = f"it is one with the trouble of {len(group.members)} nodes together"
        return tuple(v for one in over for v in self._clear(one, group.detected_at, reason))

    def _lost_with_others(self, finding: Finding) -> Verdict | None:
        """The verdict about a node that has lost several cards, if this is one of them."""
        if finding.gpu is None or finding.subject.trouble is not Trouble.CARD:
            return None
        known = self._open.get(Subject(finding.node, Trouble.CARD))
        return known if known is not None and known.fault is finding.fault else None

    def _with_its_card(self, finding: Finding) -> Verdict | None:
        """What is open about a card and how it works, if this says again how it works."""
        if finding.subject.trouble is not Trouble.DEPARTED:
            return None
        subject = self.departed(finding.node)
        return None if subject is None else self._open[subject]

    def _clear(self, subject: Subject, at: datetime, reason: str) -> tuple[Verdict, ...]:
        known = self._open.pop(subject, None)
        return () if known is None else (_resolved(known, at, reason),)


def _subject(verdict: Verdict) -> Subject:
    one = verdict
    return subject_of(one.node, one.fault, one.gpu, one.tier, one.phase, one.members)


def _nodes(subject: Subject) -> tuple[NodeName | None, ...]:
    return subject.members or (subject.node,)


def _firing(job: JobName, finding: Finding) -> Verdict:
    return Verdict(
        id=verdict_id(
            job,
            finding.generation,
            finding.scope,
            finding.node,
            finding.members,
            finding.gpu,
            finding.detected_at,
        ),
        job=job,
        generation=finding.generation,
        scope=finding.scope,
        node=finding.node,
        gpu=finding.gpu,
        members=finding.members,
        status=Status.FIRING,
        phase=finding.phase,
        fault=finding.fault,
        tier=finding.tier,
        severity=finding.gravity,
        confidence=finding.confidence,
        onset=finding.onset,
        detected_at=finding.detected_at,
        summary=finding.summary,
        candidates=finding.candidates,
        evidence=finding.evidence,
        action=finding.recommendation,
        rank=finding.rank,
        first_detected_at=finding.detected_at,
    )


def _tells(one: Verdict | Finding) -> tuple[object, ...]:
    """What people would act on."""
    action = one.action if isinstance(one, Verdict) else one.recommendation
    severity = one.severity if isinstance(one, Verdict) else one.gravity
    return (one.scope, one.fault, severity, one.phase, action.recommended)


def _revised(known: Verdict, finding: Finding) -> Verdict:
    """The open verdict by what is found now; how the card works stays beside what it tells."""
    return with_card(known, finding) if is_with_departure(known) else _worse(known, finding)


def _worse(known: Verdict, finding: Finding) -> Verdict:
    """The open verdict with the worse fault; id, generation and onset stay the first ones."""
    return replace(
        _firing(known.job, with_known(finding, known) if known.members else finding),
        id=known.id,
        generation=known.generation,
        status=Status.UPDATED,
        onset=min(known.onset, finding.onset),
        detected_at=max(known.detected_at, finding.detected_at),
        first_detected_at=known.first_detected_at,
        failed_at=known.failed_at if finding.phase is Phase.FAILED else None,
    )


def _resolved(known: Verdict, at: datetime, reason: str) -> Verdict:
    return replace(
        known,
        status=Status.RESOLVED,
        detected_at=max(known.detected_at, at),
        summary=f"{reason}; it was: {known.summary}",
    )
