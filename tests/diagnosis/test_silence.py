"""Heart-beat silence: who is dead, who only looks it, and when that is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.playing import diagnose, firing, merged
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
    Phase,
    RecommendedAction,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.settings import SilenceSettings
from paramedic.ingest.contract import Entity, EventKind, Table, TelemetryBatch

pytestmark = pytest.mark.long


FROZEN_AT = 40


def frozen(**changes: object) -> list[TelemetryBatch]:
    return Scene(seconds=65, frozen={2: FROZEN_AT}, **changes).batches()  # type: ignore[arg-type]


def without_stopped(batches: list[TelemetryBatch]) -> list[TelemetryBatch]:
    """An operating system that does not say whether a process is stopped."""
    return with_columns(batches, Entity.NODE, {"process_stopped": None})


def unplugged(batches: list[TelemetryBatch], until: int = 80) -> list[TelemetryBatch]:
    """Nothing comes of node 3 from second 40 on."""
    for entity in Entity:
        batches = without_rows(batches, entity, node_name(3), range(40, until))
    return batches


def seconds_after(verdict: Verdict, second: int) -> float:
    return verdict.detected_at.timestamp() - START - second


def test_a_stopped_process_in_a_standing_job_is_named_early() -> None:
    (verdict,) = diagnose(merged(frozen()))
    assert (verdict.node, verdict.rank, verdict.fault) == (node_name(2), 2, Fault.HANG)
    assert (verdict.tier, verdict.phase, verdict.severity) == (
        Tier.PATTERN,
        Phase.FAILED,
        Severity.P0,
    )
    assert seconds_after(verdict, FROZEN_AT) == 3
    assert verdict.onset.timestamp() == START + FROZEN_AT
    assert "no heart-beat for 3 s" in verdict.summary
    assert verdict.action.recommended is RecommendedAction.REPLACE_RANK


def test_a_process_without_cpu_is_named_at_the_time_out() -> None:
    (verdict,) = diagnose(merged(without_stopped(frozen())))
    assert (verdict.fault, verdict.tier) == (Fault.HANG, Tier.HEARTBEAT)
    assert seconds_after(verdict, FROZEN_AT) == 10
    assert "uses no CPU" in verdict.summary


@pytest.mark.parametrize(("cards_until", "nodes"), [(80, []), (41, [node_name(3)])])
def test_a_machine_whose_cards_are_heard_is_not_out_of_reach(
    cards_until: int, nodes: list[str]
) -> None:
    """Neither its trainer nor its operating system is heard, but the exporter of its cards is."""
    batches = Scene(seconds=65, frozen={3: FROZEN_AT}).batches()
    silent = without_rows(batches, Entity.NODE, node_name(3), range(FROZEN_AT, 80))
    told = [with_cards(one) for one in silent]
    told = without_rows(told, Entity.GPU, node_name(3), range(cards_until, 80))
    verdicts = firing(diagnose(merged(told)))
    assert [one.node for one in verdicts if one.fault is Fault.MACHINE_UNREACHABLE] == nodes


def with_cards(batch: TelemetryBatch) -> TelemetryBatch:
    """The batch with a card of each node, which does what all others do."""
    nodes = tuple(map(node_name, range(4)))
    cards = Table(Entity.GPU, nodes, (0,) * 4, {"gpu_power_watts": (400.0,) * 4})
    return replace(batch, tables=(*batch.tables, cards))


@pytest.mark.parametrize("timeout_seconds", [6.0, 20.0])
def test_the_time_out_is_a_setting(timeout_seconds: float) -> None:
    silence = SilenceSettings(timeout_seconds, node_silence_seconds=5, early_silence_seconds=4)
    config = DetectorConfig(silence=silence)
    (verdict,) = diagnose(merged(without_stopped(frozen())), config)
    assert seconds_after(verdict, FROZEN_AT) == timeout_seconds


def test_the_victims_that_wait_are_never_named() -> None:
    verdicts = diagnose(merged(Scene(seconds=110, frozen={0: FROZEN_AT}).batches()))
    assert {verdict.node for verdict in verdicts} == {node_name(0)}


@pytest.mark.parametrize("ranks", [4, 16])
def test_two_frozen_ranks_are_both_named(ranks: int) -> None:
    verdicts = diagnose(merged(Scene(ranks, 55, frozen={1: 40, 3: 40}).batches()))
    assert {verdict.node for verdict in verdicts} == {node_name(1), node_name(3)}
    assert len(verdicts) == 2


def test_lost_heart_beats_of_a_busy_process_are_no_death() -> None:
    batches = Scene(seconds=80).batches()
    hole = without_rows(batches, Entity.RANK, node_name(1), range(40, 70))
    assert diagnose(merged(hole)) == []


def test_a_hole_in_the_whole_telemetry_accuses_nobody() -> None:
    batches = [b for b in Scene(seconds=115).batches() if not 40 <= b.second - START < 100]
    assert diagnose(merged(batches)) == []


def without_processes(batches: list[TelemetryBatch]) -> list[TelemetryBatch]:
    """An operating system that says nothing of processes."""
    metrics = {"process_stopped": None, "cpu_utilization_ratio": None}
    return with_columns(batches, Entity.NODE, metrics)


def test_a_job_that_stands_since_one_rank_is_silent_is_a_second_channel() -> None:
    (verdict,) = diagnose(merged(without_processes(frozen())))
    assert (verdict.node, verdict.fault, verdict.tier) == (node_name(2), Fault.HANG, Tier.HEARTBEAT)
    assert seconds_after(verdict, FROZEN_AT) == 10
    assert "no rank has made a step since" in verdict.summary


@pytest.mark.parametrize("stood_still", [range(80, 80), range(25, 80)], ids=["never", "before"])
def test_silence_in_a_job_that_does_not_stand_since_then_is_not_decided(stood_still: range) -> None:
    batches = without_rows(Scene(seconds=70).batches(), Entity.RANK, node_name(1), range(40, 80))
    stands = [b.second - START in stood_still for b in batches]
    batches = [
        with_columns([batch], Entity.RANK, {"step": 80.0})[0] if still else batch
        for batch, still in zip(batches, stands, strict=True)
    ]
    assert diagnose(merged(without_processes(batches))) == []


def test_a_heart_beat_that_repeats_its_time_is_none() -> None:
    batches = [
        with_columns([batch], Entity.RANK, {"heartbeat": float(batch.second)})[0]
        for batch in Scene(seconds=60, frozen={9: 40}).batches()
    ]
    held = [_held(batch, 1, START + 40.0) for batch in batches]
    (verdict,) = diagnose(merged(without_processes(held)))
    assert (verdict.node, verdict.fault) == (node_name(1), Fault.HANG)


def _held(batch: TelemetryBatch, rank: int, most: float) -> TelemetryBatch:
    """The batch with the time of this rank's heart-beat held."""
    ranks = batch.tables[1]
    beats = list(ranks.columns["heartbeat"])
    beats[rank] = min(beats[rank], most)
    table = replace(ranks, columns={**ranks.columns, "heartbeat": tuple(beats)})
    return replace(batch, tables=(batch.tables[0], table))


def test_a_node_that_is_silent_in_every_channel_for_a_part_of_a_long_step_is_alive() -> None:
    batches = [
        with_columns([batch], Entity.RANK, {"step": float((batch.second - START) // 20)})[0]
        for batch in Scene(seconds=115).batches()
    ]
    assert diagnose(merged(unplugged(batches, until=68))) == []


def test_a_node_that_is_silent_in_every_channel_is_out_of_reach() -> None:
    (verdict,) = diagnose(merged(unplugged(Scene(seconds=80, frozen={3: 39}).batches())))
    assert (verdict.fault, verdict.tier) == (Fault.MACHINE_UNREACHABLE, Tier.HEARTBEAT)
    assert seconds_after(verdict, 39) == 10
    assert verdict.action.recommended is RecommendedAction.REPLACE_NODE


def test_a_node_that_is_silent_while_steps_are_made_is_alive_and_only_its_telemetry_lost() -> None:
    config = DetectorConfig(silence=SilenceSettings(telemetry_timeout_seconds=30))
    fired, resolved = diagnose(merged(unplugged(Scene(seconds=90).batches())), config)
    assert (fired.node, fired.fault, fired.phase) == (
        node_name(3),
        Fault.TELEMETRY_LOST,
        Phase.SYMPTOM,
    )
    assert seconds_after(fired, 39) == 30
    assert fired.action.recommended is RecommendedAction.NOTIFY
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)


def test_when_all_operating_systems_are_silent_that_is_no_second_channel() -> None:
    batches = without_rows(Scene(seconds=80).batches(), Entity.RANK, node_name(3), range(40, 80))
    for number in range(4):
        batches = without_rows(batches, Entity.NODE, node_name(number), range(35, 80))
    assert diagnose(merged(batches)) == []


def test_a_stopped_process_in_a_job_that_goes_on_waits_for_the_time_out() -> None:
    stuck = frozen()
    going_on = [
        with_columns([batch], Entity.RANK, {"step": float(batch.second)})[0] for batch in stuck
    ]
    (verdict,) = diagnose(merged(going_on))
    assert (verdict.tier, seconds_after(verdict, FROZEN_AT)) == (Tier.HEARTBEAT, 10)


def test_a_rank_that_beats_again_is_resolved() -> None:
    fired, resolved = diagnose(merged(frozen(thawed_at=60)))
    assert (fired.status, resolved.status) == (Status.FIRING, Status.RESOLVED)
    assert fired.id == resolved.id
    assert seconds_after(resolved, 60) <= 4
    assert "beats again" in resolved.summary


def test_whose_peers_end_while_it_is_out_of_reach_does_not_beat_again() -> None:
    # Two ranks of one node are silent, and each is the other's only peer when the rest has gone.
    scene = Scene(5, 80, frozen={3: 39, 4: 39}, nodes={4: 3})
    aborts = [event(EventKind.PROCESS_EXIT, 70, node_name(one), one, signal=6) for one in range(3)]
    job = [batch for batch in unplugged(scene.batches()) if batch.second - START <= 75]
    fired, *later = diagnose(merged(job, aborts))
    assert (fired.node, fired.fault) == (node_name(3), Fault.MACHINE_UNREACHABLE)
    assert {verdict.id for verdict in later} == {fired.id}
    assert later[-1].status is Status.UPDATED
    assert "victims" in later[-1].summary


def test_a_short_stop_is_no_hang() -> None:
    assert diagnose(merged(frozen(thawed_at=FROZEN_AT + 2))) == []


def test_a_node_whose_clock_is_behind_is_not_silent() -> None:
    batches = Scene(seconds=80).batches()
    slow_clock = [
        TelemetryBatch(b.job, b.generation, b.second - 30, b.tables)
        for b in without_all_but(batches, 3)
    ]
    others = batches
    for entity in Entity:
        others = without_rows(others, entity, node_name(3), range(80))
    facts = [fact for pair in zip(others, slow_clock, strict=True) for fact in pair]
    assert diagnose(facts) == []


def without_all_but(batches: list[TelemetryBatch], kept: int) -> list[TelemetryBatch]:
    for number in range(4):
        for entity in Entity:
            if number != kept:
                batches = without_rows(batches, entity, node_name(number), range(80))
    return batches


def test_a_rank_that_was_asked_to_end_is_not_missed() -> None:
    facts = merged(frozen(), [exit_of(2, FROZEN_AT + 0.5, expected=True)])
    assert diagnose(facts) == []


def test_nobody_is_missed_after_the_job_has_finished() -> None:
    assert diagnose(merged(frozen(), [job_state("finished", FROZEN_AT)])) == []


def test_the_longest_silence_stands_first_among_the_candidates() -> None:
    (verdict,) = firing(diagnose(merged(frozen())))
    assert verdict.candidates[0].node == node_name(2)
    assert verdict.candidates[0].score == 3.0
    assert {evidence.metric for evidence in verdict.evidence} >= {"heartbeat", "process_stopped"}
