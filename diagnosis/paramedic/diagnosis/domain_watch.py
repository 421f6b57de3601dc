"""Finds switches, racks and stages whose nodes depart together: what they share has failed.

Each domain is a row among the others of its kind, weighed as machines are, and more patiently:
congestion of a switch comes and goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from paramedic.diagnosis.beginnings import WITH_A_DOMAIN_SECONDS
from paramedic.diagnosis.departure import departure_of
from paramedic.diagnosis.domain_rows import OF_A_STAGE, SHARED, DomainRows
from paramedic.diagnosis.finding import FEWEST_MEMBERS
from paramedic.diagnosis.grouping import Domain, DomainKind, Group
from paramedic.diagnosis.rows_test import RowsTest
from paramedic.ingest.contract import NodeName
from paramedic.models.departure.character import OF_WORK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from paramedic.diagnosis.departure import Departure
    from paramedic.diagnosis.settings import DepartureSettings
    from paramedic.ingest.contract import Entity, Window

    Domains = Mapping[Domain, frozenset[NodeName]]

_HINT = 0.2
"""With so much of what decides against its domain, a node is not accused alone of the same."""
_FIRST_HINT = 0.05
"""With so much, if it began as what speaks against the node."""
_MOSTLY = 0.9
_ABOUT_AS_MUCH = 0.7
_DEPARTS_TOO = 0.35
_MOST_OF_IT = 2 / 3
_ALMOST_ALL = 0.9
_SLOTS_SHOWN = 60
_SLOT_SECONDS = 3
"""What a domain does is looked at so often: what befalls a group takes a minute to tell anyway."""


class Befallen(NamedTuple):
    """A domain that has departed, and what speaks against it."""

    group: Group
    departure: Departure
    window: Window
    """Of all domains of the kind."""


class _Weighed(NamedTuple):
    """A domain, and the evidence against it."""

    kind: DomainKind
    at: int
    """Its row."""
    strength: float
    nodes: frozenset[NodeName]


class Candidate(NamedTuple):
    """A declared domain, and how the evidence against it stands."""

    domain: Domain
    nodes: frozenset[NodeName]
    others: int
    """How many more are declared of its kind."""
    strength: float | None
    """As a share of what decides; None where it is not compared."""
    level: float
    """In nats."""
    since: int

    @property
    def has_members(self) -> bool:
        """Whether its nodes are enough to be a group."""
        return len(self.nodes) >= FEWEST_MEMBERS


class _Standing(NamedTuple):
    strength: float
    calm_slots: float
    since: int

    def began_about(self, departure: Departure) -> bool:
        """Whether evidence against the domain began as that against the node did."""
        return abs(self.since - departure.since) <= WITH_A_DOMAIN_SECONDS


@dataclass(slots=True)
class DomainWatch:
    """The tests of one job's domains, a kind each."""

    settings: DepartureSettings
    _patient: DepartureSettings = field(init=False)
    _tests: dict[DomainKind, RowsTest] = field(init=False)
    _declared: Domains = field(default_factory=dict)
    _domains: dict[DomainKind, DomainRows] = field(default_factory=dict)
    """Those that can be compared."""

    def __post_init__(self) -> None:
        harmless = self.settings.group_harmless_seconds
        self._patient = replace(self.settings, harmless_seconds=harmless)
        self._tests = {kind: RowsTest.of(self.settings) for kind in DomainKind}

    def restart(self) -> None:
        """Forget all evidence; what is known of the domains is kept."""
        for test in self._tests.values():
            test.restart()

    def weigh(self, windows: Mapping[Entity, Window], domains: Domains) -> None:
        """Add a slot: of several short ones the last, which stands for all of them."""
        if domains is not self._declared and domains != self._declared:
            self._declared = domains
            named = _comparable(domains).items()
            self._domains = {kind: self._rows(kind, members) for kind, members in named}
        base = next(iter(windows.values()))
        together = max(1, round(_SLOT_SECONDS / base.slot_seconds))
        if (base.last_second // base.slot_seconds + 1) % together:
            return
        tests = sum(len(rows.domains) for rows in self._domains.values())
        for kind, rows in self._domains.items():
            window = rows.slot(windows, together)
            if window.metrics:
                self._tests[kind].weigh(window, None, tests, self._patient)

    def befallen(self, windows: Mapping[Entity, Window]) -> Befallen | None:
        """The domain that departs; windows of its slot."""
        if not any(test.evidence.decides.any() for test in self._tests.values()):
            return None
        one = _to_be_named(self._every())
        if one is None or not self._tests[one.kind].evidence.decides[one.at]:
            return None
        window = self._domains[one.kind].window(windows, _SLOTS_SHOWN)
        departure = departure_of(self._tests[one.kind], window, (one.at,), 1)
        members = tuple(sorted(one.nodes))
        group = Group(Domain(one.kind, departure.node), members, departure.since)
        return Befallen(group, departure, window)

    def _every(self) -> list[_Weighed]:
        """All domains that can be compared, the narrowest kind first."""
        return [
            _Weighed(kind, at, float(test.evidence.strength[at]), frozenset(rows.domains[row.node]))
            for kind, test in self._tests.items()
            if (rows := self._domains.get(kind)) is not None
            for at, row in enumerate(test.evidence.rows)
            if row.node in rows.domains
        ]

    def explains(self, departure: Departure) -> bool:
        """Whether what a node shows may come of what befalls its domain."""
        is_shared = departure.share_of(*OF_WORK, *SHARED) >= _MOSTLY
        return is_shared and any(
            one.strength >= _HINT or (one.strength >= _FIRST_HINT and one.began_about(departure))
            for one in self._of([departure.node])
        )

    def strength_of(self, node: NodeName) -> float:
        """The strongest evidence against a domain of the node, as a share of what decides."""
        return max((one.strength for one in self._of([node])), default=0.0)

    def candidates_of(self, node: NodeName) -> Iterator[Candidate]:
        """How each declared domain of the node stands."""
        for domain, nodes in sorted(self._declared.items()):
            if node not in nodes:
                continue
            rows = self._domains.get(domain.kind)
            evidence = self._tests[domain.kind].evidence
            compared = () if rows is None else tuple(row.node for row in evidence.rows)
            at = compared.index(NodeName(domain.name)) if domain.name in compared else None
            is_compared = at is not None and rows is not None and domain.name in rows.domains
            yield Candidate(
                domain,
                nodes,
                others=sum(one.kind is domain.kind for one in self._declared) - 1,
                strength=float(evidence.strength[at]) if at is not None and is_compared else None,
                level=evidence.level,
                since=evidence.since(at) if at is not None else 0,
            )

    def is_well(self, nodes: tuple[NodeName, ...], slot_seconds: int) -> bool:
        """Whether nothing has spoken against a domain of these nodes for long enough."""
        calm, needed = self.calm_seconds(nodes, slot_seconds)
        return calm is not None and calm >= needed

    def calm_seconds(
        self, nodes: tuple[NodeName, ...], slot_seconds: int
    ) -> tuple[float | None, float]:
        """For how long nothing has spoken against a domain of these nodes, and how long is enough;
        None where none is compared."""
        width = max(slot_seconds, _SLOT_SECONDS)
        calm = [one.calm_slots * width for one in self._of(nodes)]
        return (min(calm) if calm else None), float(self.settings.healthy_seconds_to_resolve)

    def _rows(self, kind: DomainKind, named: dict[str, frozenset[NodeName]]) -> DomainRows:
        """Those of the last slot, as long as they are the same."""
        known = self._domains.get(kind)
        if known is not None and known.domains == named:
            return known
        return DomainRows(named, OF_A_STAGE if kind is DomainKind.STAGE else SHARED)

    def _of(self, nodes: Collection[NodeName]) -> Iterator[_Standing]:
        """How each domain stands that has any of the nodes."""
        for kind, rows in self._domains.items():
            evidence = self._tests[kind].evidence
            for at, row in enumerate(evidence.rows):
                if not set(nodes).isdisjoint(rows.domains.get(row.node, ())):
                    yield _Standing(
                        float(evidence.strength[at]),
                        float(evidence.calm_slots[at]),
                        evidence.since(at),
                    )


def _to_be_named(every: list[_Weighed]) -> _Weighed | None:
    """Of those that depart about as much the widest of which every part departs.

    Half of a stage that hang on one switch move the stage's median with them; and what is wrong
    with a switch is wrong with every rack behind it.
    """
    strongest = max(every, key=lambda one: one.strength, default=None)
    if strongest is None:
        return None
    about = [one for one in every if one.strength >= _ABOUT_AS_MUCH * strongest.strength]
    widest_first = sorted(about, key=lambda one: (-len(one.nodes), -one.strength))
    return next((one for one in widest_first if _departs_as_a_whole(one, every)), strongest)


def _departs_as_a_whole(whole: _Weighed, every: list[_Weighed]) -> bool:
    parts = _parts(whole, every)
    covered = whole.nodes & frozenset(chain.from_iterable(part.nodes for part in parts))
    departs = all(part.strength >= _DEPARTS_TOO * whole.strength for part in parts)
    return not parts or (departs and len(covered) >= _ALMOST_ALL * len(whole.nodes))


def _parts(whole: _Weighed, every: list[_Weighed]) -> list[_Weighed]:
    """The domains of narrower kinds that lie mostly within."""
    return [
        one
        for one in every
        if len(one.nodes) < len(whole.nodes)
        and len(one.nodes & whole.nodes) >= _MOST_OF_IT * len(one.nodes)
    ]


def _comparable(domains: Domains) -> dict[DomainKind, dict[str, frozenset[NodeName]]]:
    """By kind, those with enough nodes to be a group, where there is more than one."""
    found: dict[DomainKind, dict[str, frozenset[NodeName]]] = {}
    for domain, nodes in sorted(domains.items()):
        if len(nodes) >= FEWEST_MEMBERS:
            found.setdefault(domain.kind, {})[domain.name] = nodes
    return {kind: named for kind, named in found.items() if len(named) > 1}
