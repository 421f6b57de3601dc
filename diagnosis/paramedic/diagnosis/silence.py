"""Heart-beat silence that a second channel confirms: a hang, or a node out of reach.

A late heart-beat under congestion is not a death: the operating system has to agree, either by its
own silence or by a process that is stopped or does nothing. When everybody is silent the frontier
stands still and nobody is accused: that is the whole job's trouble (`standstill`). The other ranks'
steps stop too, because they wait in a collective; they go on beating and are never accused.

Where samples get lost, a silence that ranks of this job have often ended says nothing, and neither
does a standstill that is no longer than a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Candidate, Evidence, Fault, Phase, Tier
from paramedic.diagnosis.ended_silences import LONGEST_SILENCES
from paramedic.diagnosis.finding import Finding, each_once, moment

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.diagnosis.liveness import Liveness, ProcessSample
    from paramedic.diagnosis.pulses import Pulse
    from paramedic.diagnosis.settings import SilenceSettings

_STOPPED = 0.5
"""`process_stopped` is 0 or 1."""
_FRESH_SECONDS = 2
"""A sample or a beat this old still speaks of now."""
_LAST_STEP_SECONDS = 2
"""A step may end so long after a rank that had done its part has fallen silent."""
_FEWEST_BEATS = 3
"""So many that are missing are a silence."""
_LONGEST_STEPS = 1.5
"""A job whose newest step is older than so many usual ones makes none."""
_CONFIDENCE_CONFIRMED = {False: 0.99, True: 0.97}
"""Two independent channels over the whole time-out; early, two channels and the job's standstill
over a shorter time."""
_CONFIDENCE_LOST = 0.8
_CANDIDATES = 5
_RANKS_A_NODE = 16
"""At most, so that those of one node leave room for others."""


class _Confirmation(StrEnum):
    """What the second channel says, as a summary puts it."""

    NODE_SILENT = "its operating system is silent too"
    STOPPED = "its process is stopped"
    IDLE = "its process uses no CPU"
    STANDS = "no rank has made a step since"
    UNHEARD = "nothing else comes of it, but the job's steps go on: its telemetry is lost"


_FAULTS = {
    _Confirmation.NODE_SILENT: Fault.MACHINE_UNREACHABLE,
    _Confirmation.UNHEARD: Fault.TELEMETRY_LOST,
}
"""Every other confirmation is of a process that is there and does nothing."""
_BY_WORD = (_Confirmation.STOPPED, _Confirmation.IDLE)
"""What the operating system tells of the process; lost samples look like all others."""


@dataclass(frozen=True, slots=True)
class SilenceWatch:
    """Decides on silence at the frontier; keeps no state of its own."""

    settings: SilenceSettings

    def judge(self, liveness: Liveness) -> list[Finding]:
        """The silent ranks that a second channel confirms, by what has arrived so far."""
        frontier = liveness.beat_frontier()
        if frontier is None:
            return []
        settings = self.settings
        silent = liveness.pulses.silent(
            frontier, settings.early_silence_seconds, settings.beats_before_judged
        )
        found = (self._judge_one(pulse, liveness, frontier) for pulse in silent)
        return [finding for finding in found if finding is not None]

    @property
    def beats_before(self) -> int:
        """A rank is judged after so many heart-beats."""
        return self.settings.beats_before_judged

    def is_still(self, pulse: Pulse, liveness: Liveness, now: int) -> bool:
        """Whether the process is there, and stopped or idle as long as the rank is silent."""
        confirmed = self._second_channel(pulse, liveness, now)
        return confirmed in _BY_WORD

    def is_alive_again(self, pulse: Pulse, frontier: int, decided: datetime) -> bool:
        """Whether the rank beats again, steadily and now, since its silence was `decided` on.

        When its peers leave, nobody is left that it could be late against; that is no beat.
        """
        fresh = frontier - pulse.heard_at <= _FRESH_SECONDS
        is_since = pulse.heard_at > decided.timestamp()
        return fresh and is_since and pulse.in_a_row >= self.settings.beats_before_judged

    def needed_seconds(self, pulse: Pulse, liveness: Liveness, frontier: int) -> float | None:
        """How long the rank has to be silent by now; None where the second channel contradicts."""
        confirmation = self._second_channel(pulse, liveness, frontier)
        if confirmation is None:
            return None
        usual = liveness.pulses.ended.usual_seconds(frontier)
        return max(self._timeout_seconds(pulse), self._least_seconds(confirmation, usual))

    def is_told_of_steps(self, liveness: Liveness, frontier: int) -> bool:
        """Whether steps go on, in which every rank takes part."""
        return self._goes_on(liveness, frontier)

    def _judge_one(self, pulse: Pulse, liveness: Liveness, frontier: int) -> Finding | None:
        """Of a rank that was not heard for long enough to be decided on early."""
        silent_seconds = frontier - pulse.heard_at
        if silent_seconds >= self._timeout_seconds(pulse):
            confirmation = self._second_channel(pulse, liveness, frontier)
            usual = liveness.pulses.ended.usual_seconds(frontier)
            if confirmation is None or silent_seconds < self._least_seconds(confirmation, usual):
                return None
            return _finding(pulse, liveness, frontier, Tier.HEARTBEAT, confirmation)
        return self._judge_early(pulse, liveness, frontier)

    def _least_seconds(self, confirmation: _Confirmation, usual_silence_seconds: int) -> float:
        """So long a silence is more than lost samples, by what the second channel says."""
        if confirmation in _BY_WORD:
            return 0.0
        is_lost = confirmation is _Confirmation.UNHEARD
        least = self.settings.telemetry_timeout_seconds if is_lost else 0.0
        return max(least, LONGEST_SILENCES * usual_silence_seconds)

    def _timeout_seconds(self, pulse: Pulse) -> float:
        """The time-out, or some beats where they are told of seldom."""
        least = _FEWEST_BEATS * pulse.interval_seconds
        return max(self.settings.heartbeat_timeout_seconds, least)

    def _judge_early(self, pulse: Pulse, liveness: Liveness, frontier: int) -> Finding | None:
        """A hang before the time-out: process stopped, and nobody in the job makes a step."""
        progress = liveness.newest_progress()
        wanted = self.settings.early_stopped_samples
        # A sample is taken at the end of its second: one of the next second knows of the stop.
        newest = _samples_after(pulse.last_second, pulse, liveness)[-wanted:]
        if (
            progress is None
            or frontier - progress < self.settings.early_stall_seconds
            or len(newest) < wanted
            or frontier - newest[-1].second > _FRESH_SECONDS
            or not all(sample.stopped >= _STOPPED for sample in newest)
        ):
            return None
        return _finding(pulse, liveness, frontier, Tier.PATTERN, _Confirmation.STOPPED)

    def _second_channel(
        self, pulse: Pulse, liveness: Liveness, frontier: int
    ) -> _Confirmation | None:
        kept = liveness.samples.get(pulse.node)
        if not kept:
            return self._by_steps(pulse, liveness, frontier)
        if self._is_node_silent(pulse, liveness):
            goes_on = self._goes_on(liveness, frontier)
            return _Confirmation.UNHEARD if goes_on else _Confirmation.NODE_SILENT
        if frontier - kept[-1].second > _FRESH_SECONDS:
            return None
        if kept[-1].stopped >= _STOPPED:
            return _Confirmation.STOPPED
        if self._is_idle(_samples_since(pulse, liveness)):
            return _Confirmation.IDLE
        # Without a word about the process, CPU that is used may be anybody's.
        is_told = not math.isnan(kept[-1].stopped)
        return None if is_told else self._by_steps(pulse, liveness, frontier)

    def _is_node_silent(self, pulse: Pulse, liveness: Liveness) -> bool:
        """Nothing newer comes of the node, and its peers speak on.

        Where samples get lost, all of it falls silent at once: else they are lost here and there.
        """
        heard, now = liveness.heard[pulse.node], liveness.node_frontier() or 0
        usual = LONGEST_SILENCES * liveness.ended.usual_seconds(now)
        needed, since = max(self.settings.node_silence_seconds, usual), now - heard.second
        at_once = (
            not usual or heard.second - pulse.heard_at <= self.settings.clock_tolerance_seconds
        )
        return at_once and since >= needed and liveness.round - heard.round >= needed / 2

    def _by_steps(self, pulse: Pulse, liveness: Liveness, frontier: int) -> _Confirmation | None:
        """Where nothing is told of processes: the job stands since it fell silent, and few did."""
        progress = liveness.newest_progress()
        if progress is None or not liveness.knows_steps or self._goes_on(liveness, frontier):
            return None
        timeout = self.settings.heartbeat_timeout_seconds
        silent, beating = liveness.pulses.count_silent(frontier, timeout, _FEWEST_BEATS)
        in_flight = _LONGEST_STEPS * liveness.usual_step_seconds + _LAST_STEP_SECONDS
        is_since = abs(progress - pulse.last_second) <= in_flight
        return _Confirmation.STANDS if is_since and 3 * silent <= beating else None

    def _goes_on(self, liveness: Liveness, frontier: int) -> bool:
        """Whether steps are made, in which every rank takes part: who is not heard is alive."""
        progress = liveness.newest_progress()
        longest = self.settings.node_silence_seconds - _LAST_STEP_SECONDS
        longest = max(longest, _LONGEST_STEPS * liveness.usual_step_seconds + _LAST_STEP_SECONDS)
        return progress is not None and frontier - progress < longest

    def _is_idle(self, samples: list[ProcessSample]) -> bool:
        """No CPU used in any sample of the silence, and at least half of it sampled."""
        enough = len(samples) >= self.settings.heartbeat_timeout_seconds / 2
        return enough and all(s.cpu_ratio <= self.settings.idle_cpu_ratio for s in samples)


def _samples_since(pulse: Pulse, liveness: Liveness) -> list[ProcessSample]:
    """Samples of the silence, leaving out the second in which the rank may still have worked."""
    return _samples_after(pulse.last_second + 1, pulse, liveness)


def _samples_after(second: int, pulse: Pulse, liveness: Liveness) -> list[ProcessSample]:
    kept = liveness.samples.get(pulse.node, ())
    return [sample for sample in kept if sample.second > second]


def _finding(
    pulse: Pulse, liveness: Liveness, frontier: int, tier: Tier, confirmation: _Confirmation
) -> Finding:
    silent_seconds = frontier - pulse.heard_at
    lost = confirmation is _Confirmation.UNHEARD
    early = tier is Tier.PATTERN
    return Finding(
        node=pulse.node,
        rank=pulse.rank,
        generation=pulse.generation,
        fault=_FAULTS.get(confirmation, Fault.HANG),
        phase=Phase.SYMPTOM if lost else Phase.FAILED,
        tier=tier,
        confidence=_CONFIDENCE_LOST if lost else _CONFIDENCE_CONFIRMED[early],
        onset=moment(pulse.last_second),
        detected_at=moment(frontier),
        summary=(
            f"rank {pulse.rank} on {pulse.node} has sent no heart-beat for {silent_seconds} s"
            f" while its peers' go on, and {confirmation}"
            f"{'; no rank makes a step' if early else ''}"
        ),
        candidates=longest_silence(liveness, frontier),
        evidence=_evidence(pulse, liveness, silent_seconds),
    )


def longest_silence(liveness: Liveness, frontier: int) -> tuple[Candidate, ...]:
    """Everybody by seconds of silence, the longest first."""
    ranked = liveness.pulses.longest_silent(_CANDIDATES * _RANKS_A_NODE)
    silent = ((one.node, float(max(0, frontier - one.last_second))) for one in ranked)
    return each_once(silent, _CANDIDATES)


def _evidence(pulse: Pulse, liveness: Liveness, silent_seconds: int) -> tuple[Evidence, ...]:
    since = moment(pulse.last_second)
    beats = Evidence("heartbeat", None, 1.0, -float(silent_seconds), since)
    during = _samples_since(pulse, liveness)
    if not during:
        return (beats, Evidence("cpu_utilization_ratio", None, None, 0.0, since))
    newest = during[-1]
    observed = (("process_stopped", newest.stopped), ("cpu_utilization_ratio", newest.cpu_ratio))
    second = (Evidence(m, v, None, 0.0, since) for m, v in observed if not math.isnan(v))
    return (beats, *second)
