"""Whether machines that depart at once share a switch, a rack or a stage: then that is what failed.

A domain explains what is seen when most of its nodes show evidence that began together, and hardly
anybody outside of it does. Of several that do, the one with the fewest misfits (its own nodes that
are well, and nodes outside of it that are not) explains it best. Pure functions of what is handed
in: nothing depends on names or on order.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from paramedic.diagnosis.finding import FEWEST_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from paramedic.ingest.contract import NodeName

    Domains = Mapping["Domain", frozenset[NodeName]]
    """The nodes of each declared domain."""


class DomainKind(StrEnum):
    """What nodes can share, the narrowest cause first."""

    SWITCH = "switch"
    RACK = "rack"
    STAGE = "stage"
    """A pipeline stage."""


_NARROWEST_FIRST = tuple(DomainKind)


class Domain(NamedTuple):
    """One switch, rack or stage."""

    kind: DomainKind
    name: str


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """When nodes count as a group. Strengths are shares of what would decide about one node."""

    member_strength: float = 0.5
    """A member needs no more: three of one domain that begin together are no chance."""
    hint_strength: float = 0.2
    """So much of two others is reason to wait before one node is accused alone."""
    together_seconds: float = 10.0
    """Evidence that began no further apart began together."""
    least_share: float = 0.8
    """Of a domain's nodes that have to be members."""
    largest_share_outside: float = 0.2
    """Of the nodes outside that may show evidence, too."""
    longest_wait_seconds: float = 10.0
    """A node that could be accused alone waits no longer for the others of its domain."""

    def __post_init__(self) -> None:
        if not 0 < self.hint_strength <= self.member_strength:
            raise ValueError(
                f"hint_strength ({self.hint_strength}) must be above 0 and at most"
                f" member_strength ({self.member_strength})"
            )
        if not 0 < self.least_share <= 1 or not 0 <= self.largest_share_outside < 1:
            raise ValueError(
                f"least_share ({self.least_share}) and largest_share_outside"
                f" ({self.largest_share_outside}) are shares of nodes, between 0 and 1"
            )


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes of one domain that depart together."""

    domain: Domain
    members: tuple[NodeName, ...]
    """By name, at least three."""
    size: int
    """How many nodes the domain has."""
    since: float
    """When the first member's evidence began (Unix seconds)."""


def find_group(
    domains: Domains,
    strengths: Mapping[NodeName, float],
    since: Mapping[NodeName, float],
    settings: GroupSettings,
) -> Group | None:
    """The domain that explains the evidence best; None where no domain does.

    `strengths` and `since` (Unix seconds) are each node's evidence and its beginning; a node that
    is in neither shows none. Nodes whose group is known already are to be left out by the caller,
    of the domains, too.
    """
    evident = _evident(strengths, since, settings.member_strength)
    if len(evident) < FEWEST_MEMBERS:
        return None
    job = _job(domains, strengths)
    tried = (_tried(domain, nodes, evident, job, settings) for domain, nodes in domains.items())
    best = min((one for one in tried if one is not None), key=_fit, default=None)
    return None if best is None else best.group


def may_become_group(
    node: NodeName,
    domains: Domains,
    strengths: Mapping[NodeName, float],
    since: Mapping[NodeName, float],
    settings: GroupSettings,
) -> bool:
    """Whether a node that could be accused alone should wait a moment for others of its domain.

    At least two of them show evidence that began with its own, and few outside do. For how long it
    waits, which is `longest_wait_seconds` at most, the caller has to count.
    """
    hinted = _evident(strengths, since, settings.hint_strength)
    begun = since.get(node)
    if begun is None or len(hinted) < FEWEST_MEMBERS - 1:
        return False
    near = {
        other
        for other, second in hinted.items()
        if other != node and abs(second - begun) <= settings.together_seconds
    }
    job = _job(domains, strengths)
    return any(
        len(near & nodes) >= FEWEST_MEMBERS - 1
        and len(nodes) < len(job)
        and _share_outside(hinted, nodes, job) <= settings.largest_share_outside
        for nodes in domains.values()
        if node in nodes
    )


def grown(
    members: Collection[NodeName],
    since: float,
    domains: Domains,
    strengths: Mapping[NodeName, float],
    settings: GroupSettings,
) -> Group | None:
    """A group that is known, with others of its domain that show evidence by now; None without any.

    Its domain is the smallest that has the most of its members; `since` is when it began.
    """
    known, job = frozenset(members), _job(domains, strengths)
    within = [
        (-len(known & nodes), len(nodes), _NARROWEST_FIRST.index(domain.kind), domain.name, domain)
        for domain, nodes in domains.items()
        if len(known & nodes) / len(known) >= settings.least_share and len(nodes) < len(job)
    ]
    if not within:
        return None
    domain = min(within)[-1]
    nodes = domains[domain]
    late = {node for node in nodes if strengths.get(node, 0.0) >= settings.member_strength} - known
    return Group(domain, tuple(sorted(known | late)), len(nodes | known), since) if late else None


class _Tried(NamedTuple):
    """A group that is possible."""

    group: Group
    misfits: int


def _tried(
    domain: Domain,
    nodes: frozenset[NodeName],
    evident: Mapping[NodeName, float],
    job: frozenset[NodeName],
    settings: GroupSettings,
) -> _Tried | None:
    """The group of this domain, if it is one. A domain that is the whole job is the job."""
    if len(nodes) < FEWEST_MEMBERS or len(nodes) == len(job):
        return None
    if _share_outside(evident, nodes, job) > settings.largest_share_outside:
        return None
    inside = {node: evident[node] for node in nodes if node in evident}
    begun, members = _together(inside, settings.together_seconds)
    if len(members) < FEWEST_MEMBERS or len(members) / len(nodes) < settings.least_share:
        return None
    misfits = len(nodes) - len(members) + len(evident) - len(inside)
    return _Tried(Group(domain, tuple(sorted(members)), len(nodes), begun), misfits)


def _fit(tried: _Tried) -> tuple[object, ...]:
    """The best comes first; names decide only where nothing else does."""
    group = tried.group
    narrowness = _NARROWEST_FIRST.index(group.domain.kind)
    return (tried.misfits, group.size, narrowness, group.since, group.domain.name)


def _together(since: Mapping[NodeName, float], seconds: float) -> tuple[float, frozenset[NodeName]]:
    """The most nodes whose evidence began within so many seconds, and when; the earliest such."""
    times = sorted(since.values())
    counts = [bisect_right(times, begun + seconds) - at for at, begun in enumerate(times)]
    most = max(counts, default=0)
    begun = times[counts.index(most)] if most else math.inf
    return begun, frozenset(node for node, at in since.items() if begun <= at <= begun + seconds)


def _evident(
    strengths: Mapping[NodeName, float], since: Mapping[NodeName, float], least: float
) -> dict[NodeName, float]:
    """When the evidence began of each node that has so much of it."""
    return {node: since[node] for node, one in strengths.items() if one >= least and node in since}


def _job(domains: Domains, strengths: Iterable[NodeName]) -> frozenset[NodeName]:
    return frozenset(strengths).union(*domains.values())


def _share_outside(
    evident: Collection[NodeName], nodes: frozenset[NodeName], job: frozenset[NodeName]
) -> float:
    """Of the nodes outside of a domain that is not the whole job."""
    inside = sum(node in evident for node in nodes)
    return (len(evident) - inside) / (len(job) - len(nodes))
