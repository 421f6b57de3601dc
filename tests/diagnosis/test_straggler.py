"""Slow ranks among noisy ones: named when it is safe, and nobody else ever."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from diagnosis.playing import diagnose, firing, merged
from diagnosis.synthetic import START, Scene, event, job_state, node_name, with_columns
from paramedic.diagnosis.contract import (
    Fault,
    Phase,
    RecommendedAction,
    Severity,
    Status,
    Tier,
    Verdict,
)
from paramedic.ingest.contract import Entity, EventKind

pytestmark = pytest.mark.long


SLOW_FROM = 60
LATENESS_AND_BATCH = 4
"""The slot closes 3 s after its end, and is published when its second is over."""


def delay(verdict: Verdict) -> float:
    """Seconds from the first slow second to the moment the verdict is out."""
    return verdict.detected_at.timestamp() - START - SLOW_FROM + LATENESS_AND_BATCH


@pytest.mark.parametrize(
    ("rank", "ratio", "within"),
    [(0, 1.4, 60), (3, 1.4, 60), (1, 1.6, 30), (2, 1.6, 30), *((r, 2.0, 20) for r in range(4))],
)
def test_a_slow_rank_is_named_and_only_that_one(rank: int, ratio: float, within: int) -> None:
    scene = Scene(seconds=SLOW_FROM + within, seed=rank, slow={rank: ratio})
    (verdict,) = diagnose(merged(scene.batches()))
    assert (verdict.node, verdict.rank) == (node_name(rank), rank)
    assert delay(verdict) <= within


@cache
def at_half_speed() -> Verdict:
    """The verdict about rank 2 at half its speed."""
    (verdict,) = diagnose(merged(Scene(seconds=80, slow={2: 2.0}).batches()))
    return verdict


def test_the_verdict_says_what_people_need() -> None:
    verdict = at_half_speed()
    assert (verdict.fault, verdict.tier) == (Fault.STRAGGLER, Tier.PATTERN)
    assert (verdict.phase, verdict.severity) == (Phase.DEGRADED, Severity.P1)
    assert verdict.action.recommended is RecommendedAction.REPLACE_RANK
    assert "rank 2 on node-0002 computes 1.9× longer a step than its 3 peers" in verdict.summary
    assert 0.95 <= verdict.confidence < 1.0
    assert abs(verdict.onset.timestamp() - START - SLOW_FROM) <= 2


def test_a_node_of_several_ranks_is_one_candidate_and_unsuspected_nodes_are_none() -> None:
    carried_by = {rank: rank // 4 for rank in range(8)}
    scene = Scene(8, 80, nodes=carried_by, slow={1: 2.0})
    fired = diagnose(merged(scene.batches()))[0]
    named = [candidate.node for candidate in fired.candidates]
    assert named[0] == fired.node == node_name(0)
    assert len(named) == len(set(named))
    assert all(candidate.score > 0 for candidate in fired.candidates)


def test_candidates_and_evidence_are_in_order() -> None:
    verdict = at_half_speed()
    scores = [candidate.score for candidate in verdict.candidates]
    assert verdict.candidates[0].node == node_name(2)
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    metrics = [evidence.metric for evidence in verdict.evidence]
    assert metrics[:2] == ["compute_seconds", "collective_seconds"]
    own, waits_less = verdict.evidence[:2]
    assert own.deviation > 3
    assert waits_less.deviation < 0


@pytest.mark.parametrize(("ranks", "within"), [(3, 30), (8, 20), (64, 20)])
def test_the_size_of_the_job_does_not_matter(ranks: int, within: int) -> None:
    (verdict,) = diagnose(merged(Scene(ranks, SLOW_FROM + within, slow={1: 2.0}).batches()))
    assert verdict.node == node_name(1)
    assert delay(verdict) <= within


@pytest.mark.parametrize(
    ("ranks", "slow", "seconds"), [(4, (2, 3), 130), (8, (0, 5), 90), (64, (1, 2, 3), 80)]
)
def test_several_slow_ranks_are_all_named(ranks: int, slow: tuple[int, ...], seconds: int) -> None:
    scene = Scene(ranks, seconds, slow=dict.fromkeys(slow, 2.0))
    named = {verdict.rank: verdict.node for verdict in firing(diagnose(merged(scene.batches())))}
    assert [named[rank] for rank in sorted(named, key=str)] == [node_name(rank) for rank in slow]


def test_of_two_nodes_the_one_is_named_whose_ranks_are_all_slow() -> None:
    nodes = {rank: rank // 4 for rank in range(8)}
    slow = dict.fromkeys(range(4, 8), 2.0)
    scene = Scene(ranks=8, seconds=90, noise=0.05, nodes=nodes, slow=slow)
    (verdict,) = diagnose(merged(scene.batches()))
    assert verdict.node == node_name(1)
    assert verdict.detected_at.timestamp() - START - scene.slow_from <= 15


def test_a_slow_data_loader_is_named() -> None:
    (verdict,) = diagnose(merged(Scene(seconds=90, slow_data={1: 0.2}).batches()))
    assert verdict.node == node_name(1)
    assert "waits for data" in verdict.summary
    assert verdict.action.recommended is not RecommendedAction.REPLACE_RANK


def test_a_store_that_hesitates_for_ten_seconds_accuses_nobody() -> None:
    scene = Scene(seconds=90, slow_data={1: 1.5}, slow_until=70)
    assert diagnose(merged(scene.batches())) == []


def test_a_data_loader_that_is_slow_by_nothing_that_matters_is_left_alone() -> None:
    assert diagnose(merged(Scene(seconds=160, slow_data={1: 0.02}).batches())) == []


@pytest.mark.parametrize(("ranks", "noise"), [(4, 0.05), (4, 0.2), (8, 0.12)])
def test_a_healthy_job_in_heavy_noise_is_left_alone(ranks: int, noise: float) -> None:
    scene = Scene(ranks, 200, seed=ranks, noise=noise)
    assert diagnose(merged(scene.batches())) == []


def test_seconds_in_which_the_whole_machine_is_busy_accuse_nobody() -> None:
    scene = Scene(seconds=150, busy_machine=[(40, 60), (80, 110), (130, 133)])
    assert diagnose(merged(scene.batches())) == []


@pytest.mark.parametrize("ratio", [0.9, 1.1])
def test_a_machine_that_is_always_a_little_different_is_left_alone(ratio: float) -> None:
    scene = Scene(seconds=180, always_different={1: ratio})
    assert diagnose(merged(scene.batches())) == []


def test_a_start_up_in_turmoil_accuses_nobody() -> None:
    scene = Scene(seconds=120, transient_seconds=30)
    events = [job_state("starting", 0), job_state("warming_up", 5), job_state("training", 30)]
    assert diagnose(merged(scene.batches(), events)) == []


@pytest.mark.parametrize("state", ["checkpointing", "evaluating", "recovering", "resizing"])
def test_a_rank_may_be_slow_while_the_job_does_something_else(state: str) -> None:
    scene = Scene(seconds=125, slow={0: 3.0}, slow_from=60, slow_until=100)
    events = [job_state("training", 0), job_state(state, 60), job_state("training", 100)]
    assert diagnose(merged(scene.batches(), events)) == []


def test_steps_that_do_not_come_are_no_evidence() -> None:
    """A telemetry that repeats the last step: one slow step is then seen over and over."""
    batches = Scene(seconds=100).batches()
    slow_step = Scene(seconds=61, slow={1: 2.0}).batches()[60].tables
    repeated = [
        b if b.second - START < 60 else type(b)(b.job, b.generation, b.second, slow_step)
        for b in batches
    ]
    assert diagnose(merged(repeated)) == []


def test_ranks_that_wait_long_are_victims() -> None:
    """The collective is part of the step; who waits in it is never accused by it."""
    batches = with_columns(
        Scene(seconds=100, slow={1: 2.0}).batches(), Entity.RANK, {"compute_seconds": 0.2}
    )
    assert {verdict.node for verdict in diagnose(merged(batches))} == {node_name(1)}


def test_a_rank_that_computes_longer_but_also_waits_longer_is_not_the_culprit() -> None:
    swapped = []
    for batch in Scene(seconds=100, slow={1: 1.8}).batches():
        node, rank = batch.tables
        columns = dict(rank.columns)
        waits = list(columns["collective_seconds"])
        waits[1], waits[0] = max(waits) + 0.5, 0.01
        columns["collective_seconds"] = tuple(waits)
        table = type(rank)(rank.entity, rank.nodes, rank.indices, columns)
        swapped.append(type(batch)(batch.job, batch.generation, batch.second, (node, table)))
    assert diagnose(merged(swapped)) == []


def test_without_collective_times_the_rank_is_named_all_the_same() -> None:
    batches = with_columns(
        Scene(seconds=80, slow={1: 2.0}).batches(), Entity.RANK, {"collective_seconds": None}
    )
    (verdict,) = diagnose(merged(batches))
    assert verdict.node == node_name(1)


def test_a_rank_that_is_fast_again_is_resolved() -> None:
    fired, resolved = diagnose(merged(Scene(seconds=160, slow={3: 2.0}, slow_until=90).batches()))
    assert (fired.status, resolved.status) == (Status.FIRING, Status.RESOLVED)
    assert fired.id == resolved.id
    assert 115 <= resolved.detected_at.timestamp() - START <= 150


def test_a_rank_that_stays_a_little_slow_stays_named_until_it_is_not() -> None:
    # A sixth longer is less than what is taken off a rank that has always been so.
    scene = Scene(8, 330, noise=0.03, slow={2: 1.18}, slow_until=260)
    fired, resolved = diagnose(merged(scene.batches()))
    assert (fired.status, fired.node) == (Status.FIRING, node_name(2))
    assert (resolved.status, resolved.id) == (Status.RESOLVED, fired.id)
    assert 285 <= resolved.detected_at.timestamp() - START <= 310


def test_a_rank_that_was_always_different_is_well_again_when_it_is_as_before() -> None:
    scene = Scene(8, 250, noise=0.03, always_different={2: 1.1}, slow={2: 1.3}, slow_until=150)
    fired, resolved = diagnose(merged(scene.batches()))
    assert (resolved.status, resolved.id) == (Status.RESOLVED, fired.id)
    assert 175 <= resolved.detected_at.timestamp() - START <= 220


@pytest.mark.parametrize(
    ("slow", "said", "action"),
    [
        ({0}, "for it", RecommendedAction.REPLACE_RANK),
        ({0, 2}, "rank 2 of the node is slow as well", RecommendedAction.REPLACE_RANK),
        ({0, 1, 2}, "ranks 1, 2 of the node are slow as well", RecommendedAction.REPLACE_NODE),
        ({0, 1, 2, 3}, "all 3 others of the node are slow as well", RecommendedAction.REPLACE_NODE),
    ],
)
def test_all_slow_ranks_of_a_node_are_told_and_most_of_them_are_the_nodes_trouble(
    slow: set[int], said: str, action: RecommendedAction
) -> None:
    carried_by = {rank: rank // 4 for rank in range(16)}
    scene = Scene(16, 90, noise=0.03, nodes=carried_by, slow=dict.fromkeys(slow, 1.5))
    (fired,) = diagnose(merged(scene.batches()))
    assert (fired.node, fired.rank) == (node_name(0), 0)
    assert fired.summary.endswith(said)
    assert fired.action.recommended is action


def test_a_slow_rank_whose_card_tells_an_error_is_one_verdict_until_it_is_fast_again() -> None:
    xid = replace(event(EventKind.XID, 50, node_name(2), xid=94), gpu=0)
    scene = Scene(seconds=160, slow={2: 2.0}, slow_until=90)
    fired, slow, well = diagnose(merged(scene.batches(), [xid]))
    assert {fired.id} == {slow.id, well.id}
    assert (fired.fault, slow.fault, slow.rank) == (Fault.ECC_ERROR, Fault.ECC_ERROR, 2)
    assert slow.phase is Phase.DEGRADED
    assert slow.summary.startswith("rank 2 on node-0002 computes")
    assert (well.status, well.rank, well.phase) == (Status.UPDATED, None, Phase.SYMPTOM)
    assert well.summary.endswith("rank 2 is as fast as its peers again")


@pytest.mark.parametrize(("since", "is_told"), [(SLOW_FROM, True), (0, False)])
def test_node_metrics_support_but_never_decide_and_what_was_always_so_is_not_told(
    since: int, *, is_told: bool
) -> None:
    loud = []
    for batch in Scene(seconds=80, slow={1: 2.0}).batches():
        node, rank = batch.tables
        is_busy = batch.second - START >= since
        switches = (400.0, 9000.0 if is_busy else 402.0, 410.0, 405.0)
        columns = {**node.columns, "context_switches_per_second": switches}
        table = type(node)(node.entity, node.nodes, node.indices, columns)
        loud.append(type(batch)(batch.job, batch.generation, batch.second, (table, rank)))
    before = [batch for batch in loud if batch.second - START < SLOW_FROM]
    assert diagnose(merged(before)) == []
    (verdict,) = diagnose(merged(loud))
    told = {evidence.metric for evidence in verdict.evidence}
    assert ("context_switches_per_second" in told) is is_told
