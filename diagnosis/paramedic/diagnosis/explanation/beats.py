"""How the silence of a node's ranks stands against the time-out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.ended_silences import LONGEST_SILENCES
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import Entity, EntityKey

if TYPE_CHECKING:
    from paramedic.diagnosis.liveness import Liveness
    from paramedic.diagnosis.pulses import Pulse
    from paramedic.diagnosis.silence import SilenceWatch
    from paramedic.ingest.contract import NodeName

_KIND = "heartbeat"
_UNIT = "s"
_BETWEEN_BEATS_SECONDS = 1


def of_beats(node: NodeName, liveness: Liveness, silence: SilenceWatch) -> Iterator[Standing]:
    """The silence of each rank on the node."""
    pulses = [one for one in liveness.pulses if one.node == node]
    for pulse in sorted(pulses, key=lambda one: one.rank):
        yield _of_pulse(pulse, liveness, silence)
    if not pulses:
        key = EntityKey(Entity.NODE, node)
        note = "it carries no rank that sends heart-beats"
        yield Standing(key, Tier.HEARTBEAT, _KIND, None, None, note=note)


def _of_pulse(pulse: Pulse, liveness: Liveness, silence: SilenceWatch) -> Standing:
    key = EntityKey(Entity.RANK, pulse.node, pulse.rank)
    frontier, timeout = liveness.beat_frontier(), silence.settings.heartbeat_timeout_seconds
    if not pulse.beats:
        note = "no heart-beat has been heard of it"
        return Standing(key, Tier.HEARTBEAT, _KIND, None, timeout, note=note, unit=_UNIT)
    if frontier is None:
        note = "it is the only rank that beats: there is nobody to compare it with"
        return Standing(key, Tier.HEARTBEAT, _KIND, None, timeout, note=note, unit=_UNIT)
    silent = frontier - pulse.heard_at
    silent = silent if silent > _BETWEEN_BEATS_SECONDS else 0
    needed = silence.needed_seconds(pulse, liveness, frontier)
    return Standing(
        key,
        Tier.HEARTBEAT,
        _KIND,
        float(silent),
        timeout if needed is None else needed,
        since=moment(pulse.last_second) if silent else None,
        note=_note(pulse, liveness, silence, frontier),
        unit=_UNIT,
        holds=tuple(_holds(pulse, liveness, silence, frontier, needed)),
    )


def _holds(
    pulse: Pulse, liveness: Liveness, silence: SilenceWatch, frontier: int, needed: float | None
) -> Iterator[Hold]:
    """What keeps the silence of a rank from being decided."""
    wanted = silence.settings.beats_before_judged
    if pulse.beats < wanted:
        words = "a rank is judged after some heart-beats have been heard of it"
        yield Hold(words, float(pulse.beats), float(wanted), "heart-beats")
    silent = float(frontier - pulse.heard_at)
    if silent > _BETWEEN_BEATS_SECONDS and silence.is_told_of_steps(liveness, frontier):
        yield Hold("the job makes steps, in which every rank takes part: it is alive")
    usual = liveness.pulses.ended.usual_seconds(frontier)
    longest = LONGEST_SILENCES * usual
    if needed is not None and _BETWEEN_BEATS_SECONDS < silent < longest <= needed:
        words = f"ranks of this job have come back from silences of {usual} s: it has to be longer"
        yield Hold(words, silent, longest, _UNIT)


def _note(pulse: Pulse, liveness: Liveness, silence: SilenceWatch, frontier: int) -> str:
    wanted = silence.settings.beats_before_judged
    if pulse.beats < wanted:
        return f"{pulse.beats} heart-beats were heard of it"
    if frontier - pulse.heard_at <= _BETWEEN_BEATS_SECONDS:
        return "its heart-beats go on"
    kept = liveness.samples.get(pulse.node)
    if not kept:
        return "the node's operating system says nothing, so no second channel can agree"
    quiet = (liveness.node_frontier() or 0) - kept[-1].second
    if quiet >= silence.settings.node_silence_seconds:
        return f"its operating system has been silent for {quiet} s too"
    if silence.is_still(pulse, liveness, frontier):
        return "its process is stopped, or uses no CPU: that confirms the silence"
    return "its process is alive and works, which contradicts the silence"
