"""What `job.json` says of roles is told when a node first speaks, unless events have told it."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.recordings.recorded import JOB, START, batch, event
from paramedic.ingest.contract import Event, EventKind, NodeName, TelemetryBatch
from paramedic.ingest.recordings.description import JobDescription, NodeRoles, RankRoles
from paramedic.ingest.recordings.introducing import introduced
from paramedic.ingest.recordings.moment import Moment

NODES = (
    NodeRoles(NodeName("a"), 8, pipeline_stage=0, switch="leaf-1"),
    NodeRoles(NodeName("b"), 8, pipeline_stage=1),
    NodeRoles(NodeName("c"), 8),
)
A_AND_B = {"a": 1.0, "b": 1.0}


def told(job: JobDescription, facts: Sequence[TelemetryBatch | Event]) -> list[object]:
    """Batches by their second, introductions as node, rank and roles."""
    moments = introduced((Moment(at, fact) for at, fact in enumerate(facts)), job)
    return [
        (one.fact.node, one.fact.rank, dict(one.fact.details))
        if isinstance(one.fact, Event)
        else one.fact.second - START
        for one in moments
    ]


def test_a_node_is_introduced_once_before_it_speaks() -> None:
    job = JobDescription(JOB, 1.0, NODES)
    assert told(job, [batch(0, {"b": 1.0, "c": 1.0}), batch(1, A_AND_B), batch(2, A_AND_B)]) == [
        ("b", None, {"change": "joined", "pipeline_stage": 1}),
        0,
        ("a", None, {"change": "joined", "pipeline_stage": 0, "switch": "leaf-1"}),
        1,
        2,
    ]


def test_ranks_are_introduced_with_their_node_s_roles_and_their_own() -> None:
    ranks = (RankRoles(7, NodeName("a"), gpu=2, pipeline_stage=5, tensor_rank=1),)
    job = JobDescription(JOB, 1.0, NODES, ranks)
    introductions = told(job, [batch(0, {"a": 1.0})])[:-1]
    roles = {"pipeline_stage": 5, "switch": "leaf-1", "tensor_rank": 1}
    assert introductions[1:] == [("a", 7, {"change": "joined", **roles})]


def test_who_was_introduced_by_an_event_is_not_introduced_again() -> None:
    job = JobDescription(JOB, 1.0, NODES)
    known = event(0, EventKind.MEMBERSHIP, node="a", change="joined", pipeline_stage=3)
    plain = event(0, EventKind.MEMBERSHIP, node="b", change="joined")
    assert told(job, [known, plain, batch(0, A_AND_B)])[2:] == [
        ("b", None, {"change": "joined", "pipeline_stage": 1}), 0
    ]  # fmt: skip


def test_a_later_event_does_not_change_what_was_told_before() -> None:
    job = JobDescription(JOB, 1.0, NODES)
    known = event(9, EventKind.MEMBERSHIP, node="a", change="joined", pipeline_stage=3)
    facts: list[TelemetryBatch | Event] = [batch(0, A_AND_B), batch(1, A_AND_B), known]
    assert told(job, facts)[: len(told(job, facts[:2]))] == told(job, facts[:2])
