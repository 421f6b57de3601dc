"""Judges the job by what has arrived, whatever slots are open: its silent ranks, and all of it.

A rank is silent against the others' beats; a job stands, is no longer heard of, or goes on; and
nodes that fell silent together are heard of again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.blame import causes, lay_standstill
from paramedic.diagnosis.contract import Fault, Phase, Tier
from paramedic.diagnosis.finding import Trouble, moment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.detector_state import DetectorState
    from paramedic.diagnosis.finding import Finding
    from paramedic.diagnosis.pulses import Pulse
    from paramedic.diagnosis.silence import SilenceWatch
    from paramedic.diagnosis.standstill import StandstillWatch

_OF_SILENCE = (Trouble.ALIVE, Trouble.UNHEARD)


@dataclass(frozen=True, slots=True)
class JobJudging:
    """The rules; what they go by is handed in."""

    silence: SilenceWatch
    standstill: StandstillWatch
    telemetry_timeout_seconds: float

    def judge(self, second: int, state: DetectorState) -> Iterator[Verdict]:
        """What a batch of this second decides that has been taken in."""
        yield from self._judge_silence(state)
        yield from self._judge_job(second, state)
        yield from self.judge_sight(state)
        yield from _judge_groups(state)

    def _judge_silence(self, state: DetectorState) -> Iterator[Verdict]:
        frontier = state.liveness.beat_frontier()
        if frontier is None or state.picture.finished:
            return
        for finding in self.silence.judge(state.liveness):
            yield from state.docket.report(finding)
        for pulse, trouble, decided in _told_silent(state):
            if self.silence.is_alive_again(pulse, frontier, decided):
                reason = f"rank {pulse.rank} beats again"
                yield from state.docket.clear(pulse.node, trouble, moment(frontier), reason)

    def _judge_job(self, second: int, state: DetectorState) -> Iterator[Verdict]:
        """What befalls all ranks at once. With a node that has failed it is known why they stand.

        A job that does not train, on purpose or because it recovers, is not judged.
        """
        state.pace.follow(second, state.picture.stretch(math.inf), state.liveness)
        since, known = state.picture.training_since, state.docket.known(None, Trouble.JOB)
        if known is not None and self.standstill.is_over(known, state.liveness):
            now = moment(
                max(state.liveness.ranks_reached() or 0, state.pace.newest_step_second or 0)
            )
            yield from state.docket.clear(None, Trouble.JOB, now, "the job goes on")
        elif known is not None and known.phase is Phase.FAILED and state.going_on.after(known):
            yield from state.docket.clear(None, Trouble.JOB, moment(second), "the job goes on")
        elif since is not None and not (
            causes(state.docket, state.going_on)
            or state.picture.maintenance.explains_standstill(second)
        ):
            finding = self.standstill.judge(
                state.liveness,
                state.pace,
                since,
                state.picture.generation,
                state.machines.absences.motion,
            )
            yield from () if finding is None else _told(finding, state)

    def judge_sight(self, state: DetectorState) -> Iterator[Verdict]:
        """Whether a job without heart-beats is heard of; with them `_judge_job` knows better."""
        sight, known = state.sight, state.docket.known(None, Trouble.JOB)
        if state.liveness.pulses or state.picture.finished:
            return
        is_lost = known is not None and known.fault is Fault.TELEMETRY_LOST
        if known is not None and is_lost and sight.is_back(known):
            reason = "the job is heard of again"
            yield from state.docket.clear(None, Trouble.JOB, moment(sight.heard), reason)
        elif known is None and state.picture.training_since is not None:
            finding = sight.judge(
                state.picture.departed,
                self.telemetry_timeout_seconds,
                state.slot_seconds,
                state.picture.generation,
            )
            yield from () if finding is None else state.docket.report(finding)


def _told(finding: Finding, state: DetectorState) -> Iterator[Verdict]:
    """A standstill is told of who is held to be its cause, or else of the job."""
    if finding.phase is Phase.FAILED:
        since, at = int(finding.onset.timestamp()), finding.detected_at
        laid = [*lay_standstill(state.docket, state.going_on, since, at, finding.summary)]
        if laid:
            yield from laid
            return
    yield from state.docket.report(finding)


def _told_silent(state: DetectorState) -> list[tuple[Pulse, Trouble, datetime]]:
    """The ranks whose silence is told of, in the order in which they came, and until when it is."""
    pulses = state.liveness.pulses
    told = [
        (subject.node, pulses.of_rank(verdict.rank), subject.trouble, verdict.detected_at)
        for subject, verdict in state.docket.open.items()
        if subject.trouble in _OF_SILENCE
        and subject.gpu is None
        and verdict.fault is not Fault.STRAGGLER
        and verdict.tier is not Tier.APPLICATION
    ]
    found = [(one, trouble, at) for node, one, trouble, at in told if one and one.node == node]
    places = pulses.seats.places
    return sorted(found, key=lambda one: (places[one[0].rank], _OF_SILENCE.index(one[1])))


def _judge_groups(state: DetectorState) -> Iterator[Verdict]:
    """Whether nodes that fell silent together are heard of again, and the job goes on."""
    for group in state.docket.groups:
        motion, progress = state.machines.absences.motion, state.liveness.newest_progress()
        has_stepped = progress is not None and progress > group.detected_at.timestamp()
        if state.company.is_over(group, is_moving=motion.is_moving or has_stepped):
            reason = f"all {len(group.members)} nodes are heard of again"
            yield from state.docket.clear_group(group, moment(state.sight.head), reason)
