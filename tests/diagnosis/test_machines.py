"""Machines of a cluster, from batches and events to verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial

import pytest

from diagnosis.crowd import JOB, LEVELS, POWER, START, TENSOR, Crowd, Fault, name, slow
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
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName, Table, TelemetryBatch

QUICK = DetectorConfig(
    departure=DepartureSettings(
        settle_seconds=15,
        smoothing_seconds=(1.0,),
        healthy_seconds_to_resolve=10.0,
        telemetry_timeout_seconds=10.0,
    )
)
"""One pace costs less than three, and what is over is soon over."""
SMALL = Crowd(nodes=6, gpus=2)


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
    crowd = replace(SMALL, seconds=110, faults=slow(3, 0.5, gpu=1, last=60))
    return tuple(judge(merged(crowd.batches(), [training()])))


def test_a_departed_gpu_is_a_verdict_that_people_understand() -> None:
    fired = of_a_slow_gpu()[0]
    assert (fired.scope, fired.node, fired.gpu) == (Scope.GPU, name(3), 1)
    assert (fired.tier, fired.phase) == (Tier.PATTERN, Phase.SYMPTOM)
    assert fired.summary.startswith(f"GPU 1 of {name(3)} lost ")
    assert " lost " in fired.summary
    assert fired.confidence > 0.9
    assert fired.candidates[0].node == name(3)
    lead = fired.evidence[0]
    assert {TENSOR, POWER} == {one.metric for one in fired.evidence[:2]}
    assert lead.value is not None
    assert lead.peers is not None
    assert lead.value < 0.8 * lead.peers
    assert lead.deviation < -5
    assert 43 <= fired.onset.timestamp() - START <= 50


def test_of_two_nodes_the_one_that_stays_is_not_compared_with_the_other_that_has_left() -> None:
    round_trip = "network_round_trip_seconds"
    levels = {**LEVELS, Entity.NODE: {round_trip: 1e-3}}
    slower = Fault(0, 6.0, metric=round_trip, entity=Entity.NODE)
    crowd = replace(SMALL, nodes=2, seconds=100, levels=levels, faults=(slower,))
    left = event(EventKind.MEMBERSHIP, 45.0, name(1), change="left")
    assert judge(merged(crowd.batches(), [training(), left])) == []
    assert {one.node for one in judge(merged(crowd.batches(), [training()]))} == {name(0)}


@pytest.mark.parametrize("later", [0.4, 5.0])
def test_a_card_that_fell_off_the_bus_is_not_back_by_the_rows_of_before(later: float) -> None:
    told = event(EventKind.XID, 70.2, name(2), 1, xid=79)
    crowd = replace(SMALL, seconds=100)
    facts = merged(
        map(partial(_without_card, since=70 + later), crowd.batches()), [training(), told]
    )
    assert [(one.status, one.fault) for one in judge(facts)] == [
        (Status.FIRING, Family.GPU_CARD_DROP)
    ]


def _without_card(batch: TelemetryBatch, since: float) -> TelemetryBatch:
    """The second card of the third node has no rows from then on."""
    return batch if batch.second - START < since else replace(
        batch, tables=tuple(map(_without_rows, batch.tables))
    )  # fmt: skip


def _without_rows(table: Table) -> Table:
    if table.entity is not Entity.GPU or table.indices is None:
        return table
    places = enumerate(zip(table.nodes, table.indices, strict=True))
    kept = [at for at, place in places if place != (name(2), 1)]
    columns = {metric: [values[at] for at in kept] for metric, values in table.columns.items()}
    nodes = tuple(table.nodes[at] for at in kept)
    return replace(
        table, nodes=nodes, indices=tuple(table.indices[at] for at in kept), columns=columns
    )


def test_it_is_resolved_when_the_gpu_works_like_its_peers_again() -> None:
    fired, resolved = of_a_slow_gpu()
    assert (resolved.status, resolved.id) == (Status.RESOLVED, fired.id)
    assert resolved.detected_at > fired.detected_at
    assert resolved.first_detected_at == fired.detected_at == fired.first_detected_at


def test_nothing_is_judged_before_the_job_trains() -> None:
    starting = event(EventKind.JOB_STATE, -1, state="starting", sampling_seconds=1)
    crowd = replace(SMALL, seconds=60, faults=slow(3, 0.4, first=0))
    assert judge(merged(crowd.batches(), [starting])) == []


def test_evidence_of_before_a_recovery_is_forgotten() -> None:
    again = replace(training(), timestamp=moment(START + 50), generation=1)
    crowd = replace(SMALL, seconds=80, faults=slow(3, 0.5, gpu=1))
    batches = [replace(one, generation=int(one.second > START + 50)) for one in crowd.batches()]
    (fired,) = judge(merged(batches, [training(), again]))
    assert fired.onset >= moment(START + 50 + QUICK.departure.settle_seconds)


@pytest.mark.long
def test_a_source_of_15_seconds_is_judged_in_slots_of_15_seconds() -> None:
    crowd = replace(SMALL, seconds=900, width=15, faults=slow(3, 0.5, gpu=1, first=600))
    fired = judge(merged(crowd.batches(), [training(15)]))[0]
    assert (fired.node, fired.gpu) == (name(3), 1)
    assert fired.detected_at.timestamp() % 15 == 0
    detector = QUICK.build(JOB)
    detector.record(training(15))
    assert QUICK.resume(detector.snapshot()).record(training(15)) == ()


def joined(nodes: int, of_each: int) -> list[Event]:
    return [
        event(EventKind.MEMBERSHIP, -1, name(at), change="joined", switch=f"leaf-{at // of_each}")
        for at in range(nodes)
    ]


@pytest.mark.long
def test_a_switch_is_one_verdict_and_accuses_no_node_alone() -> None:
    soon = replace(QUICK, departure=replace(QUICK.departure, group_harmless_seconds=20.0))
    paused = "pfc_tx_packets_per_second"
    levels = {**LEVELS, Entity.NODE: {**LEVELS[Entity.NODE], paused: 20.0}}
    faults = [(*slow(n, 0.5), Fault(n, 30.0, None, paused, Entity.NODE)) for n in range(3)]
    crowd = Crowd(nodes=24, gpus=2, seconds=90, faults=sum(faults, ()), levels=levels)
    facts = merged(crowd.batches(), [training(), *joined(24, 3)])
    (fired,) = judge(facts, soon)
    assert (fired.scope, fired.fault) == (Scope.GROUP, Family.NETWORK_GROUP)
    assert set(fired.members) == {name(0), name(1), name(2)}


@pytest.mark.long
def test_two_faults_at_once_are_two_verdicts() -> None:
    crowd = replace(SMALL, nodes=8, gpus=4, seconds=90, faults=slow(1, 0.5, 0) + slow(6, 0.6, 3))
    fired = firing(judge(merged(crowd.batches(), [training()])))
    assert {(one.node, one.gpu) for one in fired} == {(name(1), 0), (name(6), 3)}


@pytest.mark.long
@pytest.mark.parametrize(("factor", "nodes"), [(1.0, {name(1), name(2)}), (9.0, {name(1)})])
def test_who_looks_odd_since_another_is_accused_needs_so_many_times_the_evidence(
    factor: float, nodes: set[NodeName]
) -> None:
    strict = replace(QUICK.departure, second_accusation_factor=factor)
    faults = slow(1, 0.3) + slow(2, 1.7, 0, first=50)
    crowd = replace(SMALL, nodes=8, gpus=4, seconds=75, faults=faults)
    facts = merged(crowd.batches(), [training()])
    assert {one.node for one in firing(judge(facts, replace(QUICK, departure=strict)))} == nodes


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


@pytest.mark.long
@pytest.mark.parametrize("delay", [lambda _: 4, lambda _: 8, lambda at: 4 + at % 9])
def test_a_node_whose_telemetry_comes_late_is_not_called_lost(delay: Callable[[int], int]) -> None:
    facts = late(Crowd(seconds=120), 5, 15, delay)
    fired = [one for one in judge([training(), *facts]) if one.fault is Family.TELEMETRY_LOST]
    assert fired == []


@pytest.mark.long
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
    crowd = replace(SMALL, faults=slow(3, 0.5))
    assert len(judge(merged(crowd.batches(), [training(), lost]))) == 1


def test_hosts_without_gpus_have_no_peers() -> None:
    busy = Fault(3, 9.0, metric="cpu_utilization_ratio", entity=Entity.NODE, first=0)
    batches = [
        replace(batch, tables=tuple(t for t in batch.tables if t.entity is Entity.NODE))
        for batch in replace(SMALL, seconds=60, faults=(busy,)).batches()
    ]
    assert judge(merged(batches, [training()])) == []


@pytest.mark.long
def test_the_default_settings_leave_a_healthy_cluster_alone() -> None:
    crowd = Crowd(nodes=4, seconds=240, pause=range(40, 48))
    assert firing(diagnose(merged([]))) == []
    assert tell(DetectorConfig().build(JOB), merged(crowd.batches(), [training()])) == []


@pytest.mark.long
def test_the_default_settings_name_a_slow_gpu_within_half_a_minute() -> None:
    crowd = Crowd(seconds=100, faults=slow(3, 0.5, gpu=2, first=60))
    (fired,) = tell(DetectorConfig().build(JOB), merged(crowd.batches(), [training()]))
    assert (fired.node, fired.gpu) == (name(3), 2)
    assert 60 + 5 <= fired.detected_at.timestamp() - START <= 60 + 30
