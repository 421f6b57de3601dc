"""A job that does nothing for long, as its cards show: then whoever is accused has brought it down.

Everybody waits in a collective now and then, for a rank that writes a checkpoint alone too; so a
standstill counts after a minute, and what looks like a pause after as long as one may take. Where
nothing is told of what flows, a job that crawls looks like one that waits. Whatever cards show, a
job whose ranks make steps does not stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.blame import (
    causes,
    end_with_going_on,
    lay_standstill,
    suspect,
    take_back,
)
from paramedic.diagnosis.contract import Evidence, Fault, Phase, Severity, Tier
from paramedic.diagnosis.finding import Finding, moment
from paramedic.diagnosis.motion import Gait

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.detector_state import DetectorState
    from paramedic.diagnosis.motion import Motion
    from paramedic.diagnosis.settings import StandstillSettings

_LEAST_SECONDS, _FEWEST_SLOTS = 60.0, 5
"""Whoever made the job stand shows it by then, and so does who has fallen silent."""
_CONFIDENCE = 0.8
"""A part of the job that all others wait for in a collective, and that ends, looks alike."""
_WORDS = {
    Gait.SPINS: "its cards are busy all the same",
    Gait.RESTS: "its cards do nothing",
    Gait.GONE: "the memory of its cards is free",
}


@dataclass(frozen=True, slots=True)
class Stand:
    """A standstill that counts."""

    since: int
    seconds: int
    gait: Gait

    def words(self) -> str:
        """What is seen of it."""
        return f"no work for {self.seconds} s, and {_WORDS[self.gait]}"


def stand_of(motion: Motion, since: float, settings: StandstillSettings) -> Stand | None:
    """How a job stands that has been meant to train `since` then; None while it may not."""
    begun = motion.standing_since(motion.slot_seconds)
    if begun is None:
        return None
    stand = Stand(int(max(begun, since)), motion.second - int(max(begun, since)), motion.gait)
    least = max(_LEAST_SECONDS, float(_FEWEST_SLOTS * motion.slot_seconds))
    is_sure = stand.gait is Gait.GONE or (stand.gait is Gait.SPINS and motion.tells_flow)
    if not is_sure:
        usual = settings.longest_pauses * motion.longest_seconds.get(stand.gait, 0.0)
        least = max(least, settings.busy_standstill_seconds, usual)
    return stand if stand.seconds >= least else None


def judge_stand(
    second: int, state: DetectorState, settings: StandstillSettings
) -> Iterator[Verdict]:
    """What the newest slot of the cards says of the whole job, and of who is the cause."""
    yield from _judge_going_on(moment(second), state)
    since, plan = state.picture.training_since, state.picture.maintenance
    if since is None or plan.explains_standstill(second):
        return
    stand = stand_of(state.machines.absences.motion, since, settings)
    if stand is None or state.going_on.since(stand.since) or _is_another_missed(stand, state):
        return
    known = state.docket, state.going_on
    laid = [*lay_standstill(*known, stand.since, moment(second), stand.words())]
    yield from laid
    if not laid and _is_nobodys(stand, state, settings):
        yield from state.docket.report(_of_the_job(stand, state))


def _is_nobodys(stand: Stand, state: DetectorState, settings: StandstillSettings) -> bool:
    """Whether the job hangs, and nobody is accused; ranks that tell of their steps say so better.

    A job whose processes have left may have done its work, and one that rests may yet go on.
    """
    motion = state.machines.absences.motion
    usual = settings.longest_pauses * motion.longest_seconds.get(stand.gait, 0.0)
    is_long = stand.seconds >= max(settings.busy_standstill_seconds, usual)
    is_told = bool(state.liveness.pulses) or bool(causes(state.docket, state.going_on))
    return stand.gait is Gait.SPINS and motion.tells_flow and is_long and not is_told


def _of_the_job(stand: Stand, state: DetectorState) -> Finding:
    since, metric = moment(stand.since), state.machines.absences.motion.metric
    return Finding(
        node=None,
        rank=None,
        generation=state.picture.generation,
        fault=Fault.THROUGHPUT_DROP,
        phase=Phase.FAILED,
        tier=Tier.PATTERN,
        confidence=_CONFIDENCE,
        onset=since,
        detected_at=moment(stand.since + stand.seconds),
        summary=f"the job stands still: {stand.words()}; nobody is known to be the cause",
        candidates=(),
        evidence=(Evidence(metric, None, None, 0.0, since),),
        severity=Severity.P0,
    )


def _judge_going_on(at: datetime, state: DetectorState) -> Iterator[Verdict]:
    yield from take_back(state.docket, state.going_on, at)
    if state.liveness.newest_progress() is None:
        departed = state.picture.departed
        yield from end_with_going_on(state.docket, state.going_on, departed, at)


def _is_another_missed(stand: Stand, state: DetectorState) -> bool:
    """Whether somebody fell silent as the job came to stand: that is told as soon as it is sure."""
    if causes(state.docket, state.going_on):
        return False
    case = suspect(state.docket, float(stand.since))
    named = set() if case is None else {case[1].node, *case[1].members}
    silent = state.machines.absences.silent_about(stand.since, state.slot_seconds)
    return bool(silent - named - state.picture.departed)
