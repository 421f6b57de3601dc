"""Switches as rows: which becomes a group, how soon, what that explains, and when it is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pytest

from diagnosis.crowd import POWER, START, TENSOR, Crowd, Fault, name
from paramedic.diagnosis.departure import Departure
from paramedic.diagnosis.domain_watch import Befallen, DomainWatch
from paramedic.diagnosis.grouping import Domain, DomainKind
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

PAUSED, LOST = "pfc_tx_packets_per_second", "tcp_retransmits_per_second"
REPLAYS = "gpu_pcie_replays_per_second"
LEVELS = {
    Entity.GPU: {TENSOR: 0.42, "gpu_temperature_celsius": 60.0},
    Entity.NODE: {"cpu_utilization_ratio": 0.18, LOST: 3.0, PAUSED: 20.0},
}
ONSET, OF_EACH = 35, 3
DEFAULT = DepartureSettings(smoothing_seconds=(1.0,))
"""One pace costs less than three."""
SOON = replace(DEFAULT, group_harmless_seconds=30.0, healthy_seconds_to_resolve=8.0)
JOB = Crowd(nodes=18, gpus=1, seconds=85, levels=LEVELS, steps=())


def busy(
    nodes: Iterable[int], metric: str = PAUSED, first: int = ONSET, last: int = 10**9
) -> tuple[Fault, ...]:
    """These nodes count so much more of it than ever."""
    return tuple(Fault(n, 30.0, None, metric, Entity.NODE, first, last) for n in nodes)


def switches(
    nodes: int = 18, of_each: int = OF_EACH, kind: DomainKind = DomainKind.SWITCH
) -> dict[Domain, frozenset[NodeName]]:
    return {
        Domain(kind, f"{begin // of_each:02d}"): frozenset(map(name, range(begin, begin + of_each)))
        for begin in range(0, nodes, of_each)
    }


LEAF = Domain(DomainKind.SWITCH, "00")


@dataclass
class Watched:
    """A watch, and the groups that it has found, by seconds after the beginning."""

    watch: DomainWatch
    found: dict[int, Befallen] = field(default_factory=dict)
    windows: list[dict[Entity, Window]] = field(default_factory=list)

    @property
    def named(self) -> set[Domain]:
        return {one.group.domain for one in self.found.values()}


def watched(
    crowd: Crowd,
    domains: dict[Domain, frozenset[NodeName]] | None = None,
    settings: DepartureSettings = SOON,
) -> Watched:
    seen = Watched(DomainWatch(settings))
    for second, windows in enumerate(crowd.windows(held=2)):
        seen.watch.weigh(windows, switches(crowd.nodes) if domains is None else domains)
        befallen = seen.watch.befallen(windows)
        if befallen is not None:
            seen.found[second] = befallen
    return seen


@pytest.mark.parametrize("metric", [PAUSED, LOST])
def test_a_switch_whose_nodes_count_it_is_a_group_after_its_patience(metric: str) -> None:
    seen = watched(replace(JOB, faults=busy(range(3), metric)))
    first = min(seen.found)
    assert ONSET + SOON.group_harmless_seconds - 3 <= first <= ONSET + 45
    group, departure, window = seen.found[first]
    assert (group.domain, group.members) == (LEAF, (name(0), name(1), name(2)))
    assert ONSET <= group.since - START == departure.since - START <= ONSET + 2
    assert departure.loud == (metric,)
    assert [row.node for row in window.rows] == ["00", "01", "02", "03", "04", "05"]


def test_congestion_that_comes_and_goes_is_no_group() -> None:
    """By the settings that ship."""
    crowd = replace(JOB, seconds=150)
    passing = replace(crowd, faults=busy(range(3), last=ONSET + 40))
    assert watched(passing, settings=DEFAULT).found == {}
    lasting = min(watched(replace(crowd, faults=busy(range(3))), settings=DEFAULT).found)
    assert ONSET + DEFAULT.group_harmless_seconds - 3 <= lasting


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param(busy([1]), id="one node of a switch"),
        pytest.param(busy(range(18)), id="the whole fabric"),
        pytest.param(
            tuple(Fault(node, 0.5, metric=TENSOR, first=ONSET) for node in range(3)), id="work"
        ),
        pytest.param(busy(range(3), "cpu_utilization_ratio"), id="busy hosts"),
    ],
)
def test_no_switch_is_to_blame_for(faults: tuple[Fault, ...]) -> None:
    assert watched(replace(JOB, faults=faults)).found == {}


@pytest.mark.parametrize(
    "domains",
    [
        pytest.param(switches(of_each=2), id="switches of two nodes"),
        pytest.param({LEAF: switches()[LEAF]}, id="the only switch"),
        pytest.param({}, id="nothing is declared"),
    ],
)
def test_no_group_can_be_told_where(domains: dict[Domain, frozenset[NodeName]]) -> None:
    seen = watched(replace(JOB, faults=busy(range(4))), domains)
    assert seen.found == {}
    assert not seen.watch.explains(departure_of(name(0), PAUSED))


def test_every_domain_of_a_node_is_a_candidate_with_how_it_stands() -> None:
    racks = {Domain(DomainKind.RACK, "r"): frozenset(map(name, range(9)))}
    crowd = replace(JOB, faults=busy(range(3)), seconds=ONSET + 12)
    watch = watched(crowd, {**switches(), **racks}).watch
    rack, leaf = watch.candidates_of(name(0))
    assert (leaf.domain, leaf.others, len(leaf.nodes), leaf.has_members) == (LEAF, 5, 3, True)
    assert leaf.strength is not None
    assert 0 < leaf.strength < 1
    assert leaf.strength == watch.strength_of(name(0))
    assert leaf.level > 0
    assert ONSET <= leaf.since - START <= ONSET + 2
    assert (rack.domain.kind, rack.others, rack.strength) == (DomainKind.RACK, 0, None)
    assert [one.strength for one in watch.candidates_of(name(4))] == [None, 0.0]
    assert watch.strength_of(name(17)) == 0.0
    assert list(watch.candidates_of(NodeName("elsewhere"))) == []


def test_of_domains_with_the_same_nodes_the_narrowest_cause_is_named() -> None:
    racks, stages = (switches(kind=kind) for kind in (DomainKind.RACK, DomainKind.STAGE))
    seen = watched(replace(JOB, faults=busy(range(3))), {**stages, **racks, **switches()})
    assert seen.named == {LEAF}


@pytest.mark.parametrize(("nodes", "named"), [(4, DomainKind.SWITCH), (6, DomainKind.RACK)])
def test_a_domain_is_named_whose_nodes_all_depart_and_no_wider_one(
    nodes: int, named: DomainKind
) -> None:
    racks = switches(of_each=6, kind=DomainKind.RACK)
    leaves = {} if named is DomainKind.SWITCH else switches()
    fours = {
        Domain(DomainKind.SWITCH, f"four-{at}"): frozenset(map(name, range(at, at + 4)))
        for at in range(0, 16, 6)
    }
    seen = watched(replace(JOB, faults=busy(range(nodes))), {**racks, **(leaves or fours)})
    assert {one.kind for one in seen.named} == {named}


def test_of_two_domains_that_decide_the_one_with_more_evidence_is_named() -> None:
    two = busy(range(30, 33)) + busy(range(3), first=ONSET + 9)
    seen = watched(replace(JOB, nodes=36, seconds=100, faults=two))
    assert seen.named == {Domain(DomainKind.SWITCH, "10")}


def departure_of(
    node: NodeName, *loud: str, weights: Mapping[str, float] | None = None
) -> Departure:
    """Each of the loud metrics says as much, unless weights are given."""
    row = EntityKey(Entity.NODE, node)
    weights = weights or dict.fromkeys(loud, 1 / len(loud))
    return Departure(row, None, (row,), START, START + 9, 30.0, 20.0, {}, loud, weights)


def test_what_befalls_its_switch_explains_what_a_node_shows_of_it() -> None:
    watch = watched(replace(JOB, seconds=60, faults=busy(range(3)))).watch
    for loud in ((PAUSED,), (TENSOR, POWER), (TENSOR, LOST)):
        assert watch.explains(departure_of(name(1), *loud))
        assert not watch.explains(departure_of(name(9), *loud))
    for loud in ((REPLAYS,), (PAUSED, REPLAYS), ("cpu_utilization_ratio",)):
        assert not watch.explains(departure_of(name(1), *loud))
    for errors, is_explained in ((0.08, True), (0.12, False)):
        said = {PAUSED: 0.5, TENSOR: 0.5 - errors, REPLAYS: errors}
        assert watch.explains(departure_of(name(1), *said, weights=said)) is is_explained


def test_what_hardly_befalls_its_switch_explains_nothing() -> None:
    watch = watched(replace(JOB, seconds=ONSET + 4, faults=busy(range(3)))).watch
    assert not watch.explains(departure_of(name(1), PAUSED))


def test_what_began_as_it_did_for_the_switch_is_explained_sooner() -> None:
    crowd = replace(JOB, seconds=ONSET + 10, faults=busy(range(3)))
    watch = watched(crowd, settings=DEFAULT).watch
    one = departure_of(name(1), PAUSED)
    assert watch.explains(replace(one, since=START + ONSET))
    assert not watch.explains(replace(one, since=START + ONSET - 20))


def test_nodes_are_well_once_their_switch_has_not_been_suspected_for_long_enough() -> None:
    watch = DomainWatch(SOON)
    crowd = replace(JOB, seconds=90, faults=busy(range(3), last=55))
    well = []
    for second, windows in enumerate(crowd.windows(held=2)):
        watch.weigh(windows, switches())
        if watch.is_well((name(1), name(2)), 1):
            well.append(second)
        assert second < SOON.healthy_seconds_to_resolve or watch.is_well((name(9),), 1)
    again = next(at for at in well if at > 55)
    assert ONSET < max(at for at in well if at < again) < 50
    assert again >= 55 + SOON.healthy_seconds_to_resolve
    assert [at for at in well if at >= again] == list(range(again, 90))


def test_a_restart_forgets_what_has_befallen() -> None:
    seen = watched(replace(JOB, faults=busy(range(3))))
    seen.watch.restart()
    assert not seen.watch.explains(departure_of(name(1), PAUSED))
