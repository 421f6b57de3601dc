"""Application health of one job: from events and closed slots to verdicts in its docket."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.application.claim import Claim, shown
from paramedic.diagnosis.application.configuration import ConfigurationWatch
from paramedic.diagnosis.application.flow import FlowWatch
from paramedic.diagnosis.application.learning import LearningWatch
from paramedic.diagnosis.application.reading import job_slot
from paramedic.diagnosis.application.settings import AT_ONCE, ApplicationSettings
from paramedic.diagnosis.contract import Fault, Phase, Severity
from paramedic.diagnosis.finding import Trouble, moment
from paramedic.ingest.contract import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramedic.diagnosis.application.reading import JobSlot
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.docket import Docket
    from paramedic.diagnosis.finding import Finding
    from paramedic.diagnosis.picture import JobPicture
    from paramedic.ingest.contract import Event, Window

_CONFIDENCE_TOLD = 0.99
"""The job itself says so."""


@dataclass(slots=True)
class ApplicationWatch:
    """The training of one job."""

    settings: ApplicationSettings
    learning: LearningWatch = field(init=False)
    configuration: ConfigurationWatch = field(init=False)
    flow: FlowWatch = field(init=False)
    _stretch: float = -math.inf
    _held: list[Finding] = field(default_factory=list)
    """What waits for a second of its own: verdicts of a job are told apart by theirs."""

    def __post_init__(self) -> None:
        self.learning = LearningWatch(self.settings)
        self.configuration = ConfigurationWatch(self.settings)
        self.flow = FlowWatch(self.settings)

    def hear(self, event: Event, picture: JobPicture, docket: Docket) -> Iterator[Verdict]:
        """What an event decides: whether a checkpoint was saved."""
        result = event.details.get("result")
        if event.kind is not EventKind.CHECKPOINT or result not in ("failed", "saved"):
            return
        if result == "saved":
            reason = "a checkpoint was saved"
            yield from docket.clear(None, Trouble.CHECKPOINT, event.timestamp, reason)
            return
        claim = _failed_checkpoint(event)
        yield from self._report(claim.finding(max(picture.generation, 0)), docket)

    def look(self, window: Window, picture: JobPicture, docket: Docket) -> Iterator[Verdict]:
        """What the newest slot of the ranks decides."""
        second = window.last_second
        held, self._held = self._held, []
        for finding in held:
            yield from self._report(replace(finding, detected_at=moment(second)), docket)
        slot = job_slot(window)
        if slot is None or picture.is_past(second):
            return
        if picture.stretch(second) > self._stretch:
            self._stretch = picture.stretch(second)
            self.configuration.restart()
            self.flow.restart()
        if picture.is_fit(second, AT_ONCE):
            yield from self._judge_learning(slot, picture, docket)
            yield from self._judge_configuration(slot, picture, docket)
        if picture.is_fit(second, self.settings):
            yield from self._judge_flow(slot, picture, docket)

    def _judge_learning(
        self, slot: JobSlot, picture: JobPicture, docket: Docket
    ) -> Iterator[Verdict]:
        known = docket.known(None, Trouble.LEARNING)
        if not self.learning.follow(slot):
            return
        if known is not None and self.learning.is_well and _is_after(slot, known):
            reason = "loss and gradient are as usual again"
            yield from docket.clear(None, Trouble.LEARNING, moment(slot.second), reason)
        else:
            yield from self._tell(self.learning.claim(), picture, docket)

    def _judge_configuration(
        self, slot: JobSlot, picture: JobPicture, docket: Docket
    ) -> Iterator[Verdict]:
        self.configuration.follow(slot)
        known, has = docket.known(None, Trouble.CONFIGURATION), bool(self.configuration.jumps)
        if known is not None and not has and self._is_settled(slot, known):
            reason = "the configuration is as before, or the job has long trained with it"
            yield from docket.clear(None, Trouble.CONFIGURATION, moment(slot.second), reason)
        elif has and known is None:
            yield from self._tell(self.configuration.claim(slot.second), picture, docket)

    def _is_settled(self, slot: JobSlot, known: Verdict) -> bool:
        """Whether a jump that does not stand any more has been undone, or long been accepted.

        Who takes a job over has not seen the jump before it has read as far as the verdict.
        """
        accepted = self.settings.jump_accepted_seconds
        is_undone = self.configuration.undone > known.detected_at.timestamp()
        return is_undone or slot.second - known.detected_at.timestamp() >= accepted

    def _judge_flow(self, slot: JobSlot, picture: JobPicture, docket: Docket) -> Iterator[Verdict]:
        stalled, slow = docket.known(None, Trouble.INPUT), docket.known(None, Trouble.PACE)
        if not self.flow.follow(slot):
            return
        now, stall, drop = moment(slot.second), self.flow.stall(), self.flow.drop()
        if stalled is not None and self.flow.is_fed() and _is_after(slot, stalled):
            yield from docket.clear(None, Trouble.INPUT, now, "data come as usual again")
        elif stall is not None and not self._is_explained(stall, docket):
            yield from self._tell(stall, picture, docket)
        if slow is not None and self.flow.is_fast() and _is_after(slot, slow):
            yield from docket.clear(None, Trouble.PACE, now, "the job is as fast as usual again")
        elif drop is not None and not self._is_explained(drop, docket):
            yield from self._tell(drop, picture, docket)

    def _is_explained(self, claim: Claim, docket: Docket) -> bool:
        """Whether something else is told already that slows the job down.

        A machine that was named long before has not slowed it down until now.
        """
        since = claim.onset.timestamp() - self.settings.explained_seconds
        return any(
            verdict.detected_at.timestamp() >= since
            and (subject.node is not None or verdict.members or subject.trouble in _SLOWS)
            and verdict.fault is not claim.fault
            for subject, verdict in docket.open.items()
        )

    def _tell(self, claim: Claim | None, picture: JobPicture, docket: Docket) -> Iterator[Verdict]:
        if claim is not None:
            yield from self._report(claim.finding(picture.generation), docket)

    def _report(self, finding: Finding, docket: Docket) -> tuple[Verdict, ...]:
        """What is new in a finding; one that would have another verdict's id waits a second."""
        known = docket.open.get(finding.subject)
        if known is not None:
            is_graver = finding.gravity < known.severity
            return docket.revise(finding) if is_graver else docket.report(finding)
        if any(_is_of(verdict, finding) for verdict in docket.open.values()):
            self._held.append(finding)
            return ()
        return docket.report(finding)


_SLOWS = (Trouble.JOB, Trouble.INPUT)
"""Troubles of the job itself that make it slow."""


def _is_after(slot: JobSlot, known: Verdict) -> bool:
    """Whether a slot is of later than a verdict: who takes a job over reads of before, too."""
    return slot.second > known.detected_at.timestamp()


def _is_of(verdict: Verdict, finding: Finding) -> bool:
    """Whether a verdict of the job fired in the finding's second."""
    return (
        verdict.node is None
        and not verdict.members
        and verdict.generation == finding.generation
        and verdict.first_detected_at == finding.detected_at
    )


def _failed_checkpoint(event: Event) -> Claim:
    where = "" if event.node is None else f" on {event.node}"
    why = event.details.get("reason")
    step = event.details.get("step")
    at = f" of step {step}" if isinstance(step, int) and not isinstance(step, bool) else ""
    return Claim(
        Fault.CHECKPOINT_FAILED,
        Severity.P1,
        Phase.FAILED,
        _CONFIDENCE_TOLD,
        event.timestamp,
        event.timestamp,
        f"the checkpoint{at} was not saved{where}" + (f": {why}" if isinstance(why, str) else ""),
        (shown("checkpoint", 0.0, 1.0, 0.0, int(event.timestamp.timestamp())),),
    )
