"""What befalls the whole job at once: one verdict about the job, none about a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diagnosis.playing import Fact, diagnose, firing, merged
from diagnosis.synthetic import (
    START,
    Scene,
    event,
    exit_of,
    job_state,
    node_name,
    with_columns,
    without_rows,
)
from paramedic.diagnosis.contract import (
    Fault,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
    Verdict,
    verdict_id,
)
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.settings import StandstillSettings
from paramedic.ingest.contract import Entity, EventKind, TelemetryBatch

pytestmark = pytest.mark.long


STOPPED_AT = 30
QUICK = DetectorConfig(
    standstill=StandstillSettings(
        telemetry_timeout_seconds=15, quiet_standstill_seconds=35, busy_standstill_seconds=50
    )
)


def all_frozen(ranks: int = 4, seconds: int = 60, thawed_at: int = 10**9) -> list[TelemetryBatch]:
    frozen = dict.fromkeys(range(ranks), STOPPED_AT)
    return Scene(ranks, seconds, frozen=frozen, thawed_at=thawed_at).batches()


def mute(batches: list[TelemetryBatch], entity: Entity, until: int = 10**6) -> list[TelemetryBatch]:
    """Nobody's rows of this kind arrive from the stop on."""
    for number in range(4):
        batches = without_rows(batches, entity, node_name(number), range(STOPPED_AT + 1, until))
    return batches


def stuck(seconds: int, cpu: float, until: int = 10**6) -> list[TelemetryBatch]:
    """Heart-beats come, and every rank repeats its last step."""
    batches = Scene(seconds=seconds).batches()
    return [
        _without_progress(batch, cpu) if STOPPED_AT < batch.second - START <= until else batch
        for batch in batches
    ]


def _without_progress(batch: TelemetryBatch, cpu: float) -> TelemetryBatch:
    (same,) = with_columns([batch], Entity.RANK, {"step": float(int(STOPPED_AT / 0.3))})
    return with_columns([same], Entity.NODE, {"cpu_utilization_ratio": cpu})[0]


def only(facts: Sequence[Fact]) -> Verdict:
    (verdict,) = diagnose(facts, QUICK)
    assert (verdict.scope, verdict.node, verdict.rank) == (Scope.JOB, None, None)
    return verdict


def after(verdict: Verdict) -> float:
    return verdict.detected_at.timestamp() - START - STOPPED_AT


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_job_whose_ranks_are_all_frozen_has_one_verdict(ranks: int) -> None:
    verdict = only(merged(all_frozen(ranks)))
    assert (verdict.fault, verdict.tier) == (Fault.THROUGHPUT_DROP, Tier.HEARTBEAT)
    assert (verdict.severity, after(verdict)) == (Severity.P0, 10)
    assert verdict.onset.timestamp() == START + STOPPED_AT
    assert "no heart-beat for 10 s" in verdict.summary
    assert verdict.action.recommended is RecommendedAction.NOTIFY
    assert verdict.id == verdict_id(verdict.job, 0, Scope.JOB, None, (), None, verdict.detected_at)
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_most_ranks_frozen_is_the_jobs_trouble_too() -> None:
    scene = Scene(seconds=60, frozen={0: STOPPED_AT, 1: STOPPED_AT, 3: STOPPED_AT})
    assert "3 of 4 ranks" in only(merged(scene.batches())).summary


def test_a_frozen_job_that_goes_on_is_resolved() -> None:
    fired, resolved = diagnose(merged(all_frozen(thawed_at=50)), QUICK)
    assert (fired.id, resolved.status) == (resolved.id, Status.RESOLVED)
    assert after(resolved) <= 50 - STOPPED_AT + 2


def test_a_frozen_job_that_was_recovered_is_resolved() -> None:
    again = Scene(seconds=20, generation=1, first_second=START + 50).batches()
    events = [
        job_state("training", 0),
        job_state("recovering", 45),
        job_state("training", 52, 1),
    ]
    fired, resolved = diagnose(merged([*all_frozen(seconds=45), *again], events), QUICK)
    assert (fired.id, resolved.status) == (resolved.id, Status.RESOLVED)


@pytest.mark.parametrize(("cpu", "seconds"), [(0.0, 35), (0.3, 50)])
def test_a_job_in_which_nobody_makes_a_step_has_one_verdict(cpu: float, seconds: int) -> None:
    verdict = only(merged(stuck(90, cpu)))
    assert (verdict.fault, verdict.tier) == (Fault.THROUGHPUT_DROP, Tier.APPLICATION)
    assert abs(after(verdict) - seconds) <= 1
    assert "no rank has made a step" in verdict.summary
    assert verdict.confidence < 0.95
    assert len(verdict.candidates) == 4


def test_steps_that_come_again_resolve_it() -> None:
    fired, resolved = diagnose(merged(stuck(90, 0.0, until=75)), QUICK)
    assert (fired.id, resolved.status) == (resolved.id, Status.RESOLVED)


def test_a_job_that_pauses_for_long_is_given_longer() -> None:
    pausing = [b if b.second - START > 20 else _same_step(b) for b in stuck(110, 0.0)]
    assert diagnose(merged(pausing), QUICK) == []


def _same_step(batch: TelemetryBatch) -> TelemetryBatch:
    return with_columns([batch], Entity.RANK, {"step": 1.0 + (batch.second - START) // 20})[0]


@pytest.mark.parametrize("cpu", [0.0, 0.3])
def test_ranks_that_never_made_a_step_are_not_at_a_standstill(cpu: float) -> None:
    starting = [_without_progress(batch, cpu) for batch in Scene(seconds=90).batches()]
    assert diagnose(merged(starting), QUICK) == []


NOT_TRAINING = ["starting", "checkpointing", "evaluating", "recovering", "resizing", "finished"]


@pytest.mark.parametrize("state", NOT_TRAINING)
@pytest.mark.parametrize("batches", [all_frozen(), stuck(90, 0.0)], ids=["frozen", "stuck"])
def test_a_job_that_does_not_train_does_not_stand_still(
    batches: list[TelemetryBatch], state: str
) -> None:
    facts = merged(batches, [job_state("training", 0), job_state(state, STOPPED_AT + 1)])
    assert diagnose(facts, QUICK) == []


def test_silence_is_counted_from_when_training_began_again() -> None:
    pause = [
        job_state("training", 0),
        job_state("evaluating", STOPPED_AT),
        job_state("training", 48),
    ]
    assert after(only(merged(all_frozen(), pause))) == 28


def test_a_job_that_has_sent_its_spares_home_is_at_its_end() -> None:
    home = event(EventKind.PROCESS_EXIT, STOPPED_AT, node_name(9), expected=True, exit_code=0)
    facts = merged(stuck(90, 0.0), [job_state("training", 0), home])
    assert diagnose(facts, QUICK) == []


def test_a_node_that_has_failed_explains_the_standstill() -> None:
    facts = merged(stuck(90, 0.0), [job_state("training", 0), exit_of(2, STOPPED_AT + 0.5)])
    (verdict,) = firing(diagnose(facts, QUICK))
    assert verdict.fault is Fault.PROCESS_EXIT


def test_heart_beats_lost_by_processes_that_work_are_lost_telemetry() -> None:
    verdict = only(merged(mute(Scene(seconds=90).batches(), Entity.RANK)))
    assert (verdict.fault, verdict.severity) == (Fault.TELEMETRY_LOST, Severity.P2)
    assert after(verdict) == 15


def test_telemetry_that_is_back_is_resolved() -> None:
    batches = mute(Scene(seconds=90).batches(), Entity.RANK, until=60)
    fired, resolved = diagnose(merged(batches), QUICK)
    assert (fired.id, resolved.status) == (resolved.id, Status.RESOLVED)


def test_lost_telemetry_that_turns_out_to_be_a_standstill_is_updated() -> None:
    idle = [
        with_columns([b], Entity.NODE, {"process_stopped": 1.0})[0] if b.second >= START + 60 else b
        for b in mute(Scene(seconds=90).batches(), Entity.RANK)
    ]
    lost, worse = diagnose(merged(idle), QUICK)
    assert (lost.id, worse.status, worse.severity) == (worse.id, Status.UPDATED, Severity.P0)


def test_batches_with_nothing_in_them_are_lost_telemetry() -> None:
    batches = mute(mute(Scene(seconds=90).batches(), Entity.RANK), Entity.NODE)
    verdict = only(merged(batches))
    assert (verdict.fault, verdict.severity) == (Fault.TELEMETRY_LOST, Severity.P2)
    assert "out of reach" in verdict.summary


def test_a_hole_after_which_the_nodes_are_heard_first_is_no_silence() -> None:
    """A machine that slept: its operating system speaks before its ranks have beaten or stepped."""
    batches = Scene(seconds=170).batches()
    kept = [b for b in batches if b.second - START <= STOPPED_AT or b.second - START > 150]
    late = [
        replace(b, tables=b.tables[:1]) if b.second - START <= 153 else b
        for b in kept
        if b.second - START > STOPPED_AT
    ]
    before = [b for b in kept if b.second - START <= STOPPED_AT]
    assert diagnose(merged([*before, *late]), QUICK) == []


def test_with_the_usual_settings_a_short_evaluation_is_no_standstill() -> None:
    assert diagnose(merged(stuck(160, 0.3))) == []
