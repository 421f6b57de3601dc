"""A history is told as its batches were; verdicts become accusations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from diagnosis.benchmark.told import history_of
from diagnosis.playing import merged, tell
from diagnosis.synthetic import JOB, START, Scene, exit_of, job_state, node_name
from paramedic.diagnosis.benchmark.verdicts.accusing import accusations, accused
from paramedic.diagnosis.benchmark.verdicts.detector import VerdictDetector, slotted
from paramedic.diagnosis.benchmark.verdicts.feeding import Said, listen, moments
from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    Recommendation,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.ingest.contract import Entity, Event, NodeName, TelemetryBatch
from paramedic.ingest.recordings.description import JobDescription, NodeRoles
from paramedic.models.history import JobHistory

SLOW = Scene(ranks=4, seconds=48, slow={2: 2.0}, slow_from=24)
FROZEN = Scene(ranks=4, seconds=30, frozen={1: 15})


def heard(history: JobHistory) -> list[Said]:
    return list(listen(DetectorConfig().build(history.job), moments(history)))


def test_a_history_draws_the_verdicts_that_its_batches_draw() -> None:
    for scene, events in ((SLOW, [exit_of(3, 46.5)]), (FROZEN, [])):
        batches = scene.batches()
        live = tell(DetectorConfig().build(JOB), merged(batches, events))
        said = [one.verdict for one in heard(history_of(batches, events))]
        assert [one.to_json() for one in said] == [one.to_json() for one in live] != []


def test_a_verdict_comes_with_the_second_whose_telemetry_drew_it() -> None:
    said = heard(history_of(FROZEN.batches()))
    detector = DetectorConfig().build(JOB)
    drew = {
        verdict.id: batch.second
        for batch in FROZEN.batches()
        for verdict in detector.accept(batch, batch.second + 1.0)
        if verdict.status is Status.FIRING
    }
    fired = {one.verdict.id: one.second for one in said if one.verdict.status is Status.FIRING}
    assert fired == drew


@pytest.mark.parametrize("at", [12.0, 12.25, 12.999])
def test_an_event_comes_in_the_second_that_it_falls_into(at: float) -> None:
    (only,) = heard(history_of(Scene(seconds=20).batches(), [exit_of(1, at)]))
    assert (only.second, only.verdict.fault) == (START + 12, Fault.PROCESS_EXIT)


def batches_of(history: JobHistory) -> list[TelemetryBatch]:
    told = (one.fact for one in moments(history))
    return [one for one in told if isinstance(one, TelemetryBatch)]


def test_rows_of_which_nothing_was_observed_are_not_told() -> None:
    history = history_of(Scene(ranks=3, seconds=6).batches())
    ranks = history.windows[Entity.RANK]
    values = ranks.values.copy()
    values[1, :, 2:4] = np.nan
    holed = replace(ranks, values=values, observed=~np.isnan(values))
    told = batches_of(replace(history, windows={Entity.RANK: holed}))
    assert [batch.tables[0].indices for batch in told] == [
        (0, 1, 2), (0, 1, 2), (0, 2), (0, 2), (0, 1, 2), (0, 1, 2),
    ]  # fmt: skip


def test_wide_slots_are_told_as_a_slow_source_tells_them() -> None:
    history = history_of(Scene(ranks=2, seconds=4).batches())
    wide = {one: replace(w, slot_seconds=15) for one, w in history.windows.items()}
    assert [batch.second - START for batch in batches_of(replace(history, windows=wide))] == [
        0, 15, 30, 45,
    ]  # fmt: skip
    assert slotted(DetectorConfig(), 15).windows.sampling_seconds == 15


def test_roles_of_the_description_are_told_before_a_node_speaks() -> None:
    nodes = tuple(NodeRoles(node_name(n), 1, switch=f"leaf-{n}") for n in range(2))
    history = replace(
        history_of(Scene(ranks=2, seconds=3).batches(), [job_state("training", 0)]),
        description=JobDescription(JOB, 1.0, nodes),
    )
    facts = [one.fact for one in moments(history)]
    roles = [one.details.get("switch") for one in facts if isinstance(one, Event)]
    assert [name for name in roles if name] == ["leaf-0", "leaf-1"]
    assert isinstance(facts[-1], TelemetryBatch)


def verdict(
    *nodes: str, name: str = "a", status: Status = Status.FIRING, scope: Scope = Scope.NODE
) -> Verdict:
    at = datetime.fromtimestamp(START, UTC)
    return Verdict(
        id=name, job=JOB, generation=0, scope=scope,
        node=NodeName(nodes[0]) if scope in (Scope.NODE, Scope.GPU) else None,
        gpu=None, members=tuple(map(NodeName, nodes)) if scope is Scope.GROUP else (),
        status=status, phase=Phase.SYMPTOM, fault=Fault.HANG, tier=Tier.PATTERN,
        severity=Severity.P1, confidence=0.9, onset=at, detected_at=at + timedelta(seconds=5),
        summary="", candidates=(), evidence=(),
        action=Recommendation(RecommendedAction.NONE, ""),
    )  # fmt: skip


def alarms(*verdicts: Verdict) -> list[tuple[int, Sequence[str]]]:
    said = [Said(START + at, one) for at, one in enumerate(verdicts)]
    return [(alarm.second - START, alarm.nodes) for alarm, _ in accusations(said)]


def test_machines_and_the_members_of_groups_are_accused_and_jobs_accuse_nobody() -> None:
    group = verdict("z", "b", "c", name="g", scope=Scope.GROUP)
    job = verdict(name="j", scope=Scope.JOB)
    assert alarms(verdict("n"), group, job) == [(0, ("n",)), (1, ("b", "c", "z"))]
    assert accused(job) == ()


def test_a_verdict_accuses_once_and_again_when_it_names_somebody_else() -> None:
    updated = verdict("n", status=Status.UPDATED)
    assert alarms(verdict("n"), updated, verdict("n", status=Status.RESOLVED)) == [(0, ("n",))]
    assert alarms(verdict("n"), verdict("m", status=Status.UPDATED)) == [(0, ("n",)), (1, ("m",))]


def test_the_product_has_one_point_and_learns_nothing() -> None:
    detector, history = VerdictDetector(), history_of(SLOW.batches())
    detector.train(iter(()))
    assert list(detector.thresholds) == [0.0]
    told = detector.examine(history).alarms(0.0)
    assert [(one.nodes, one.family) for one in told] == [((node_name(2),), "straggler")]
    assert detector.examine(history).alarms(0.5) == ()
