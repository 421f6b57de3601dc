"""A slow rank has the name of what its machine shows, and else it is a straggler."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from paramedic.diagnosis.contract import Evidence, Fault, Phase, RecommendedAction, Tier
from paramedic.diagnosis.finding import Finding, moment
from paramedic.diagnosis.rank_families import with_cause as with_cause_of
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window

NODES = tuple(NodeName(f"n{at}") for at in range(8))
SECONDS, ONSET = 160, 120
CORRECTED = "gpu_ecc_correctable_total"
CARDS = ("gpu_power_watts", "gpu_sm_clock_hertz", CORRECTED)
SLOTS = slice(ONSET, None)
Windows = dict[Entity, Window]
SLOW = Evidence("compute_seconds", 0.6, 0.3, 9.0, moment(ONSET))
FINDING = Finding(
    node=NODES[1], rank=1, generation=0, fault=Fault.STRAGGLER, phase=Phase.DEGRADED,
    tier=Tier.PATTERN, confidence=0.99, onset=moment(ONSET), detected_at=moment(SECONDS - 1),
    summary="rank 1 computes 2.0× longer", candidates=(), evidence=(SLOW,),
)  # fmt: skip


def with_cause(finding: Finding, windows: Windows) -> Finding:
    return with_cause_of(finding, windows, windows[Entity.NODE])


def window(entity: Entity, metrics: tuple[str, ...], level: float) -> Window:
    index = None if entity is Entity.NODE else 0
    rows = tuple(EntityKey(entity, node, index) for node in NODES)
    noise = np.random.default_rng(7).normal(1.0, 0.01, (len(rows), len(metrics), SECONDS))
    values = level * noise
    return Window(JobName("j"), 0, entity, 0, rows, metrics, values, np.ones(values.shape, bool))


def job() -> Windows:
    cards = window(Entity.GPU, CARDS, 400.0)
    cards.values[:, 2] = 0.0
    ranks = window(Entity.RANK, ("step", "compute_seconds", "collective_seconds"), 0.3)
    ranks.values[:, 0] = np.arange(SECONDS)
    ranks.values[1, 1, SLOTS] *= 2.0
    ranks.values[1, 2, SLOTS] *= 0.1
    hosts = window(Entity.NODE, ("cpu_utilization_ratio", "load_average"), 0.3)
    return {Entity.GPU: cards, Entity.NODE: hosts, Entity.RANK: ranks}


def correct_errors(windows: Windows, row: int = 1) -> None:
    windows[Entity.GPU].values[row, 2, SLOTS] = 4.0 * np.arange(SECONDS - ONSET)


def test_a_rank_that_is_slow_and_nothing_more_is_a_straggler() -> None:
    assert with_cause(FINDING, job()) == FINDING


def test_counters_of_its_card_say_what_makes_it_slow() -> None:
    windows = job()
    correct_errors(windows)
    found = with_cause(FINDING, windows)
    assert (found.fault, found.rank, found.phase) == (Fault.ECC_ERROR, 1, Phase.DEGRADED)
    assert found.recommendation.recommended is RecommendedAction.REPLACE_NODE
    assert found.summary == FINDING.summary


def test_they_are_told_beside_what_the_rank_shows() -> None:
    windows = job()
    correct_errors(windows)
    own, counter = with_cause(FINDING, windows).evidence
    assert own == SLOW
    assert (counter.metric, counter.peers, counter.since) == (CORRECTED, 0.0, FINDING.onset)
    assert counter.value is not None
    assert counter.value > 50.0


def loading(late: float) -> tuple[Finding, Windows]:
    """Rank 1 waits so many times as long for its batches as the others."""
    windows = job()
    ranks = window(Entity.RANK, ("step", "dataloader_seconds"), 0.1)
    ranks.values[:, 0] = np.arange(SECONDS)
    ranks.values[1, 1, SLOTS] *= late
    waits = Evidence("dataloader_seconds", 0.1 * late, 0.1, 9.0, moment(ONSET))
    return replace(FINDING, evidence=(waits,)), {**windows, Entity.RANK: ranks}


def without_cards(windows: Windows) -> Windows:
    cards = windows[Entity.GPU]
    gone = replace(cards, rows=(), values=cards.values[:0], observed=cards.observed[:0])
    return {**windows, Entity.GPU: gone}


def test_a_rank_that_waits_for_data_is_not_replaced_by_one_that_may_wait_for_the_same() -> None:
    finding, windows = loading(1.1)
    for asked in (windows, without_cards(windows)):
        found = with_cause(finding, asked)
        assert found.fault is Fault.STRAGGLER
        assert found.recommendation.recommended is RecommendedAction.RUN_TEST
        assert "look at what loads them" in found.recommendation.reason


def test_where_a_disk_of_its_machine_is_slow_that_is_what_it_waits_for() -> None:
    finding, windows = loading(8.0)
    hosts = window(Entity.NODE, ("disk_read_latency_seconds",), 0.05)
    hosts.values[1, :, SLOTS] *= 10.0
    found = with_cause(finding, {**windows, Entity.NODE: hosts})
    assert (found.fault, found.rank) == (Fault.STORAGE_ERROR, 1)
    assert [one.metric for one in found.evidence] == [
        "dataloader_seconds", "disk_read_latency_seconds"
    ]  # fmt: skip


def test_counters_of_another_machine_say_nothing_of_it() -> None:
    windows = job()
    correct_errors(windows, row=2)
    assert with_cause(FINDING, windows) == FINDING


def test_machines_without_cards_say_nothing_of_the_family() -> None:
    windows = job()
    windows[Entity.NODE].values[1, :1, SLOTS] *= 3.0
    found = with_cause(FINDING, without_cards(windows))
    assert (found.fault, found.action) == (Fault.STRAGGLER, None)
    assert [one.metric for one in found.evidence] == ["compute_seconds", "cpu_utilization_ratio"]
    assert found.evidence[1].since == FINDING.onset


def test_what_its_host_was_always_different_by_is_not_told() -> None:
    windows = job()
    windows[Entity.NODE].values[1] *= 3.0
    for one in (windows, without_cards(windows)):
        assert with_cause(FINDING, one).evidence == FINDING.evidence


def test_what_is_heard_of_too_little_since_then_is_not_asked() -> None:
    windows = job()
    correct_errors(windows)
    early = replace(FINDING, onset=moment(SECONDS - 2))
    assert with_cause(early, windows) == early


def test_a_machine_of_which_nothing_is_observed_leaves_the_name() -> None:
    windows = job()
    for kind in (Entity.GPU, Entity.NODE):
        windows[kind].values[1] = math.nan
        windows[kind].observed[1] = False
    assert with_cause(FINDING, windows).fault is Fault.STRAGGLER
