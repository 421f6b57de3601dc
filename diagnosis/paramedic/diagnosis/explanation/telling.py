"""Explanations as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.departing import is_higher
from paramedic.diagnosis.explanation.curves import PRESENCE
from paramedic.diagnosis.explanation.domains import ALIKE
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.diagnosis.explanation.words import (
    PHASES,
    TIERS,
    fault_words,
    place_of,
    severity_words,
)
from paramedic.ingest.contract import Entity, format_time

if TYPE_CHECKING:
    from datetime import datetime

    from paramedic.diagnosis.contract import Evidence, Verdict
    from paramedic.diagnosis.excuses import Hold
    from paramedic.diagnosis.explanation.explained import Explanation
    from paramedic.diagnosis.explanation.standing import Standing
    from paramedic.ingest.contract import NodeName

_INDEXED = {Entity.GPU: "GPU", Entity.RANK: "rank"}
_MOST_NOTES = 2
_BAR = 10
"""Characters of a full bar."""


def lines_of_verdict(explanation: Explanation) -> Iterator[str]:
    """Why a verdict was given."""
    verdict = explanation.verdict
    yield (
        f"verdict {verdict.id}: {verdict.severity.value}, {verdict.status.value},"
        f" confidence {verdict.confidence:.2f}"
    )
    yield f"  {verdict.summary}"
    yield ""
    yield f"what      {verdict.fault.value}: {fault_words(verdict)} ({PHASES[verdict.phase]})"
    yield f"where     {place_of(verdict)}; job {verdict.job}, generation {verdict.generation}"
    yield f"since     {_when(explanation)}"
    yield f"found by  {TIERS[verdict.tier]}"
    yield from _life(explanation)
    yield from _evidence(verdict)
    yield from _candidates(verdict)
    yield from _considered(explanation)
    yield ""
    yield f"severity  {verdict.severity.value}: {severity_words(verdict)}"
    yield f"action    {verdict.action.recommended.value}: {verdict.action.reason}"


def lines_of_standing(standings: Sequence[Standing]) -> Iterator[str]:
    """How evidence stands, the strongest first."""
    alike: dict[Standing, list[int]] = {}
    for one in sorted(standings, key=lambda one: -one.share):
        whole = replace(one, subject=replace(one.subject, index=None))
        indices = alike.setdefault(whole, [])
        indices += [] if one.subject.index is None else [one.subject.index]
    for one, indices in alike.items():
        whom = _whom(one.subject.entity, one.subject.node, indices)
        yield f"  {_bar(one)}  {whom}, {_kind(one)}: {_amount(one)}"
        if one.note:
            yield f"  {'':{_BAR}}  {one.note}"
        for hold in one.holds:
            yield f"  {'':{_BAR}}  held back: {hold.text}"


def subject_of(standing: Standing) -> str:
    """Whom it speaks of, such as `GPU 3 of node-0007`."""
    row = standing.subject
    return _whom(row.entity, row.node, [] if row.index is None else [row.index])


def _kind(standing: Standing) -> str:
    """What is watched, as people say it: a metric by its name, such as `compute`."""
    return measure_of(standing.kind).name


def _whom(entity: Entity, node: NodeName, indices: Sequence[int]) -> str:
    if entity not in _INDEXED or not indices:
        return node
    plural = "" if len(indices) == 1 else "s"
    return f"{_INDEXED[entity]}{plural} {', '.join(map(str, indices))} of {node}"


def _when(explanation: Explanation) -> str:
    fired = explanation.fired
    decided = explanation.verdict.first_detected_at or fired.detected_at
    return (
        f"{format_time(fired.onset)}; decided {explanation.seconds_to_decide:.0f} s later, at"
        f" {format_time(decided)}"
    )


def _life(explanation: Explanation) -> Iterator[str]:
    if len(explanation.life) > 1:
        for one in explanation.life:
            said = one.summary.partition("; it was: ")[0]
            yield f"          {format_time(one.detected_at)}  {one.status.value}: {said}"


def _evidence(verdict: Verdict) -> Iterator[str]:
    yield ""
    yield "evidence, each line against what its peers did at the same time:"
    for one in verdict.evidence:
        yield f"  {_evidence_words(one)}"
    if not verdict.evidence:
        yield "  none was told with it"


def _evidence_words(evidence: Evidence) -> str:
    if evidence.metric in PRESENCE and evidence.value is None:
        return f"{evidence.metric}: not heard since {_clock(evidence.since)}, while it should be"
    sizes = [abs(one) for one in (evidence.value, evidence.peers) if one is not None]
    measure = measure_of(evidence.metric, max(sizes, default=1.0))
    words = [f"{measure.name}: {measure.text(evidence.value)}"]
    if evidence.peers is not None:
        words.append(f"peers {measure.text(evidence.peers)}{_change(evidence)}")
    if evidence.deviation:
        side = "above" if is_higher(evidence) else "below"
        words.append(f"{abs(evidence.deviation):.1f} standard deviations {side} them")
    return f"{', '.join(words)}; since {_clock(evidence.since)}"


def _change(evidence: Evidence) -> str:
    if evidence.value is None or not evidence.peers:
        return ""
    return f" ({evidence.value / evidence.peers - 1:+.0%})"


def _candidates(verdict: Verdict) -> Iterator[str]:
    if len(verdict.candidates) > 1:
        yield ""
        yield "candidates, by the evidence against them:"
        for one in verdict.candidates:
            is_named = one.node == verdict.node or one.node in verdict.members
            yield f"  {one.node}  {one.score:g}{'  named' if is_named else ''}"


def _considered(explanation: Explanation) -> Iterator[str]:
    if explanation.considered:
        yield ""
        yield "considered when it was decided (what had added up, of what would decide):"
        yield from lines_of_standing(explanation.considered)


def _bar(standing: Standing) -> str:
    full = round(_BAR * min(standing.share, 1.0))
    return "█" * full + "·" * (_BAR - full)


def _amount(standing: Standing) -> str:
    unit = f" {standing.unit}".rstrip()
    if standing.evidence is None:
        return "nothing can be said"
    level = "" if standing.level is None else f" of {standing.level:.3g}"
    since = "" if standing.since is None else f", since {_clock(standing.since)}"
    return f"{standing.evidence:.3g}{level}{unit}{since}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}"


def lines_of_node(
    node: NodeName,
    at: datetime,
    verdicts: Sequence[Verdict],
    standings: Sequence[Standing],
    holds: Sequence[Hold] = (),
    ends: Mapping[str, Sequence[Hold]] = MappingProxyType({}),
) -> Iterator[str]:
    """How the evidence about a node stands, and why nothing has fired.

    `holds`: what keeps everything from being said of it, whatever the evidence; `ends`: what each
    verdict waits for, by its id.
    """
    yield f"{node} at {format_time(at)}"
    yield ""
    yield from (f"nothing is said of it now: {hold.text}" for hold in holds)
    for one in verdicts:
        yield (
            f"open: {one.severity.value} {one.fault.value} {one.id}, since"
            f" {format_time(one.onset)}: {one.summary}"
        )
        yield from (f"  {hold.text}" for hold in ends.get(one.id, ()))
    yield from [] if verdicts or holds else [_why_nothing(standings)]
    yield ""
    yield "evidence, the strongest first (what has added up, of what would decide):"
    yield from lines_of_standing(standings)


def _nothing_to_go_by(standings: Sequence[Standing]) -> str:
    """Where nobody could say how it works beside the others."""
    notes = [one.note for one in standings if one.tier is Tier.PATTERN and one.note]
    return "; ".join(["there is nothing to go by", *dict.fromkeys(notes)][: 1 + _MOST_NOTES])


def _why_nothing(standings: Sequence[Standing]) -> str:
    strongest = max(standings, key=lambda one: one.share, default=None)
    if strongest is None or strongest.share == 0:
        held = next((hold.text for one in standings for hold in one.holds), "")
        if held:
            why = f"nothing has added up against it: {held}"
        elif any(one.tier is Tier.PATTERN and one.evidence is not None for one in standings):
            why = "nothing speaks against it"
        else:
            why = _nothing_to_go_by(standings)
        return f"no verdict about it is open: {why}"
    held = strongest.holds[0].text if strongest.holds else strongest.note
    why = f": {held}" if strongest.holds or strongest.share >= 1 else ""
    why += "".join(f"; {h.text}" for one in standings if one.kind == ALIKE for h in one.holds[:1])
    return (
        f"no verdict about it is open: the strongest evidence, {_kind(strongest)} of"
        f" {subject_of(strongest)}, stands at {strongest.share:.0%} of what would decide{why}"
    )
