"""Roles as events tell them: live, and from the description of a recording."""

from __future__ import annotations

import pytest

from diagnosis.synthetic import JOB, START, node_name
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.grouping import Domain, DomainKind
from paramedic.diagnosis.roles import JobRoles
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName, Table, TelemetryBatch
from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles
from paramedic.ingest.recordings.introducing import introduced
from paramedic.ingest.recordings.moment import Moment

LEAF, ROW = Domain(DomainKind.SWITCH, "leaf-7"), Domain(DomainKind.RACK, "r12")


def stage(number: int) -> Domain:
    return Domain(DomainKind.STAGE, str(number))


def change(
    kind: str, node: int, rank: int | None = None, **details: str | float | bool | None
) -> Event:
    details["change"] = kind
    at = moment(START)
    return Event(at, EventKind.MEMBERSHIP, JOB, node_name(node), rank=rank, details=details)


def heard(*events: Event) -> JobRoles:
    roles = JobRoles(JOB)
    for event in events:
        roles.hear(event)
    return roles


def names(*numbers: int) -> frozenset[NodeName]:
    return frozenset(map(node_name, numbers))


def test_domains_hold_whoever_is_present() -> None:
    roles = heard(*(change("joined", n, switch="leaf-7", pipeline_stage=n % 2) for n in range(4)))
    roles.hear(change("joined", 1, rack="r12"))
    assert roles.domains(names(0, 1, 2, 9)) == {
        LEAF: names(0, 1, 2),
        ROW: names(1),
        stage(0): names(0, 2),
        stage(1): names(1),
    }
    assert roles.domains(()) == {}
    roles.hear(change("joined", 9, switch="leaf-7"))
    assert roles.domains(()) == {}
    assert roles.domains(names(9)) == {LEAF: names(9)}
    roles.hear(change("joined", 9, rack="r12"))
    assert roles.domains(names(9)) == {LEAF: names(9), ROW: names(9)}


def test_ranks_hold_before_their_node() -> None:
    roles = heard(
        change("joined", 0, pipeline_stage=5),
        change("joined", 0, rank=0, pipeline_stage=2),
        change("joined", 0, rank=1, pipeline_stage=2),
    )
    assert roles.stage_of(node_name(0)) == 2


def test_a_node_whose_ranks_differ_has_no_stage() -> None:
    roles = heard(*(change("joined", 0, rank=rank, pipeline_stage=rank) for rank in range(2)))
    assert roles.stage_of(node_name(0)) is None
    assert roles.domains(names(0)) == {}


@pytest.mark.parametrize("rank", [None, 0])
def test_a_spare_takes_the_stage_over_and_not_the_switch(rank: int | None) -> None:
    roles = heard(
        change("joined", 0, switch="leaf-7"),
        change("joined", 0, rank=rank, pipeline_stage=3),
        change("replaced_by", 0, rank=rank, by=node_name(8)),
    )
    assert roles.stage_of(node_name(8)) == 3
    assert roles.domains(names(8)) == {stage(3): names(8)}


def test_other_events_tell_no_roles() -> None:
    roles = heard(Event(moment(START), EventKind.JOB_STATE, JOB, details={"sampling_seconds": 5}))
    assert roles.version == 0
    assert roles.stage_of(node_name(0)) is None


def test_a_replay_tells_the_roles_of_the_description() -> None:
    nodes = tuple(NodeRoles(node_name(n), 1, switch="leaf-7") for n in range(3))
    ranks = tuple(RankRoles(n, node_name(n), pipeline_stage=n // 2) for n in range(3))
    table = Table(Entity.NODE, tuple(one.name for one in nodes), None, {"load_average": (1.0,) * 3})
    batch = TelemetryBatch(JOB, 0, START, (table,))
    job = JobDescription(JOB, 1.0, nodes, ranks)
    facts = [one.fact for one in introduced([Moment(0, batch)], job)]
    roles = heard(*(fact for fact in facts if isinstance(fact, Event)))
    assert roles.domains(names(0, 1, 2)) == {
        LEAF: names(0, 1, 2),
        stage(0): names(0, 1),
        stage(1): names(2),
    }


def chains(*roles: JobRoles, nodes: int = 4) -> list[set[tuple[int, int]]]:
    """Who is chained to whom, in each of these."""
    pairs = [(one, other) for one in range(nodes) for other in range(one + 1, nodes)]
    return [{pair for pair in pairs if told.are_chained(*map(node_name, pair))} for told in roles]


def test_nodes_that_work_on_one_copy_of_the_model_are_chained() -> None:
    own = heard(*(change("joined", node, data_rank=node // 2) for node in range(4)))
    ranks = heard(*(change("joined", node, rank=node, data_rank=node // 2) for node in range(4)))
    assert chains(own, ranks) == [{(0, 1), (2, 3)}] * 2


def test_a_node_is_chained_by_each_of_its_ranks_and_not_by_its_own_word() -> None:
    roles = heard(
        *(change("joined", node, data_rank=9) for node in range(3)),
        *(change("joined", 0, rank=rank, data_rank=rank) for rank in range(2)),
        change("joined", 1, rank=2, data_rank=0),
        change("joined", 2, rank=3, data_rank=1),
    )
    assert chains(roles) == [{(0, 1), (0, 2)}]


@pytest.mark.parametrize(("experts", "chained"), [(1, set()), (2, {(0, 1), (2, 3)})])
def test_copies_that_exchange_tokens_with_each_others_experts_are_chained(
    experts: int, chained: set[tuple[int, int]]
) -> None:
    by_node = heard(*(change("joined", n, data_rank=n, expert_group=n % experts) for n in range(4)))
    by_rank = heard(
        *(change("joined", n, rank=n, data_rank=n, expert_group=n % experts) for n in range(4))
    )
    assert chains(by_node, by_rank) == [chained, chained]


def test_nodes_of_which_no_copy_is_known_are_chained_to_nobody() -> None:
    told = heard(*(change("joined", node, pipeline_stage=0, switch="leaf-7") for node in range(3)))
    told.hear(change("joined", 3, data_rank=0))
    assert chains(told, heard()) == [set(), set()]


def test_who_is_chained_follows_what_is_told() -> None:
    roles = heard(*(change("joined", node, data_rank=node) for node in range(2)))
    assert chains(roles) == [set()]
    roles.hear(change("joined", 1, data_rank=0))
    assert chains(roles) == [{(0, 1)}]
