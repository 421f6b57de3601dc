"""Machines of a cluster, from batches and events to verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest

from diagnosis.crowd import JOB, START, TENSOR, Crowd, Fault, name
from diagnosis.playing import Fact, diagnose, firing, merged, tell
from paramedic.diagnosis.contract import (
    Fault as Family,
)
from paramedic.diagnosis.contract import (
    Phase,
    Scope,
    Status,
    Tier,
    Verdict,
)
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.judged_metrics import peers_part
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName, Table, TelemetryBatch

pytestmark = pytest.mark.long


ONE_PACE = DetectorConfig(departure=DepartureSettings(smoothing_seconds=(3.0,)))
QUICK = replace(
    ONE_PACE,
    departure=replace(
        ONE_PACE.departure, healthy_seconds_to_resolve=10.0, telemetry_timeout_seconds=10.0
    ),
)


def event(
    kind: EventKind,
    at: float,
    node: NodeName | None = None,
    gpu: int | None = None,
    **details: str | int,
) -> Event:
    return Event(datetime.fromtimestamp(START + at, UTC), kind, JOB, node, gpu, None, 0, details)


def training(width: int = 1) -> Event:
    return event(EventKind.JOB_STATE, -1, state="training", sampling_seconds=width)


def judge(facts: list[Fact], config: DetectorConfig = QUICK) -> list[Verdict]:
    return tell(config.build(JOB), facts)


@cache
def of_a_slow_gpu() -> tuple[Verdict, ...]:
    crowd = Crowd(seconds=100, faults=(Fault(3, 0.5, gpu=2, last=65),))
    return tuple(judge(merged(crowd.batches(), [training()])))


def test_a_departed_gpu_is_a_verdict_that_people_understand() -> None:
    fired = of_a_slow_gpu()[0]
    assert (fired.scope, fired.node, fired.gpu) == (Scope.GPU, name(3), 2)
    assert (fired.fault, fired.tier, fired.phase) == (Family.UNKNOWN, Tier.PATTERN, Phase.SYMPTOM)
    assert fired.summary.startswith(f"GPU 2 of {name(3)} lost ")
    assert "tensor activity" in fired.summary
    assert fired.confidence > 0.9
    assert fired.candidates[0].node == name(3)
    lead = fired.evidence[0]
    assert lead.metric == TENSOR
    assert lead.value is not None
    assert lead.peers is not None
    assert lead.value < 0.8 * lead.peers
    assert lead.deviation < -5
    assert 43 <= fired.onset.timestamp() - START <= 50


def test_it_is_resolved_when_the_gpu_works_like_its_peers_again() -> None:
    fired, resolved = of_a_slow_gpu()
    assert (resolved.status, resolved.id) == (Status.RESOLVED, fired.id)
    assert resolved.detected_at > fired.detected_at
    assert resolved.first_detected_at == fired.detected_at == fired.first_detected_at


def test_a_resumed_detector_goes_on_as_if_nothing_had_been() -> None:
    crowd = Crowd(faults=(Fault(3, 0.5, gpu=2),))
    facts = merged(crowd.batches(), [training()])
    detector = QUICK.build(JOB)
    tell(detector, facts[:50])
    resumed = QUICK.resume(detector.snapshot())
    assert tell(resumed, facts[50:]) == tell(detector, facts[50:]) != []


def test_nothing_is_judged_before_the_job_trains() -> None:
    starting = event(EventKind.JOB_STATE, -1, state="starting", sampling_seconds=1)
    crowd = Crowd(seconds=60, faults=(Fault(3, 0.4, first=0),))
    assert judge(merged(crowd.batches(), [starting])) == []


def test_a_source_of_15_seconds_is_judged_in_slots_of_15_seconds() -> None:
    crowd = Crowd(seconds=900, width=15, faults=(Fault(3, 0.5, gpu=2, first=750),))
    fired = judge(merged(crowd.batches(), [training(15)]))[0]
    assert (fired.node, fired.gpu) == (name(3), 2)
    assert fired.detected_at.timestamp() % 15 == 0
    detector = QUICK.build(JOB)
    detector.record(training(15))
    assert QUICK.resume(detector.snapshot()).record(training(15)) == ()


def test_a_node_that_is_not_heard_while_its_peers_are_is_named_and_cleared() -> None:
    crowd = Crowd(seconds=50, absent={5: range(15, 35)})
    fired, resolved = judge(merged(crowd.batches(), [training()]))
    assert (fired.fault, fired.scope, fired.node) == (Family.TELEMETRY_LOST, Scope.NODE, name(5))
    assert fired.detected_at.timestamp() - START == 24
    assert "7 other nodes are heard" in fired.summary
    assert (resolved.status, resolved.id) == (Status.RESOLVED, fired.id)


def late(crowd: Crowd, node: int, from_second: int, delay: Callable[[int], int]) -> list[Fact]:
    """The crowd's batches; what a node says from a second on comes that many batches later."""
    arrivals: list[tuple[int, int, Fact]] = []
    for at, batch in enumerate(crowd.batches()):
        own, others = (of_nodes(batch, lambda one: one == name(node)), batch)
        if at >= from_second:
            others = of_nodes(batch, lambda one: one != name(node))
            arrivals.append((at + delay(at), 1, own))
        arrivals.append((at, 0, others))
    return [fact for *_, fact in sorted(arrivals, key=lambda one: one[:2])]


def of_nodes(batch: TelemetryBatch, wanted: Callable[[NodeName], bool]) -> TelemetryBatch:
    def part(table: Table) -> Table:
        chosen = [at for at, node in enumerate(table.nodes) if wanted(node)]
        return replace(
            table,
            nodes=tuple(table.nodes[at] for at in chosen),
            indices=None if table.indices is None else tuple(table.indices[at] for at in chosen),
            columns={m: tuple(column[at] for at in chosen) for m, column in table.columns.items()},
        )

    return replace(batch, tables=tuple(map(part, batch.tables)))


@pytest.mark.parametrize("delay", [lambda _: 4, lambda _: 8, lambda at: 4 + at % 9])
def test_a_node_whose_telemetry_comes_late_is_not_called_lost(delay: Callable[[int], int]) -> None:
    facts = late(Crowd(seconds=120), 5, 15, delay)
    fired = [one for one in judge([training(), *facts]) if one.fault is Family.TELEMETRY_LOST]
    assert fired == []


def test_a_node_that_comes_late_and_then_not_at_all_is_lost_a_time_out_after_the_last() -> None:
    def ceases(at: int) -> int:
        return 6 if at < 60 else 10**6

    facts = late(Crowd(seconds=120), 5, 15, ceases)[:-60]
    fired = [one for one in judge([training(), *facts]) if one.fault is Family.TELEMETRY_LOST]
    assert [one.node for one in fired] == [name(5)]
    assert 65 + 10 <= fired[0].detected_at.timestamp() - START <= 65 + 10 + 5


def test_when_nobody_is_heard_no_node_is_named() -> None:
    crowd = Crowd(seconds=40, absent=dict.fromkeys(range(6), range(15, 40)))
    assert judge(merged(crowd.batches(), [training()])) == []


def test_what_is_open_on_a_node_that_leaves_is_resolved() -> None:
    crowd = Crowd(seconds=40, absent={5: range(10, 40)})
    left = event(EventKind.MEMBERSHIP, 30.5, name(5), change="left")
    _, resolved = judge(merged(crowd.batches(), [training(), left]))
    assert resolved.status is Status.RESOLVED
    assert f"{name(5)} has left the job" in resolved.summary


def test_each_lost_card_is_a_verdict_until_it_is_back() -> None:
    facts: list[Fact] = [
        event(EventKind.TELEMETRY, at, name(2), gpu, change=change, uuid=f"GPU-{gpu}")
        for at, gpu, change in ((1, 6, "gpu_lost"), (2, 7, "gpu_lost"), (3, 6, "gpu_returned"))
    ]
    first, second, back = judge([training(), *facts])
    assert (first.fault, first.scope, first.gpu) == (Family.GPU_CARD_DROP, Scope.GPU, 6)
    assert (first.tier, first.phase) == (Tier.KNOWN_ERROR, Phase.FAILED)
    assert second.gpu == 7
    assert (back.status, back.id) == (Status.RESOLVED, first.id)


@pytest.mark.parametrize(
    "harmless",
    [
        event(EventKind.XID, 5, name(1), 3, code=79),
        event(EventKind.SXID, 5, name(1), code=12028),
        event(EventKind.TELEMETRY, 5, name(1), change="source_blind", origin="dcgm"),
        event(EventKind.TELEMETRY, 5, name(1), 3, change="gpu_returned"),
        event(EventKind.JOB_STATE, 5, state="training", sampling_seconds=0),
    ],
)
def test_other_facts_of_machines_are_survived(harmless: Event) -> None:
    assert judge([training(), harmless]) == []


def test_a_node_that_lost_a_card_is_not_named_a_second_time() -> None:
    lost = event(EventKind.TELEMETRY, 44, name(3), 0, change="gpu_lost")
    crowd = Crowd(faults=(Fault(3, 0.5),))
    assert len(judge(merged(crowd.batches(), [training(), lost]))) == 1


def test_hosts_without_gpus_have_no_peers() -> None:
    busy = Fault(3, 9.0, metric="cpu_utilization_ratio", entity=Entity.NODE, first=0)
    batches = [
        replace(batch, tables=tuple(t for t in batch.tables if t.entity is Entity.NODE))
        for batch in Crowd(seconds=60, faults=(busy,)).batches()
    ]
    soon = replace(QUICK, departure=replace(QUICK.departure, host_harmless_seconds=10.0))
    assert judge(merged(batches, [training()]), soon) == []


def test_codes_totals_and_means_over_minutes_are_not_compared() -> None:
    window = next(Crowd(seconds=1).windows())[Entity.NODE]
    metrics = ("gpu_xid", "load_average")
    assert peers_part(replace(window, metrics=metrics)).metrics == ()
    assert peers_part(replace(window, metrics=("x_total", "unheard_of"))).metrics == ("unheard_of",)


def test_the_default_settings_leave_a_healthy_cluster_alone() -> None:
    crowd = Crowd(nodes=4, seconds=60, pause=range(40, 48))
    assert firing(diagnose(merged([]))) == []
    assert tell(DetectorConfig().build(JOB), merged(crowd.batches(), [training()])) == []
