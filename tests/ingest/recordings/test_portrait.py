"""A job's description follows from what its telemetry and events say."""

from __future__ import annotations

import math

from ingest.recordings.recorded import JOB, batch, event
from paramedic.ingest.contract import Entity, EventKind, NodeName
from paramedic.ingest.recordings.description import NodeRoles, RankRoles
from paramedic.ingest.recordings.portrait import Portrait


def test_nodes_gpus_and_ranks_are_those_that_telemetry_speaks_of() -> None:
    portrait = Portrait(JOB)
    portrait.see(batch(0, {"b": 1.0, "a": 1.0}, entity=Entity.RANK))
    portrait.see(batch(0, {"a": 1.0}, entity=Entity.GPU))
    job = portrait.description()
    assert job.nodes == (NodeRoles(NodeName("a"), 1), NodeRoles(NodeName("b"), 0))
    assert job.ranks == (RankRoles(0, NodeName("b")), RankRoles(1, NodeName("a")))


def test_a_rank_that_moves_is_where_it_was_last() -> None:
    portrait = Portrait(JOB)
    portrait.see(batch(0, {"a": 1.0}, entity=Entity.RANK))
    portrait.see(batch(9, {"spare": 1.0}, entity=Entity.RANK))
    assert portrait.description().ranks == (RankRoles(0, NodeName("spare")),)


def test_roles_sizes_and_cadence_come_from_events() -> None:
    portrait = Portrait(JOB)
    portrait.hear(event(0, EventKind.JOB_STATE, state="starting", sampling_seconds=15))
    joined = {"change": "joined", "pipeline_stage": 2, "switch": "leaf-7", "gpus": 8}
    portrait.hear(event(0, EventKind.MEMBERSHIP, node="a", **joined))
    portrait.hear(
        event(0, EventKind.MEMBERSHIP, node="a", rank=3, gpu=1, change="joined", tensor_rank=1)
    )
    job = portrait.description()
    assert job.sampling_seconds == 15.0
    assert job.nodes == (NodeRoles(NodeName("a"), 8, pipeline_stage=2, switch="leaf-7"),)
    assert job.ranks == (RankRoles(3, NodeName("a"), gpu=1, tensor_rank=1),)
    assert portrait.state is not None


def test_what_no_recording_may_tell_is_not_taken_from_events() -> None:
    portrait = Portrait(JOB)
    portrait.see(batch(0, {"a": 1.0}))
    for seconds in (1e300, math.inf, -15, 0, "15"):
        portrait.hear(event(0, EventKind.JOB_STATE, state="training", sampling_seconds=seconds))
    for stage in (-1, 2**31, True, 1.5):
        joined = {"change": "joined", "pipeline_stage": stage, "gpus": 10**12}
        portrait.hear(event(0, EventKind.MEMBERSHIP, node="a", **joined))
    job = portrait.description()
    assert (job.sampling_seconds, job.nodes) == (1.0, (NodeRoles(NodeName("a"), 1024),))


def test_nothing_new_is_no_new_version() -> None:
    portrait = Portrait(JOB)
    told = event(0, EventKind.MEMBERSHIP, node="a", change="joined", gpus=8)
    for _ in range(2):
        portrait.see(batch(0, {"a": 1.0}, entity=Entity.GPU))
        portrait.hear(told)
        portrait.hear(event(0, EventKind.XID, node="b", xid=79))
    version = portrait.version
    portrait.see(batch(1, {"a": 1.0}, entity=Entity.GPU))
    portrait.hear(told)
    assert portrait.version == version
    assert [node.name for node in portrait.description().nodes] == ["a"]
