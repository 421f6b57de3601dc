"""When all ranks fall silent, their cards tell a job that has died from telemetry that is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.playing import diagnose, merged
from diagnosis.synthetic import START, Scene, event, job_state, node_name, without_rows
from diagnosis.test_motion import COMPUTES, GONE, RESTS, SPINS, Levels
from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Status, Verdict
from paramedic.ingest.contract import Entity, EventKind, Table, TelemetryBatch

pytestmark = pytest.mark.long

SILENT_FROM, SECONDS = 80, 150
NODES = [node_name(number) for number in range(4)]


def silent(cards: Levels | None, seconds: int = SECONDS) -> list[TelemetryBatch]:
    """Ranks that are heard of no more, whose hosts are at work, and what their cards do then."""
    batches = Scene(seconds=seconds).batches()
    for node in NODES:
        batches = without_rows(batches, Entity.RANK, node, range(SILENT_FROM, seconds))
    if cards is None:
        return batches
    return [_with_cards(one, _levels(one.second - START, cards)) for one in batches]


def _levels(second: int, then: Levels) -> Levels:
    return COMPUTES if second < SILENT_FROM else then


def _with_cards(batch: TelemetryBatch, levels: Levels) -> TelemetryBatch:
    columns = {metric: (value,) * len(NODES) for metric, value in levels.items()}
    cards = Table(Entity.GPU, tuple(NODES), (0,) * len(NODES), columns)
    return replace(batch, tables=(*batch.tables, cards))


def after(verdict: Verdict) -> float:
    return verdict.detected_at.timestamp() - START - SILENT_FROM


@pytest.mark.parametrize(
    ("cards", "what"),
    [(GONE, "the job has died"), (RESTS, "the job has died, or"), (SPINS, "the job stands still")],
    ids=["gone", "rest", "spin"],
)
def test_cards_that_do_no_work_say_that_the_job_has_died(cards: Levels, what: str) -> None:
    (verdict,) = diagnose(merged(silent(cards), [job_state("training", 0)]))
    assert (verdict.scope, verdict.fault) == (Scope.JOB, Fault.THROUGHPUT_DROP)
    assert (verdict.phase, verdict.severity) == (Phase.FAILED, Severity.P0)
    assert what in verdict.summary
    assert after(verdict) in range(28, 36)


@pytest.mark.parametrize("cards", [COMPUTES, None], ids=["work", "nobody tells"])
def test_where_work_goes_on_or_nothing_is_known_telemetry_is_lost(cards: Levels | None) -> None:
    (verdict,) = diagnose(merged(silent(cards), [job_state("training", 0)]))
    assert (verdict.fault, verdict.severity) == (Fault.TELEMETRY_LOST, Severity.P2)
    assert after(verdict) in range(28, 32)


def test_what_the_job_did_not_do_before_it_ended_is_no_standstill() -> None:
    ended = event(EventKind.JOB_STATE, SILENT_FROM + 5, state="finished")
    assert diagnose(merged(silent(GONE), [job_state("training", 0), ended])) == []


def test_who_was_slow_before_all_fell_silent_has_brought_the_job_down() -> None:
    slow = Scene(seconds=SECONDS, slow={1: 2.0}, slow_from=40).batches()
    for node in NODES:
        slow = without_rows(slow, Entity.RANK, node, range(SILENT_FROM, SECONDS))
    batches = [_with_cards(one, _levels(one.second - START, GONE)) for one in slow]
    fired, failed = diagnose(merged(batches, [job_state("training", 0)]))
    assert (fired.fault, failed.id, failed.status) == (Fault.STRAGGLER, fired.id, Status.UPDATED)
    assert (failed.phase, failed.severity) == (Phase.FAILED, Severity.P0)
    assert after(failed) in range(28, 36)


def test_cards_that_work_again_end_what_was_said_of_a_job_whose_ranks_stay_silent() -> None:
    batches = [
        _with_cards(one, GONE if SILENT_FROM <= one.second - START < 140 else COMPUTES)
        for one in silent(None, 240)
    ]
    fired, over, lost = diagnose(merged(batches, [job_state("training", 0)]))
    assert (over.id, over.status) == (fired.id, Status.RESOLVED)
    assert (fired.fault, lost.fault) == (Fault.THROUGHPUT_DROP, Fault.TELEMETRY_LOST)
