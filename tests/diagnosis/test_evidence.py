"""How evidence adds up, when it is enough, and what is learned from what came to nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.evidence import Evidence, Tail, level_nats
from paramedic.diagnosis.oddness import Oddness, departure_of
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.contract import AnomalyScores

LEVEL = 20.0


def rows_of(count: int) -> tuple[EntityKey, ...]:
    return tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(count))


def add(evidence: Evidence, *gains: list[float], first: int = 0) -> None:
    for second, gain in enumerate(gains, start=first):
        rows = rows_of(len(gain))
        evidence.add(rows, second, np.array(gain), LEVEL, settle_slots=0)


def test_a_stricter_promise_and_more_tests_want_more_evidence() -> None:
    assert level_nats(0.01, 512, 1) - level_nats(0.1, 512, 1) == pytest.approx(np.log(10))
    assert level_nats(0.01, 1024, 1) - level_nats(0.01, 512, 1) == pytest.approx(np.log(2))
    assert level_nats(0.01, 512, 15) < level_nats(0.01, 512, 1)


@given(st.lists(st.floats(-5, 5), max_size=30))
def test_evidence_stays_between_nothing_and_twice_the_level(gains: list[float]) -> None:
    evidence = Evidence()
    for gain in gains:
        add(evidence, [gain])
        assert 0 <= evidence.score[0] <= 2 * LEVEL


def test_evidence_knows_since_when_it_adds_up() -> None:
    evidence = Evidence()
    add(evidence, [-1.0, 1.0], [2.0, 1.0], [2.0, -5.0])
    assert evidence.score.tolist() == [4.0, 0.0]
    assert evidence.since[0] == 1
    assert evidence.calm_slots.tolist() == [0, 1]


def test_what_was_not_observed_speaks_neither_way() -> None:
    evidence = Evidence()
    add(evidence, [3.0], [float("nan")])
    assert evidence.score[0] == 3.0


def test_a_newcomer_is_given_time_to_settle() -> None:
    evidence = Evidence()
    for second in range(6):
        rows = rows_of(1 if second == 0 else 2)
        evidence.add(rows, second, np.full(len(rows), 1.0), LEVEL, settle_slots=3)
    assert evidence.score.tolist() == [6.0, 2.0]


def test_climbs_that_come_to_nothing_raise_the_level() -> None:
    evidence = Evidence()
    for _ in range(60):
        add(evidence, [6.0], [-9.0])
    assert evidence.tail.fold > 3


def test_what_never_comes_back_raises_no_level_for_itself() -> None:
    evidence = Evidence()
    for _ in range(200):
        add(evidence, [1.0])
    assert evidence.tail.fold == 1.0


def test_climbs_below_the_mark_are_no_tail() -> None:
    tail = Tail()
    tail.learn(np.full(1000, 0.9))
    assert tail == Tail()


def test_a_restart_forgets_what_has_added_up() -> None:
    evidence = Evidence()
    add(evidence, [5.0])
    evidence.restart()
    assert evidence.score[0] == 0.0


def scores(deviation: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> AnomalyScores:
    rows, metrics = deviation.shape
    names = tuple(f"m{at}" for at in range(metrics))
    return AnomalyScores(0, rows_of(rows), names, deviation, deviation, deviation)


def test_one_bad_metric_is_not_drowned_by_many_good_ones() -> None:
    alone = departure_of(scores(np.array([[8.0]])))
    beside = departure_of(scores(np.array([[8.0] + [1.0] * 20])))
    assert beside[0] == pytest.approx(alone[0], rel=0.05)


def test_a_row_of_which_nothing_is_known_has_no_departure() -> None:
    assert np.isnan(departure_of(scores(np.full((1, 3), np.nan)))[0])


def oddness_of_five(copies: int, rows: int = 40) -> float:
    """How odd a row is that is out by five in all of so many metrics that say the same."""
    rng = np.random.default_rng(1)
    oddness = Oddness(memory_slots=300)
    found = 0.0
    for _ in range(200):
        noise = rng.normal(size=(rows, 1))
        noise[0] = 5.0
        found = float(oddness.weigh(departure_of(scores(np.repeat(noise, copies, axis=1))))[0])
    return found


def test_metrics_that_say_the_same_do_not_count_twice() -> None:
    assert oddness_of_five(copies=8) < 1.5 * oddness_of_five(copies=1)


def test_oddness_is_the_same_among_few_and_many() -> None:
    assert oddness_of_five(1, rows=8) == pytest.approx(oddness_of_five(1, rows=400), rel=0.4)


def test_what_healthy_rows_do_is_odd_as_rarely_as_it_says() -> None:
    rng = np.random.default_rng(2)
    oddness = Oddness(memory_slots=300)
    slots = [oddness.weigh(departure_of(scores(rng.normal(size=(50, 6))))) for _ in range(400)]
    found = np.concatenate(slots[50:])
    for nats in (2.0, 4.0, 6.0):
        assert np.mean(found > nats) <= np.exp(-nats)


def test_two_rows_are_no_crowd() -> None:
    assert np.isnan(Oddness(30).weigh(np.array([1.0, 9.0]))).all()
