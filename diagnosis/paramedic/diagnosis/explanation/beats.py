"""How the silence of a node's ranks stands against the time-out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
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
    if frontier is None:
        note = "it is the only rank that beats: there is nobody to compare it with"
        return Standing(key, Tier.HEARTBEAT, _KIND, None, timeout, note=note, unit=_UNIT)
    silent = max(0, frontier - pulse.last_second)
    return Standing(
        key,
        Tier.HEARTBEAT,
        _KIND,
        float(silent),
        timeout,
        since=moment(pulse.last_second) if silent else None,
        note=_note(pulse, liveness, silence, frontier),
        unit=_UNIT,
    )


def _note(pulse: Pulse, liveness: Liveness, silence: SilenceWatch, frontier: int) -> str:
    wanted = silence.settings.beats_before_judged
    if pulse.beats < wanted:
        return f"{pulse.beats} heart-beats were heard of it; it is judged after {wanted}"
    if frontier - pulse.last_second <= 1:
        return "its heart-beats go on"
    kept = liveness.samples.get(pulse.node)
    if not kept:
        said = "the node's operating system says nothing, so no second channel can agree"
        return f"{said}{_usual(liveness, frontier)}"
    quiet = (liveness.node_frontier() or 0) - kept[-1].second
    if quiet >= silence.settings.node_silence_seconds:
        return f"its operating system has been silent for {quiet} s too{_usual(liveness, frontier)}"
    if silence.is_still(pulse, liveness, frontier):
        return "its process is stopped, or uses no CPU: that confirms the silence"
    return "its process is alive and works, which contradicts the silence"


def _usual(liveness: Liveness, frontier: int) -> str:
    """What more is wanted where samples get lost."""
    usual = liveness.pulses.ended.usual_seconds(frontier)
    return f"; ranks of this job have come back from silences of {usual} s" if usual else ""
