"""Groups: most of a domain departs at once, and hardly anybody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.synthetic import node_name
from paramedic.diagnosis.grouping import (
    Domain,
    DomainKind,
    Group,
    GroupSettings,
    find_group,
    grown,
    may_become_group,
)
from paramedic.ingest.contract import NodeName

SETTINGS = GroupSettings()
A, B = Domain(DomainKind.SWITCH, "a"), Domain(DomainKind.SWITCH, "b")
RACK, STAGE = Domain(DomainKind.RACK, "r"), Domain(DomainKind.STAGE, "1")


@dataclass(frozen=True)
class Job:
    """Domains, and the second in which the evidence of each node that shows any began."""

    domains: Mapping[Domain, frozenset[NodeName]]
    since: Mapping[NodeName, float]
    strength: float = 1.0

    def strengths(self) -> dict[NodeName, float]:
        everybody = frozenset[NodeName]().union(*self.domains.values())
        return {node: self.strength if node in self.since else 0.0 for node in everybody}

    def group(self) -> Group | None:
        return find_group(self.domains, self.strengths(), self.since, SETTINGS)

    def waits(self, number: int) -> bool:
        return may_become_group(
            node_name(number), self.domains, self.strengths(), self.since, SETTINGS
        )


def some(*numbers: int) -> frozenset[NodeName]:
    return frozenset(map(node_name, numbers))


def job(since: Mapping[int, float], strength: float = 1.0, **domains: range) -> Job:
    """A job of twenty nodes with a switch `a`, and other domains as they are named."""
    known = {"a": A, "b": B, "rack": RACK, "stage": STAGE}
    spans = {"a": range(5), "b": range(5, 20), **domains}
    return Job(
        {known[kind]: some(*span) for kind, span in spans.items()},
        {node_name(number): second for number, second in since.items()},
        strength,
    )


def at_once(*numbers: int) -> dict[int, float]:
    return dict.fromkeys(numbers, 100.0)


def test_four_of_five_behind_a_switch_are_a_group() -> None:
    assert job({0: 103.0, 1: 100.0, 3: 110.0, 4: 101.0}).group() == Group(
        A, tuple(sorted(some(0, 1, 3, 4))), 5, 100.0
    )


@pytest.mark.parametrize(
    ("why", "seen"),
    [
        ("three of five are too few", job(at_once(0, 1, 2))),
        ("two are no group", job(at_once(0, 1), a=range(2))),
        ("one began long after", job({**at_once(0, 1, 2), 3: 111.0})),
        ("the evidence is weak", job(at_once(0, 1, 2, 3, 4), strength=0.49)),
        ("as many outside", job(at_once(0, 1, 2, 3, 4, 5, 6, 7, 8))),
        ("a domain that is the whole job", job(at_once(*range(20)), rack=range(20))),
    ],
)
def test_no_group(why: str, seen: Job) -> None:
    assert seen.group() is None, why


def test_of_two_domains_that_explain_it_the_smaller_one_wins() -> None:
    seen = job(at_once(0, 1, 2, 3, 4), rack=range(6))
    assert seen.group() == Group(A, tuple(sorted(some(0, 1, 2, 3, 4))), 5, 100.0)


def test_of_two_domains_with_the_same_nodes_the_narrower_cause_wins() -> None:
    alike = job(at_once(0, 1, 2, 3, 4), rack=range(5), stage=range(5))
    group = alike.group()
    assert group is not None
    assert group.domain == A


def test_a_rack_is_named_when_one_of_its_switches_does_not_explain_it() -> None:
    group = job(at_once(*range(7)), a=range(4), rack=range(8)).group()
    assert group is not None
    assert (group.domain, len(group.members)) == (RACK, 7)


def test_a_node_waits_while_two_others_of_its_domain_show_something() -> None:
    since = {0: 100.0, 1: 109.0, 2: 92.0}
    assert job(since, strength=0.2).waits(0)
    assert not job(since, strength=0.19).waits(0)
    assert not job({0: 100.0, 1: 109.0}).waits(0)
    assert not job({0: 100.0, 1: 109.0, 2: 112.0}).waits(0)
    assert not job({1: 109.0, 2: 112.0, 3: 110.0}).waits(0)


def test_nobody_waits_for_others_when_everybody_shows_something() -> None:
    assert not job(at_once(*range(20))).waits(0)
    assert not job(at_once(*range(20)), rack=range(20)).waits(0)


@pytest.mark.parametrize(
    ("why", "seen", "members"),
    [
        ("nobody new", job(at_once(0, 1, 2, 3)), None),
        ("one of the switch, however late", job({**at_once(0, 1, 2, 3), 4: 900.0}), range(5)),
        ("one elsewhere", job({**at_once(0, 1, 2, 3), 9: 900.0}), None),
        ("one that shows little", job({4: 900.0}, strength=0.4), None),
        ("a smaller domain", job({4: 900.0}, rack=range(4)), None),
        ("no domain has them", job({4: 900.0}, a=range(2, 7)), None),
    ],
)
def test_who_joins_a_group_that_is_known(why: str, seen: Job, members: range | None) -> None:
    group = grown(some(0, 1, 2, 3), 100.0, seen.domains, seen.strengths(), SETTINGS)
    wanted = None if members is None else Group(A, tuple(sorted(some(*members))), 5, 100.0)
    assert group == wanted, why


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="hint_strength"):
        GroupSettings(member_strength=0.1)
    with pytest.raises(ValueError, match="shares of nodes"):
        GroupSettings(least_share=1.2)


_NUMBERS = st.integers(0, 11)
_DOMAINS = st.dictionaries(
    st.builds(Domain, st.sampled_from(DomainKind), st.sampled_from("pqr")),
    st.frozensets(_NUMBERS.map(node_name), min_size=1),
    min_size=1,
    max_size=5,
)
_SINCE = st.dictionaries(_NUMBERS.map(node_name), st.integers(0, 20).map(float), max_size=4)
_AT_ONCE = st.fixed_dictionaries(
    {node_name(number): st.integers(0, 11).map(float) for number in range(3)},
    optional={node_name(number): st.integers(0, 11).map(float) for number in (3, 4)},
)
_JOBS = st.builds(
    Job,
    _DOMAINS.map(lambda one: {A: some(0, 1, 2, 3), **one, STAGE: some(*range(12))}),
    st.builds(lambda some_nodes, switch: {**some_nodes, **switch}, _SINCE, _AT_ONCE),
)
"""Twelve nodes, of which those of switch `a` depart at about the same time."""


@given(_JOBS)
def test_a_group_is_most_of_a_domain_that_began_together(seen: Job) -> None:
    group = seen.group()
    if group is None:
        return
    nodes, members = seen.domains[group.domain], frozenset(group.members)
    begun = [seen.since[node] for node in members]
    assert members <= nodes
    assert len(members) >= max(3, SETTINGS.least_share * group.size - 1e-9)
    assert min(begun) == group.since >= max(begun) - SETTINGS.together_seconds
    assert nodes != frozenset(seen.strengths())


@given(_JOBS, st.randoms(use_true_random=False))
def test_order_makes_no_difference(seen: Job, chance: Random) -> None:
    domains, since = list(seen.domains.items()), list(seen.since.items())
    chance.shuffle(domains)
    chance.shuffle(since)
    assert Job(dict(domains), dict(since)).group() == seen.group()


@given(_JOBS, st.permutations(range(12)))
def test_names_of_nodes_make_no_difference(seen: Job, order: list[int]) -> None:
    other = {node_name(number): node_name(100 + order[number]) for number in range(12)}
    domains = {one: frozenset(other[n] for n in nodes) for one, nodes in seen.domains.items()}
    renamed = Job(domains, {other[node]: second for node, second in seen.since.items()}).group()
    group = seen.group()
    assert (group is None) == (renamed is None)
    if group is not None and renamed is not None:
        assert renamed.domain == group.domain
        assert set(renamed.members) == {other[node] for node in group.members}


@given(_JOBS, _NUMBERS.map(node_name), st.integers(0, 10))
def test_a_node_of_the_domain_that_joins_in_time_leaves_it_a_group(
    seen: Job, node: NodeName, later: int
) -> None:
    group = seen.group()
    if group is None or node in seen.since or node not in seen.domains[group.domain]:
        return
    alone = {group.domain: seen.domains[group.domain]}
    more = Job(
        {**alone, Domain(DomainKind.STAGE, "rest"): frozenset(seen.strengths())},
        {**seen.since, node: group.since + later},
    ).group()
    assert more is not None
    assert set(more.members) == {*group.members, node}


@given(_JOBS)
def test_whoever_is_in_a_group_would_have_waited_for_it(seen: Job) -> None:
    group = seen.group()
    for number in range(12):
        if group is not None and node_name(number) in group.members:
            assert seen.waits(number)
