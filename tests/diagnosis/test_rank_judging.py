"""A second is judged when every rank has told of it, and at the latest when it closes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.playing import Fact, arrival, diagnose, firing, merged
from diagnosis.synthetic import JOB, START, Scene, job_state, node_name, without_rows
from paramedic.diagnosis.contract import Fault, Status, Verdict
from paramedic.diagnosis.cost import BORNE_SECONDS
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.excuses import Excuse
from paramedic.ingest.contract import Entity, Table, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig

pytestmark = pytest.mark.long

SLOW = Scene(ranks=4, seconds=70, slow={2: 3.0}, slow_from=40, noise=0.05)
few = settings(max_examples=settings().max_examples // 4)


def told_at(facts: list[Fact]) -> tuple[Verdict, float]:
    """The only verdict, and the seconds after its slot in which it was told."""
    detector, now, found = DetectorConfig().build(JOB), 0.0, []
    for fact in facts:
        now = max(now, arrival(fact))
        assert isinstance(fact, TelemetryBatch)
        found += [(verdict, now) for verdict in detector.accept(fact, now)]
    ((verdict, at),) = found
    return verdict, at - verdict.detected_at.timestamp()


def apart(batch: TelemetryBatch) -> list[TelemetryBatch]:
    """The batch in two: nodes, then ranks."""
    return [replace(batch, tables=(table,)) for table in batch.tables]


def test_a_slow_rank_is_named_with_the_batch_of_the_slot_that_decides() -> None:
    verdict, waited_seconds = told_at(merged(SLOW.batches()))
    assert (verdict.node, verdict.fault) == (node_name(2), Fault.STRAGGLER)
    assert waited_seconds == 1.0
    assert verdict.detected_at.timestamp() - START - SLOW.slow_from <= 5


def test_a_rank_that_is_missing_is_waited_for_as_long_as_a_slot_is_open() -> None:
    batches = without_rows(SLOW.batches(), Entity.RANK, node_name(0), range(38, 70))
    verdict, waited_seconds = told_at(merged(batches))
    assert verdict.node == node_name(2)
    assert waited_seconds == 1.0 + WindowConfig().lateness_seconds


def test_ranks_whose_rows_come_apart_are_judged_when_the_last_is_there() -> None:
    parts = [part for batch in SLOW.batches() for part in apart(batch)]
    verdict, waited_seconds = told_at(list(parts))
    assert (verdict.node, waited_seconds) == (node_name(2), 1.0)


@few
@given(st.randoms(use_true_random=False))
def test_any_order_within_the_lateness_gives_the_same_verdicts(rng: random.Random) -> None:
    parts = [part for batch in SLOW.batches() for part in apart(batch)]
    jumbled = sorted(parts, key=lambda part: part.second + rng.uniform(0, 2.9))
    assert diagnose(jumbled) == diagnose(parts)


def test_slots_of_another_width_are_judged_anew() -> None:
    """A source that turns out to be slow: nothing is waited for that was judged at its old pace."""
    slower = replace(job_state("training", 0), details={"state": "training", "sampling_seconds": 5})
    slow = replace(SLOW, seconds=300, slow_from=150)
    every_fifth = [batch for batch in slow.batches() if (batch.second - START) % 5 == 0]
    verdicts = firing(diagnose([*SLOW.batches()[:30], slower, *every_fifth]))
    assert [verdict.node for verdict in verdicts] == [node_name(2)]


def with_cards(scene: Scene, batch: TelemetryBatch) -> TelemetryBatch:
    """The batch with a card of each node; that of the slow rank corrects errors while it is so."""
    second, nodes = batch.second - START, tuple(map(scene.node, range(scene.ranks)))
    since = max(0, min(second, scene.slow_until) - scene.slow_from)
    corrected = tuple(2.0 * since if rank in scene.slow else 0.0 for rank in range(scene.ranks))
    power = tuple(400.0 + (7 * rank + 3 * second) % 5 for rank in range(scene.ranks))
    columns = {"gpu_power_watts": power, "gpu_ecc_correctable_total": corrected}
    table = Table(Entity.GPU, nodes, (0,) * scene.ranks, columns)
    return replace(batch, tables=(*batch.tables, table))


def test_a_slow_rank_has_the_name_of_what_its_card_shows_until_it_is_well() -> None:
    scene = replace(SLOW, ranks=8, slow={2: 1.5}, slow_from=60, slow_until=100, seconds=190)
    verdicts = diagnose([with_cards(scene, batch) for batch in scene.batches()])
    of_rank = [verdict for verdict in verdicts if verdict.rank is not None]
    fired, resolved = of_rank
    assert (fired.node, fired.rank, fired.fault) == (node_name(2), 2, Fault.ECC_ERROR)
    assert {"compute_seconds", "gpu_ecc_correctable_total"} <= {
        one.metric for one in fired.evidence
    }
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)


def busy_host(scene: Scene, batch: TelemetryBatch) -> TelemetryBatch:
    """The batch with idle cards, and a host that is busy with something else while its rank is
    slow."""
    second, nodes = batch.second - START, tuple(map(scene.node, range(scene.ranks)))
    power = tuple(400.0 + (7 * rank + 3 * second) % 5 for rank in range(scene.ranks))
    cards = Table(Entity.GPU, nodes, (0,) * scene.ranks, {"gpu_power_watts": power})
    is_busy = scene.slow_from <= second < scene.slow_until
    used = tuple(
        0.1 + 0.001 * ((5 * rank + 2 * second) % 7) + 0.5 * (is_busy and rank in scene.slow)
        for rank in range(scene.ranks)
    )
    hosts, ranks = batch.tables
    columns = {**hosts.columns, "cpu_utilization_ratio": used}
    return replace(batch, tables=(replace(hosts, columns=columns), ranks, cards))


@pytest.mark.parametrize(("slowdown", "is_told"), [(1.35, False), (3.0, True)])
def test_what_a_busy_host_takes_from_its_rank_is_borne_while_little_is_lost(
    slowdown: float, *, is_told: bool
) -> None:
    slow = {2: slowdown}
    scene = Scene(ranks=8, slow=slow, slow_from=60, slow_until=85, seconds=150, noise=0.03)
    verdicts = firing(diagnose([busy_host(scene, batch) for batch in scene.batches()]))
    assert [one.fault for one in verdicts if one.rank is not None] == (
        [Fault.HOST_CONTENTION] * is_told
    )


def test_who_asks_is_told_that_a_busy_host_is_borne() -> None:
    scene = Scene(ranks=8, slow={2: 1.35}, slow_from=60, seconds=82, noise=0.03)
    detector = DetectorConfig().build(JOB)
    for fact in [busy_host(scene, batch) for batch in scene.batches()]:
        detector.accept(fact, fact.second + 1.0)
    holds = [hold for one in detector.standing(node_name(2)) for hold in one.holds]
    assert [hold.needed for hold in holds if hold.why == Excuse.BUSY] == [BORNE_SECONDS]
