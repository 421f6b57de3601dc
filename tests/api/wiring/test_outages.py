"""Nodes whose telemetry goes and comes back together are one line."""

from __future__ import annotations

import io
import math

from api.verdicts import NOON
from paramedic.api.wiring.many_jobs import ManyJobs
from paramedic.api.wiring.narrator import Narrator
from paramedic.api.wiring.outages import Outages
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName, Start, Topic


def event(node: int, change: str = "source_blind", entity: str | None = "gpu") -> Event:
    details = {"change": change} if entity is None else {"change": change, "entity": entity}
    name = NodeName(f"node-{node:04d}")
    return Event(NOON, EventKind.TELEMETRY, JobName("llama"), name, details=dict(details))


def test_gpu_and_host_of_all_nodes_are_one_line_after_a_moment() -> None:
    outages = Outages()
    for node in (1, 0):
        assert all(outages.takes(event(node, entity=one), float(node)) for one in ("gpu", "node"))
    assert list(outages.due(2.9)) == []
    assert list(outages.due(3.0)) == [
        "12:00:00Z job llama: telemetry of 2 nodes (GPU and host) is away: node-0000, node-0001"
    ]
    assert list(outages.due(math.inf)) == []


def test_nodes_that_lose_different_sources_are_told_apart() -> None:
    outages = Outages()
    for one in (event(0), event(1, entity="node"), event(2, entity=None)):
        outages.takes(one, 0.0)
    assert [line.partition("telemetry of ")[2] for line in outages.due(2.0)] == [
        "1 node (GPU) is away: node-0000",
        "1 node (host) is away: node-0001",
        "1 node is away: node-0002",
    ]


def test_those_that_follow_wait_for_each_other_and_a_return_does_not_wait() -> None:
    outages = Outages()
    outages.takes(event(0), 0.0)
    assert len(list(outages.due(2.0))) == 1
    for node in range(1, 21):
        outages.takes(event(node), 3.0)
    outages.takes(event(0, "source_back"), 3.0)
    (back,) = outages.due(5.0)
    assert back.endswith("telemetry of 1 node (GPU) is back: node-0000")
    assert list(outages.due(11.9)) == []
    (more,) = outages.due(12.0)
    assert "20 nodes (GPU) is away: node-0001, " in more
    assert more.endswith("node-0008 and 12 more")


def test_other_facts_are_not_held() -> None:
    assert not Outages().takes(event(0, "gpu_lost"), 0.0)


def test_what_is_held_at_the_end_is_told() -> None:
    bus, out, jobs = MemoryBus(), io.StringIO(), ManyJobs(lambda: 0.0)
    bus.publisher().publish(Topic.EVENTS, "llama/0", event(0).to_json())
    narrator = Narrator(
        jobs.hear, lambda topics: bus.subscribe(topics, Start.EARLIEST), out, rest=jobs.rest
    )
    narrator.start()
    narrator.close(10.0)
    assert out.getvalue().endswith("telemetry of 1 node (GPU) is away: node-0000\n")
