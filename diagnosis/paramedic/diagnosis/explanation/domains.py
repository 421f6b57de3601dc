"""How the evidence stands that what a node shares with others has failed: switch, rack, stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.excuses import Hold
from paramedic.diagnosis.explanation.alike import shared_by_many
from paramedic.diagnosis.explanation.of_two import between_two
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.diagnosis.finding import FEWEST_MEMBERS, moment
from paramedic.ingest.contract import Entity, EntityKey
from paramedic.ingest.wording import counted

if TYPE_CHECKING:
    from paramedic.diagnosis.domain_watch import Candidate
    from paramedic.diagnosis.machines import MachineWatch
    from paramedic.ingest.contract import NodeName, Window

ALIKE = "group"
"""The kind of evidence that nodes together have, whether or not they share anything."""


def of_domains(
    node: NodeName,
    watch: MachineWatch,
    windows: Mapping[Entity, Window],
    *,
    is_named: bool = False,
) -> Iterator[Standing]:
    """Each declared domain that the node is of, and what other nodes show as it does.

    `is_named`: a verdict says already that it does not work as it should.
    """
    key = EntityKey(Entity.NODE, node)
    candidates = list(watch.departures.domains.candidates_of(node))
    yield from (_of_candidate(key, one, watch) for one in candidates)
    machines = {kind: windows[kind] for kind in (Entity.GPU, Entity.NODE) if kind in windows}
    compared = [one.nodes for one in candidates if one.strength is not None]
    of_two = () if is_named else between_two(node, windows)
    holds = (*shared_by_many(node, machines, compared), *of_two)
    if holds or not candidates:
        undeclared = (
            "no switch, rack or stage is declared of it, so that nodes which depart together"
            " because they share one are no group"
        )
        note = "" if candidates else undeclared
        yield Standing(key, Tier.PATTERN, ALIKE, None, None, note=note, holds=holds)


def _of_candidate(key: EntityKey, one: Candidate, watch: MachineWatch) -> Standing:
    kind = f"{one.domain.kind.value} {one.domain.name}"
    nodes = counted(len(one.nodes), "node")
    why_not = _why_not_compared(one)
    if one.strength is None or why_not:
        note = f"{nodes} of it are here: {why_not}"
        return Standing(key, Tier.PATTERN, kind, None, None, note=note)
    return Standing(
        key,
        Tier.PATTERN,
        kind,
        one.strength * one.level,
        one.level,
        since=moment(one.since) if one.strength > 0 else None,
        note=f"{nodes} share it",
        unit="nats",
        holds=tuple(_holds(one, watch)),
    )


def _why_not_compared(one: Candidate) -> str:
    if not one.has_members:
        return f"{FEWEST_MEMBERS} are a group at least"
    if not one.others:
        return f"it is the only {one.domain.kind.value}, and there is none to compare it with"
    return "nothing that it can be the cause of is compared" if one.strength is None else ""


def _holds(one: Candidate, watch: MachineWatch) -> Iterator[Hold]:
    """What befalls many may pass, as congestion does, or be told otherwise."""
    excuse = watch.departures.excuses.of(one.domain, watch.weighed)
    if excuse is not None and (one.strength or 0.0) >= 1:
        yield excuse
    strength, harmless = one.strength or 0.0, watch.settings.group_harmless_seconds
    lasted = watch.weighed - one.since
    if 0 < strength < 1 and lasted < harmless:
        yield Hold("what its nodes show may pass for so long", float(lasted), harmless, "s")
