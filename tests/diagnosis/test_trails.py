"""The evidence of ranks as they come, go and begin anew."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from paramedic.diagnosis.settings import StragglerSettings
from paramedic.diagnosis.straggler import StragglerWatch
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.contract import AnomalyScores

SETTINGS = StragglerSettings()
METRICS = ("collective_seconds", "compute_seconds")
ROWS = tuple(EntityKey(Entity.RANK, NodeName(f"n{rank}"), rank) for rank in range(5))
QUIET = (0.0, 0.1, -0.1, 0.2, -0.2)


def slot(
    second: int, slow: dict[int, float], ranks: tuple[int, ...] = (0, 1, 2, 3, 4)
) -> AnomalyScores:
    """These ranks in one slot, some of them this far from their peers; NaN: not observed."""
    rows = tuple(ROWS[rank] for rank in ranks)
    own = np.array([slow.get(rank, QUIET[rank]) for rank in ranks])
    deviation = np.stack([-own, own], axis=1)
    values = np.stack([0.1 - 0.01 * own, 0.25 + 0.05 * own], axis=1)
    peers = np.full(values.shape, (0.1, 0.25))
    peers[np.isnan(own)] = np.nan
    return AnomalyScores(second, rows, METRICS, deviation, values, peers)


def watched(slots: list[AnomalyScores]) -> StragglerWatch:
    watch = StragglerWatch(SETTINGS)
    for one in slots:
        watch.weigh(one)
    return watch


def test_who_was_not_observed_keeps_its_evidence() -> None:
    before = watched([slot(second, {2: 4.0}) for second in range(3)])
    ((_, trail),) = before.trails_of(ROWS[2].node)
    for gone in (slot(3, {2: np.nan}), slot(3, {}, (0, 1, 3, 4))):
        after = copy.deepcopy(before)
        after.weigh(gone)
        assert after.trails_of(ROWS[2].node) == [(ROWS[2], trail)]


def test_who_is_only_there_as_a_peer_gets_no_evidence() -> None:
    watch = watched([slot(second, {2: 4.0}) for second in range(3)])
    before = watch.trails_of(ROWS[2].node)
    watch.weigh(slot(3, {2: 4.0, 4: 4.0}), np.arange(5) == 4)
    assert watch.trails_of(ROWS[2].node) == before
    assert watch.suspicion()[ROWS[4]] == 4.0 - SETTINGS.allowance


def test_a_slot_in_which_peers_are_in_turmoil_accuses_nobody_who_tells() -> None:
    watch = watched([])
    watch.weigh(slot(0, {0: 4.0, 1: -4.0, 2: 4.0}), np.arange(5) == 2)
    assert watch.suspicion() == {}


def test_who_tells_alone_is_judged_by_the_noise_of_all_who_are_there() -> None:
    wild = [slot(s, dict.fromkeys((0, 1), 5.0 * (-1) ** (s // 20))) for s in range(400)]
    watch, alone = watched(wild), np.arange(5) == 2
    watch.weigh(slot(400, {2: 4.0}), alone)
    ((_, trail),) = watch.trails_of(ROWS[2].node)
    assert trail.level > 1.5 * watched([slot(0, {2: 4.0})]).trails_of(ROWS[2].node)[0][1].level


def test_a_newcomer_among_the_others_changes_nothing_of_theirs() -> None:
    few, all_of_them = (0, 2, 4), (0, 1, 2, 3, 4)
    watch = watched([slot(second, {2: 4.0}, few) for second in range(3)])
    watch.weigh(slot(3, {2: 4.0}, all_of_them))
    (old,), (new,) = (watch.trails_of(ROWS[rank].node) for rank in (2, 1))
    assert old[1].score == pytest.approx(4 * (4.0 - SETTINGS.allowance))
    assert (old[1].onset_second, new[1].score, new[1].healthy_slots) == (0, 0.0, 1)
    assert list(watch.suspicion()) == [ROWS[2]]


def test_means_are_of_the_slots_since_the_evidence_left_zero() -> None:
    slots = [slot(0, {}), slot(1, {2: 2.0}), slot(2, {2: 4.0}), slot(3, {2: np.nan})]
    ((_, trail),) = watched(slots).trails_of(ROWS[2].node)
    assert trail.onset_second == 1
    assert trail.deviation == pytest.approx(3.0)
    assert trail.value == pytest.approx(0.25 + 0.05 * 3.0)
    assert trail.waiting == pytest.approx(-3.0)
    assert trail.peers_waited == pytest.approx(0.1)


def test_after_a_restart_nobody_is_suspected_and_nobody_well() -> None:
    watch = watched([slot(second, {2: 4.0}) for second in range(4)])
    watch.restart()
    assert watch.suspicion() == {}
    assert watch.trails_of(ROWS[2].node) == []
    assert not watch.is_well(ROWS[2].node, 1)
    watch.weigh(slot(9, {2: 4.0}, (2, 0, 1)))
    ((row, trail),) = watch.trails_of(ROWS[2].node)
    assert (row, trail.score, trail.onset_second) == (ROWS[2], 4.0 - SETTINGS.allowance, 9)


def test_a_rank_is_well_after_enough_slots_of_which_a_slow_one_takes_two() -> None:
    enough = SETTINGS.healthy_slots_to_resolve
    watch = watched([slot(second, {}) for second in range(enough - 1)])
    assert not watch.is_well(ROWS[1].node, 1)
    watch.weigh(slot(100, {1: 3.0}))
    for second in range(101, 103):
        watch.weigh(slot(second, {}))
    assert not watch.is_well(ROWS[1].node, 1)
    assert watch.is_well(ROWS[4].node, 1)
    watch.weigh(slot(103, {}))
    assert watch.is_well(ROWS[1].node, 1)


def test_a_watch_that_was_copied_goes_on_like_the_other() -> None:
    one = watched([slot(second, {2: 3.0}) for second in range(3)])
    other = copy.deepcopy(one)
    for second in range(3, 12):
        assert one.weigh(slot(second, {2: 3.0})) == other.weigh(slot(second, {2: 3.0}))
    assert one.suspicion() == other.suspicion()


def test_more_than_half_far_out_says_nothing_about_anybody() -> None:
    watch = watched([slot(0, {0: 3.5, 1: 3.5, 2: -3.5})])
    assert watch.suspicion() == {}
    assert watch.trails_of(ROWS[0].node) == []


def test_nobody_is_well_as_long_as_the_evidence_decides() -> None:
    slow = [slot(second, {2: 5.0}) for second in range(40)]
    hardly = [slot(40 + second, {2: 0.9}) for second in range(SETTINGS.healthy_slots_to_resolve)]
    watch = watched([*slow, *hardly])
    assert [one.row for one in watch.weigh(slot(90, {2: 0.9}))] == [ROWS[2]]
    assert not watch.is_well(ROWS[2].node, 1)
    for second in range(60):
        watch.weigh(slot(100 + second, {2: -3.0}))
    assert watch.is_well(ROWS[2].node, 1)


@pytest.mark.parametrize(("width", "enough"), [(1, 30), (2, 15), (15, 10), (30, 10)])
def test_of_slow_telemetry_fewer_slots_say_that_a_rank_is_well(width: int, enough: int) -> None:
    was_slow = [slot(0, {2: 4.0})]
    for more, is_well in ((enough - 1, False), (enough, True)):
        watch = watched([*was_slow, *(slot(1 + at, {}) for at in range(more))])
        assert watch.is_well(ROWS[2].node, width) is is_well
