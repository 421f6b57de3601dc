"""What a detector says of how evidence stands: what has added up, what would decide, what lacks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from diagnosis.playing import Fact, merged, tell
from diagnosis.synthetic import JOB, START, Scene, event, job_state, node_name, without_rows
from paramedic.diagnosis.contract import Tier
from paramedic.diagnosis.detector import DetectorConfig, JobDetector
from paramedic.diagnosis.explanation.considering import considered
from paramedic.diagnosis.explanation.standing import Standing
from paramedic.ingest.contract import Entity, EventKind, TelemetryBatch

TRAINING = job_state("training", 0)


def told(facts: Sequence[Fact]) -> JobDetector:
    detector = DetectorConfig().build(JOB)
    tell(detector, facts)
    return detector


@cache
def of_a_slow_rank(seconds: int) -> JobDetector:
    scene = Scene(ranks=4, seconds=seconds, slow={2: 1.6}, slow_from=20)
    return told(merged(scene.batches(), [TRAINING]))


def of(detector: JobDetector, rank: int, kind: str) -> Standing:
    standings = detector.standing(node_name(rank))
    return next(one for one in standings if one.kind == kind)


def held(standing: Standing) -> list[str]:
    return [one.text for one in standing.holds]


def test_evidence_adds_up_until_it_would_decide() -> None:
    before, after = (of(of_a_slow_rank(till), 2, "compute_seconds") for till in (28, 45))
    assert (before.tier, before.subject.index) == (Tier.PATTERN, 2)
    assert 0 < before.share < 1 < after.share
    assert before.since is not None
    assert 20 <= before.since.timestamp() - START <= 22
    assert "a step against" in before.note


def test_nothing_against_the_others_is_said_too() -> None:
    kinds = {one.kind: one for one in of_a_slow_rank(45).standing(node_name(0))}
    assert all(one.share < 1 for one in kinds.values())
    assert kinds["heartbeat"].note == "its heart-beats go on"
    assert kinds["known_errors"].evidence == 0
    assert kinds["host telemetry"].note == "3 rows of others to compare it with"


def test_a_silence_stands_against_the_time_out_with_what_the_second_channel_says() -> None:
    scene = Scene(ranks=4, seconds=28, frozen={1: 20})
    standing = of(told(merged(scene.batches(), [TRAINING])), 1, "heartbeat")
    assert (standing.level, standing.unit) == (10.0, "s")
    assert standing.evidence is not None
    assert 6 <= standing.evidence <= 8
    assert "confirms the silence" in standing.note


def test_a_process_that_works_contradicts_its_silence() -> None:
    lost = without_rows(
        Scene(ranks=4, seconds=28).batches(), Entity.RANK, node_name(1), range(20, 28)
    )
    assert "contradicts" in of(told(merged(lost, [TRAINING])), 1, "heartbeat").note


def test_a_rank_is_given_time_to_settle_and_a_pause_is_named() -> None:
    batches = Scene(ranks=4, seconds=30).batches()
    young = of(told(merged(batches[:8], [TRAINING])), 2, "slowness")
    assert (young.evidence, young.level) == (None, None)
    assert held(young) == [
        "this stretch of training is young and is given some time to settle (4 of 8 s)"
    ]
    paused = told(merged(batches, [TRAINING, job_state("checkpointing", 20)]))
    assert held(of(paused, 2, "compute_seconds")) == ["the job is checkpointing"]
    over = told(merged(batches, [TRAINING, job_state("finished", 25)]))
    assert [one.text for one in over.holds(node_name(2))] == ["the job has finished"]


def with_one_that_lacks(batch: TelemetryBatch) -> TelemetryBatch:
    """Node telemetry alone, with a metric that all nodes but the first send."""
    (table,) = [one for one in batch.tables if one.entity is Entity.NODE]
    lacking = {"swaps_per_second": [math.nan, 1.0, 1.0, 1.0]}
    return replace(batch, tables=(replace(table, columns={**table.columns, **lacking}),))


def test_what_only_the_peers_send_is_missing() -> None:
    batches = map(with_one_that_lacks, Scene(ranks=4, seconds=8).batches())
    detector = told([TRAINING, *batches])
    note = of(detector, 0, "host telemetry").note
    assert note.endswith("most of them send and it does not: swaps")
    assert "does not" not in of(detector, 1, "host telemetry").note
    assert of(detector, 1, "heartbeat").note == "it carries no rank that sends heart-beats"


def test_codes_are_told_whether_they_accuse_or_not() -> None:
    codes = [
        replace(event(EventKind.XID, 5, node_name(1), xid=code), gpu=0) for code in (79, 43, 9999)
    ]
    batches = Scene(ranks=4, seconds=8).batches()
    found = told(merged(batches, [TRAINING, *codes])).standing(node_name(1))
    notes = {one.kind: (one.share, one.note) for one in found if one.tier is Tier.KNOWN_ERROR}
    assert notes["xid 79"] == (1.0, "the GPU has fallen off the bus; it accuses, as P1")
    assert notes["xid 43"][0] == 0.0
    assert notes["xid 9999"] == (0.0, "nobody knows this code; it never accuses by itself")


def test_before_anything_is_heard_that_is_what_is_said() -> None:
    found = DetectorConfig().build(JOB).standing(node_name(0))
    assert ["no second is closed yet"] in [held(one) for one in found]
    assert "no node is heard of" in [one.note for one in found]


@pytest.mark.long
def test_to_ask_changes_nothing() -> None:
    facts = merged(Scene(ranks=4, seconds=40, slow={2: 2.0}, slow_from=20).batches(), [TRAINING])
    asked, unasked = DetectorConfig().build(JOB), told(facts)
    for fact in facts:
        tell(asked, [fact])
        asked.standing(node_name(2))
    assert asked.snapshot().state.docket.open == unasked.snapshot().state.docket.open != {}


def test_other_candidates_are_considered_by_the_strongest_that_speaks_against_them() -> None:
    detector = of_a_slow_rank(45)
    (verdict,) = detector.snapshot().state.docket.open.values()
    found = considered(verdict, detector)
    assert {one.subject.node for one in found} >= {node_name(2)}
    for node in {one.subject.node for one in found} - {node_name(2)}:
        (only,) = [one for one in found if one.subject.node == node]
        assert 0 < only.share < 1
