"""The whole job at once: silent, at a standstill, or no longer heard of. Nobody is accused of it.

Ranks are measured against each other everywhere else, so what befalls all of them alike shows
nowhere. Here they are measured against what still comes: heart-beats against the nodes' own rows,
steps against heart-beats, rows against the batches of others. It is only asked while the job
trains, and a job that has been seen to pause for long is given longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Severity, Tier
from paramedic.diagnosis.finding import Finding, each_once, moment
from paramedic.diagnosis.motion import Gait
from paramedic.diagnosis.silence import SilenceWatch, longest_silence

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.liveness import Liveness
    from paramedic.diagnosis.motion import Motion
    from paramedic.diagnosis.pace import Pace
    from paramedic.diagnosis.settings import StandstillSettings
    from paramedic.ingest.contract import NodeName

_CONFIDENCE_SILENT = 0.97
"""Two channels agree over the whole time-out."""
_CONFIDENCE_QUIET = 0.9
"""No step and no work; only a pause that nobody has announced looks alike."""
_CONFIDENCE_BUSY = 0.8
"""No step although the processes work: a long evaluation looks alike."""
_CONFIDENCE_LOST = 0.8
_OF_CARDS = {
    Gait.GONE: "the memory of their cards is free: the job has died",
    Gait.RESTS: "their cards do nothing: the job has died, or stands still",
    Gait.SPINS: "their cards are busy and do no work: the job stands still",
}
_CANDIDATES = 5
_SAMPLES_OF_QUIET = 30


@dataclass(frozen=True, slots=True)
class _Claim:
    """What has been seen of the job, before it is a finding."""

    fault: Fault
    tier: Tier
    confidence: float
    onset: int
    now: int
    summary: str
    candidates: tuple[Candidate, ...]
    metric: str
    value: float | None = None
    """What `metric` showed at last."""

    def finding(self, generation: int) -> Finding:
        is_standstill = self.fault is Fault.THROUGHPUT_DROP
        return Finding(
            node=None,
            rank=None,
            generation=generation,
            fault=self.fault,
            phase=Phase.FAILED if is_standstill else Phase.SYMPTOM,
            tier=self.tier,
            confidence=self.confidence,
            onset=moment(self.onset),
            detected_at=moment(self.now),
            summary=self.summary,
            candidates=self.candidates,
            evidence=(Evidence(self.metric, self.value, None, 0.0, moment(self.onset)),),
            severity=Severity.P0 if is_standstill else Severity.P2,
        )


@dataclass(frozen=True, slots=True)
class StandstillWatch:
    """Judges the job as a whole by what has arrived; keeps no state of its own."""

    settings: StandstillSettings
    silence: SilenceWatch

    def judge(
        self, liveness: Liveness, pace: Pace, since: float, generation: int, motion: Motion
    ) -> Finding | None:
        """What befalls all ranks at once, in a job that has been training `since` then.

        `motion` is what their cards do.
        """
        steady = liveness.pulses.steady(self.silence.beats_before)
        beat = liveness.ranks_reached()
        if beat is None or 2 * steady <= len(liveness.pulses):
            return None
        claim = (
            self._silent(liveness, beat, since, motion)
            or self._without_steps(liveness, pace, beat, since)
            or self._unheard(liveness, pace)
        )
        return None if claim is None else claim.finding(generation)

    def is_over(self, verdict: Verdict, liveness: Liveness) -> bool:
        """Whether the job that an open verdict speaks of goes on, or is heard of, again."""
        decided = verdict.detected_at.timestamp()
        progress = liveness.newest_progress()
        if verdict.fault is Fault.THROUGHPUT_DROP and progress is not None:
            return progress > decided
        beat = liveness.ranks_reached()
        return beat is not None and beat >= decided + self.silence.beats_before

    def _silent(self, liveness: Liveness, beat: int, since: float, motion: Motion) -> _Claim | None:
        """No heart-beats, though the nodes' own rows come: a standstill, or lost telemetry."""
        timeout = self.silence.settings.heartbeat_timeout_seconds
        now = liveness.nodes_reached()
        if now is None or now - max(beat, since) < timeout:
            return None
        seconds = min(now - max(beat, since), 2 * _rows_after(liveness, beat))
        if seconds < timeout:
            return None
        pulses = list(liveness.pulses)
        silent = sum(now - pulse.last_second >= timeout for pulse in pulses)
        still = sum(self.silence.is_still(pulse, liveness, now) for pulse in pulses)
        said = f"{_ranks(silent, len(pulses))} sent no heart-beat for {now - beat} s"
        fault, confidence = Fault.THROUGHPUT_DROP, _CONFIDENCE_SILENT
        text = f"{said}, and their processes are stopped or use no CPU: the job stands still"
        if 2 * still <= len(pulses):
            if seconds < self.settings.telemetry_timeout_seconds:
                return None
            is_told = now - motion.second < self.settings.telemetry_timeout_seconds
            if is_told and motion.standing_since(motion.slot_seconds) is not None:
                text = f"{said}, and {_OF_CARDS[motion.gait]}"
            elif is_told and motion.gait is not Gait.WORKS:
                return None  # it is a pause, or will be seen to be none
            else:
                fault, confidence = Fault.TELEMETRY_LOST, _CONFIDENCE_LOST
                text = f"{said}, but nothing says that they stand still: their telemetry is lost"
        candidates = longest_silence(liveness, now)
        return _Claim(fault, Tier.HEARTBEAT, confidence, beat, now, text, candidates, "heartbeat")

    def _without_steps(
        self, liveness: Liveness, pace: Pace, now: int, since: float
    ) -> _Claim | None:
        """Heart-beats come, and no rank makes a step."""
        newest, settings = pace.newest_step_second, self.settings
        if newest is None or pace.advances < settings.steps_before_judged:
            return None
        stalled_seconds = min(now - max(newest, since), pace.seconds_without_step)
        if stalled_seconds < min(
            settings.quiet_standstill_seconds, settings.busy_standstill_seconds
        ):
            return None
        nodes = liveness.pulses.seats.nodes
        quiet = all(self._is_quiet(node, liveness, newest) for node in nodes)
        least = settings.quiet_standstill_seconds if quiet else settings.busy_standstill_seconds
        if stalled_seconds < max(least, settings.longest_pauses * pace.longest_pause_seconds):
            return None
        doing = "use hardly any CPU" if quiet else "are at work on something"
        return _Claim(
            Fault.THROUGHPUT_DROP,
            Tier.APPLICATION,
            _CONFIDENCE_QUIET if quiet else _CONFIDENCE_BUSY,
            newest,
            now,
            f"no rank has made a step for {now - newest} s; heart-beats go on, and the processes"
            f" {doing}",
            _first_to_stop(liveness, now),
            "step",
            liveness.pulses.highest_step(),
        )

    def _is_quiet(self, node: NodeName, liveness: Liveness, since: int) -> bool:
        used = [s.cpu_ratio for s in liveness.samples.get(node, ()) if s.second > since + 1]
        idle = self.silence.settings.idle_cpu_ratio
        return len(used) >= _SAMPLES_OF_QUIET and sum(used) / len(used) <= idle

    def _unheard(self, liveness: Liveness, pace: Pace) -> _Claim | None:
        """Batches come, but hold next to nothing of this job's ranks and their nodes."""
        if pace.seconds_unheard < self.settings.telemetry_timeout_seconds:
            return None
        return _Claim(
            Fault.TELEMETRY_LOST,
            Tier.HEARTBEAT,
            _CONFIDENCE_LOST,
            pace.heard,
            pace.head,
            f"half of the job's nodes or more have sent nothing for {pace.seconds_unheard} s: their"
            " telemetry is lost, or they are out of reach",
            longest_silence(liveness, pace.head),
            "heartbeat",
        )


def _rows_after(liveness: Liveness, second: int) -> int:
    """The most rows that the operating system of any rank's node has sent since."""
    nodes = liveness.pulses.seats.nodes
    counts = (sum(s.second > second for s in liveness.samples.get(node, ())) for node in nodes)
    return max(counts, default=0)


def _ranks(some: int, ranks: int) -> str:
    """Who it is, with the verb.

    >>> _ranks(4, 4), _ranks(3, 4), _ranks(2, 2), _ranks(1, 1)
    ('all 4 ranks have', '3 of 4 ranks have', 'both ranks have', 'the only rank has')
    """
    if some == ranks <= 2:
        return "the only rank has" if ranks == 1 else "both ranks have"
    return f"all {ranks} ranks have" if some == ranks else f"{some} of {ranks} ranks have"


def _first_to_stop(liveness: Liveness, now: int) -> tuple[Candidate, ...]:
    """Everybody by seconds since the last step, the longest first."""
    ranked = sorted(
        (-(now - pulse.progressed_second), pulse.rank, pulse.node)
        for pulse in liveness.pulses
        if pulse.progressed_second is not None and math.isfinite(pulse.step)
    )
    return each_once(((node, float(-seconds)) for seconds, _, node in ranked), _CANDIDATES)
