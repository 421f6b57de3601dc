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
