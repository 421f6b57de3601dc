"""Known errors among everything else that a detector is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.known_errors.telling import JOB, asked, event, name, xid
from diagnosis.playing import arrival, firing, tell
from ingest.synthetic.clusters import configured
from paramedic.diagnosis.contract import Fault, Phase, RecommendedAction, Status, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.ingest.contract import Event, EventKind, JobName, TelemetryBatch
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import Observation, Weather
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Symptom

pytestmark = pytest.mark.long


def played(seconds: int, lone_xids_per_gpu_day: float, *faults: FaultPlan) -> list[Verdict]:
    calm = replace(Weather.calm(), lone_xids_per_gpu_day=lone_xids_per_gpu_day)
    config = replace(configured(4, 4), weather=calm, faults=faults)
    cluster = SyntheticCluster(replace(config, observation=Observation.perfect()))
    facts: list[Event | TelemetryBatch] = []
    for second in cluster.seconds(0, seconds):
        facts += [*second.events, second.batch()]
    detector = DetectorConfig().build(JobName(cluster.config.job))
    return tell(detector, sorted(facts, key=arrival))


def test_the_lone_codes_of_a_healthy_cluster_raise_nothing() -> None:
    assert played(240, 600.0) == []


def test_the_codes_and_wishes_of_a_broken_gpu_name_it_with_the_drivers_action() -> None:
    told = (Symptom("xid_79", 1.0), Symptom("wants_reset", 1.0))
    lost = FaultPlan("gpu_card_drop", name(2), 1, onset=30, symptoms=told)
    (fired, updated, *_) = played(60, 0.0, lost)
    assert of_a_gpu([fired, updated]) == [(Fault.GPU_CARD_DROP, name(2), 1)] * 2
    assert fired.action.recommended is RecommendedAction.REBOOT_NODE
    assert updated.action.recommended is RecommendedAction.RESET_GPU


def of_a_gpu(verdicts: list[Verdict]) -> list[tuple[Fault, str | None, int | None]]:
    return [(v.fault, v.node, v.gpu) for v in verdicts]


def test_a_lost_gpu_is_named_once_by_its_code_and_its_absence() -> None:
    lost = event(EventKind.TELEMETRY, 3, 1, 2, change="gpu_lost", uuid="GPU-a")
    back = event(EventKind.TELEMETRY, 90, 1, 2, change="gpu_returned", uuid="GPU-a")
    for first, second in ((xid(79, 2), lost), (lost, xid(79, 4))):
        said = tell(DetectorConfig().build(JOB), [first, second, back])
        assert of_a_gpu(firing(said)) == [(Fault.GPU_CARD_DROP, name(1), 2)]
        assert said[-1].status is Status.RESOLVED
        assert len({v.id for v in said}) == 1


def test_a_gpu_that_is_there_again_may_still_have_bad_memory() -> None:
    back = event(EventKind.TELEMETRY, 9, 1, 2, change="gpu_returned", uuid="GPU-a")
    assert [v.status for v in tell(DetectorConfig().build(JOB), [xid(95), back])] == [Status.FIRING]


def test_gpus_that_are_lost_together_are_not_named_again_one_by_one() -> None:
    codes = [xid(79, 0, gpu=gpu) for gpu in range(3)]
    lost = [event(EventKind.TELEMETRY, 2, 1, gpu, change="gpu_lost") for gpu in range(3)]
    assert len(firing(tell(DetectorConfig().build(JOB), [*codes, *lost]))) == 1


def test_what_is_open_goes_with_the_node() -> None:
    left = event(EventKind.MEMBERSHIP, 5, 1, change="left")
    said = tell(DetectorConfig().build(JOB), [xid(94, 1), left, xid(79, 6)])
    assert [v.status for v in said] == [Status.FIRING, Status.RESOLVED]


def test_what_has_failed_stays_when_its_node_leaves_a_job_that_has_not_gone_on() -> None:
    left = event(EventKind.MEMBERSHIP, 5, 1, change="left")
    said = tell(DetectorConfig().build(JOB), [xid(95, 1), left])
    assert [(v.status, v.phase) for v in said] == [(Status.FIRING, Phase.FAILED)]


def test_a_job_that_has_finished_is_not_accused() -> None:
    finished = event(EventKind.JOB_STATE, 1, 0, state="finished")
    assert tell(DetectorConfig().build(JOB), [finished, xid(79, 2)]) == []


def test_a_successor_goes_on_with_what_was_told() -> None:
    told = tell(DetectorConfig().build(JOB), [xid(95, 0, gpu=gpu) for gpu in range(2)])
    successor = DetectorConfig().build(JOB)
    successor.adopt(told[-1:])
    assert tell(successor, [xid(95, 30, gpu=3)]) == []
    (updated,) = tell(successor, [asked(2, 31)])
    assert (updated.status, updated.id) == (Status.UPDATED, told[0].id)


def test_a_resumed_detector_remembers_what_was_told() -> None:
    detector = DetectorConfig().build(JOB)
    tell(detector, [asked(1, 0)])
    resumed = DetectorConfig().resume(detector.snapshot())
    assert tell(resumed, [xid(79, 2)]) == tell(detector, [xid(79, 2)]) != []
