"""A slow rank on a machine that is accused already: one node, one problem, one verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.playing import tell
from diagnosis.synthetic import JOB, START, Scene, node_name
from paramedic.diagnosis.contract import (
    Evidence,
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.diagnosis.departures import DepartureWatch
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding, Subject, Trouble, moment
from paramedic.diagnosis.joining import acquit_joined, is_joined
from paramedic.diagnosis.settings import DepartureSettings, StragglerSettings
from paramedic.diagnosis.straggler import StragglerWatch
from paramedic.ingest.contract import Entity, Table, TelemetryBatch

NODE = node_name(1)
OF_MACHINE = Subject(NODE, Trouble.DEPARTED)


def of_machine(fault: Fault = Fault.PCIE_DOWNGRADE, gpu: int | None = None) -> Finding:
    """What the machine shows is told first."""
    return Finding(
        node=NODE,
        rank=None,
        generation=0,
        fault=fault,
        phase=Phase.SYMPTOM,
        tier=Tier.PATTERN,
        confidence=0.9,
        onset=moment(95),
        detected_at=moment(100),
        summary="its PCIe link replays",
        candidates=(),
        evidence=(Evidence("gpu_pcie_replays_per_second", 3.0, 0.0, 9.0, moment(95)),),
        gpu=gpu,
        action=Recommendation(RecommendedAction.REPLACE_NODE, "reseat it"),
    )


def of_rank(at: int = 120) -> Finding:
    return replace(
        of_machine(Fault.STRAGGLER),
        rank=4,
        phase=Phase.DEGRADED,
        confidence=0.95,
        onset=moment(at - 10),
        detected_at=moment(at),
        summary="rank 4 computes longer",
        evidence=(Evidence("compute_seconds", 2.0, 1.0, 8.0, moment(at - 10)),),
        action=None,
    )


def joined(first: Finding) -> tuple[Docket, Verdict, Verdict]:
    docket = Docket(JOB)
    (fired,) = docket.report(first)
    (updated,) = docket.join(OF_MACHINE, of_rank())
    return docket, fired, updated


@pytest.mark.parametrize("gpu", [None, 3])
def test_the_later_finding_joins_the_machines_verdict_under_its_id(gpu: int | None) -> None:
    docket, fired, updated = joined(of_machine(gpu=gpu))
    assert list(docket.open.values()) == [updated]
    assert (updated.id, updated.status, updated.gpu) == (fired.id, Status.UPDATED, gpu)
    assert (updated.fault, updated.action) == (fired.fault, fired.action)
    assert (updated.phase, updated.rank) == (Phase.DEGRADED, 4)
    assert [one.metric for one in updated.evidence] == [
        "gpu_pcie_replays_per_second",
        "compute_seconds",
    ]
    assert "replays" in updated.summary
    assert "rank 4" in updated.summary
    assert (updated.onset, updated.detected_at) == (moment(95), moment(120))
    assert updated.first_detected_at == moment(100)


def test_where_nothing_said_why_it_is_a_straggler_from_then_on() -> None:
    docket, fired, updated = joined(of_machine(Fault.UNKNOWN))
    assert (updated.id, updated.fault) == (fired.id, Fault.STRAGGLER)
    assert updated.action.recommended is RecommendedAction.REPLACE_RANK
    assert list(docket.open) == [Subject(NODE, Trouble.ALIVE)]


def test_nothing_joins_what_is_not_open_and_nothing_joins_twice() -> None:
    docket = Docket(JOB)
    assert docket.join(OF_MACHINE, of_rank()) == ()
    docket, _, updated = joined(of_machine(Fault.UNKNOWN))
    assert docket.join(OF_MACHINE, of_rank(140)) == ()
    assert [*docket.open.values()] == [updated]


def test_the_graver_severity_holds() -> None:
    docket = Docket(JOB)
    docket.report(replace(of_machine(), severity=Severity.P2))
    (updated,) = docket.join(OF_MACHINE, of_rank())
    assert updated.severity is Severity.P1


def test_a_straggler_alone_is_joined_to_nothing_and_nobody_is_acquitted_unheard() -> None:
    docket, _, updated = joined(of_machine())
    (alone,) = Docket(JOB).report(of_rank())
    assert (is_joined(updated), is_joined(alone)) == (True, False)
    ranks, machines = StragglerWatch(StragglerSettings()), DepartureWatch(DepartureSettings())
    assert [*acquit_joined(200, 1, ranks, machines, docket)] == []


QUICK = DetectorConfig(
    departure=DepartureSettings(smoothing_seconds=(1.0,), healthy_seconds_to_resolve=10.0)
)


def with_cards(scene: Scene, batch: TelemetryBatch) -> TelemetryBatch:
    """The batch with a card of each node, one of which replays and works less for a while."""
    is_odd = 60 < batch.second - START <= 105
    nodes = tuple(map(scene.node, range(scene.ranks)))
    replays = tuple(40.0 if is_odd and node == NODE else 0.0 for node in nodes)
    power = tuple(400.0 + (7 * at + 3 * batch.second) % 5 for at in range(scene.ranks))
    busy = tuple(
        one * (0.7 if is_odd and node == NODE else 1)
        for one, node in zip(power, nodes, strict=True)
    )
    columns = {"gpu_power_watts": busy, "gpu_pcie_replays_per_second": replays}
    card = Table(Entity.GPU, nodes, (0,) * scene.ranks, columns)
    return replace(batch, tables=(*batch.tables, card))


@pytest.mark.long
def test_a_machine_and_its_slow_rank_are_one_verdict_until_both_are_well() -> None:
    scene = Scene(ranks=8, seconds=146, noise=0.05, slow={1: 1.6}, slow_from=85, slow_until=110)
    verdicts = tell(QUICK.build(JOB), [with_cards(scene, batch) for batch in scene.batches()])
    assert {(one.node, one.id) for one in verdicts} == {(NODE, verdicts[0].id)}
    assert [one.status for one in verdicts] == [Status.FIRING, Status.UPDATED, Status.RESOLVED]
    assert [one.rank for one in verdicts] == [None, 1, 1]
    assert verdicts[-1].detected_at.timestamp() - START > scene.slow_until + 20
