"""Keys keep the peers of a shard together, today and after a restart."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.batch.key import message_key, shard_of
from paramedic.ingest.contract import JobName, NodeName

unhurried = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@unhurried
@given(st.text(min_size=1).filter(lambda text: text.isprintable()), st.integers(0, 512))
def test_a_job_of_up_to_512_nodes_has_one_shard(node: str, node_count: int) -> None:
    assert shard_of(NodeName(node), node_count) == 0


@pytest.mark.parametrize(("node_count", "shards"), [(513, 2), (1024, 2), (1025, 3), (5000, 10)])
def test_a_larger_job_uses_all_its_shards_about_evenly(node_count: int, shards: int) -> None:
    found = [shard_of(NodeName(f"node-{n:04d}"), node_count) for n in range(node_count)]
    assert set(found) == set(range(shards))
    assert max(found.count(shard) for shard in range(shards)) < 1.3 * node_count / shards


def test_the_shard_of_a_node_never_changes_between_processes_or_releases() -> None:
    nodes = [NodeName(f"node-{n:04d}") for n in range(6)]
    assert [shard_of(node, 5000) for node in nodes] == [7, 3, 9, 7, 2, 2]


def test_the_key_names_job_and_shard() -> None:
    assert message_key(JobName("team/llama-7b"), 3) == "team/llama-7b/3"
