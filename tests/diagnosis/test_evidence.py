"""How evidence adds up, when it is enough, and what is learned from what came to nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paramedic.diagnosis.evidence import Evidence, Terms, level_nats
from paramedic.ingest.contract import Entity, EntityKey, NodeName
from paramedic.models.departure.character import characters_of
from paramedic.models.departure.model import Departures

METRICS = (
    "gpu_power_watts",
    "gpu_tensor_active_ratio",
    "gpu_nvlink_tx_bytes_per_second",
    "gpu_nvlink_rx_bytes_per_second",
)
POWER, TENSOR, SENT, RECEIVED = range(4)
LEVEL, ALLOWANCE = 60.0, 4.0
PATIENCE, LONE = 10, 30
ODD, BEYOND_DOUBT = 10.0, 1e6
"""In nats."""


def terms(**changed: float) -> Terms:
    given = Terms(
        base_level=LEVEL,
        allowance_nats=ALLOWANCE,
        least_slots=6,
        settle_slots=0,
        newcomer_slots=8,
        smoothing=np.ones((1, 1, 1)),
        patience_slots=np.full((len(METRICS), 1), float(PATIENCE)),
        lone_slots=np.full((len(METRICS), 1), float(LONE)),
        memory_slots=30.0,
        forgetting_slots=1e9,
    )
    return replace(given, **changed)  # type: ignore[arg-type]


def rows_of(count: int) -> tuple[EntityKey, ...]:
    return tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(count))


def slot(odd: Mapping[tuple[int, int], float], rows: int = 2) -> Departures:
    """Nats by metric and row; nothing else is odd."""
    nats = np.zeros((1, len(METRICS), rows))
    for (metric, row), much in odd.items():
        nats[:, metric, row] = much
    return seen_as(nats)


def seen_as(nats: NDArray[np.float64], rows: tuple[EntityKey, ...] = ()) -> Departures:
    known = np.ones(nats.shape[1:], np.bool_)
    names = rows or rows_of(nats.shape[2])
    return Departures(
        names, METRICS, nats, nats.__getitem__, known, characters_of(METRICS), has_turned=False
    )


def after(slots: int, *speaking: int, nats: float = ODD) -> Evidence:
    """What so many slots leave in which these metrics of the first row are odd."""
    evidence = Evidence(1)
    for second in range(slots):
        evidence.add(slot(dict.fromkeys(((one, 0) for one in speaking), nats)), second, terms())
    return evidence


def slots_to_decide(*speaking: int, nats: float = ODD, lone: int = LONE) -> int:
    evidence, given = Evidence(1), terms()
    given.lone_slots[:] = lone
    odd = slot(dict.fromkeys(((one, 0) for one in speaking), nats))
    for second in range(10 * LONE):
        evidence.add(odd, second, given)
        if evidence.strength[0] >= 1:
            return second + 1
    return 10**9


def test_a_stricter_promise_and_more_tests_want_more_evidence() -> None:
    assert level_nats(0.01, 512, 1) - level_nats(0.1, 512, 1) == pytest.approx(np.log(10))
    assert level_nats(0.01, 1024, 1) - level_nats(0.01, 512, 1) == pytest.approx(np.log(2))
    assert level_nats(0.01, 512, 15) < level_nats(0.01, 512, 1)


@pytest.mark.parametrize("nats", [ODD, BEYOND_DOUBT])
def test_what_lasts_less_than_its_patience_decides_nothing_however_odd(nats: float) -> None:
    assert PATIENCE < slots_to_decide(POWER, nats=nats, lone=PATIENCE) < LONE
    assert LONE < slots_to_decide(POWER, nats=nats) < 10**9


def test_a_metric_alone_needs_longer_than_two_that_agree() -> None:
    assert slots_to_decide(POWER, TENSOR) < PATIENCE < LONE < slots_to_decide(POWER)


def alone_until(second: int, patience: int, memory: int, smoothing: int = 1) -> float:
    """The strength of a metric that has been alone, and beyond doubt, for so many slots."""
    given, evidence = terms(forgetting_slots=memory), Evidence(1)
    given.smoothing[:] = smoothing
    given.patience_slots[:] = given.lone_slots[:] = patience
    odd = slot({(POWER, 0): BEYOND_DOUBT})
    for at in range(second):
        evidence.add(odd, at, given)
    return float(evidence.strength[0])


@given(st.integers(8, 60), st.integers(15, 300), st.sampled_from([1, 6]))
def test_a_metric_alone_decides_after_its_patience_and_not_never(
    patience: int, memory: int, smoothing: int
) -> None:
    # A memory that is far shorter than the patience decides by a slot in twenty before it.
    assert alone_until(patience - patience // 15, patience, memory, smoothing) < 1
    assert alone_until(patience + smoothing + 1, patience, memory, smoothing) >= 1


STEP = 7


def after_steps(steps: float, *speaking: int, step_slots: int = STEP) -> float:
    """What so many steps leave in which these metrics of the first row are odd beyond doubt."""
    given, evidence = terms(step_slots=step_slots, base_level=40.0), Evidence(1)
    odd = slot(dict.fromkeys(((one, 0) for one in speaking), BEYOND_DOUBT))
    for at in range(round(steps * STEP)):
        evidence.add(odd, at, given)
    return float(evidence.strength[0])


def test_what_a_machine_does_in_one_step_decides_nothing_and_in_three_it_does() -> None:
    assert 0.6 < after_steps(1, POWER, TENSOR) < 0.9
    assert after_steps(3, POWER, TENSOR) >= 1
    assert after_steps(1, POWER, TENSOR, step_slots=0) >= 1


def test_however_many_tell_of_its_work_one_step_decides_nothing() -> None:
    assert after_steps(1, POWER, TENSOR, SENT, RECEIVED) < 0.8


def test_however_many_agree_a_few_slots_decide_nothing() -> None:
    assert slots_to_decide(POWER, TENSOR, SENT, nats=BEYOND_DOUBT) >= terms().least_slots


def test_what_is_no_odder_than_the_allowance_adds_nothing() -> None:
    assert after(200, *range(len(METRICS)), nats=ALLOWANCE).strength[0] == 0


def test_sending_and_receiving_are_one_matter() -> None:
    one, both = (
        after(2, POWER, *what, nats=ALLOWANCE + 2).nats[0] for what in ((SENT,), (SENT, RECEIVED))
    )
    assert both == pytest.approx(one)
    assert after(2, POWER, TENSOR, SENT, nats=ALLOWANCE + 2).nats[0] > one


def test_slots_without_oddness_wear_evidence_off() -> None:
    evidence = after(4, POWER, TENSOR)
    begun = evidence.nats[0]
    for second in range(40):
        before = evidence.nats[0]
        evidence.add(slot({}), second, terms())
        assert evidence.nats[0] < before or before == 0
    assert begun > 0 == evidence.nats[0]


def test_what_was_seen_long_ago_is_forgotten() -> None:
    evidence, short = after(4, POWER, TENSOR), terms(forgetting_slots=10)
    before = evidence.nats[0]
    evidence.add(slot({(POWER, 0): 7.0}), 5, short)
    assert evidence.nats[0] < before - before / 20
    for second in range(100):
        evidence.add(slot({(POWER, 0): 7.0}), second, short)
    assert evidence.strength[0] < 1


def test_evidence_knows_since_when_it_adds_up_and_for_how_long_nobody_is_suspected() -> None:
    evidence = Evidence(1)
    for second in range(8):
        odd = {(POWER, 0): ODD, (TENSOR, 0): ODD} if second >= 3 else {}
        evidence.add(slot(odd), second, terms())
    assert evidence.since(0) == 3
    assert evidence.sinces(np.array([0])).tolist() == [3]
    assert evidence.calm_slots.tolist() == [0, 8]


def test_a_little_that_speaks_against_every_healthy_row_now_and_then_disturbs_no_calm() -> None:
    evidence = Evidence(1)
    for second in range(60):
        odd = {(POWER, 0): ODD, (TENSOR, 0): ODD} if second % 9 == 0 else {}
        evidence.add(slot(odd), second, terms())
    assert 0 < evidence.strength[0] < 1 / 3
    assert evidence.calm_slots.tolist() == [60, 60]


def test_nobody_gets_well_by_not_being_seen() -> None:
    evidence, given = after(20, POWER, TENSOR, SENT), terms(forgetting_slots=15.0)
    suspected = evidence.strength[0]
    blind = replace(slot({}), known=np.zeros((len(METRICS), 2), np.bool_))
    for second in range(60):
        evidence.add(blind, 20 + second, given)
    assert evidence.strength[0] < 1 / 3 < suspected, "it is forgotten"
    assert evidence.calm_slots.tolist() == [0, 80]


def test_what_is_over_accuses_nobody_however_much_has_added_up() -> None:
    evidence = after(60, POWER, TENSOR, SENT)
    assert evidence.decides.tolist() == [True, False]
    for second in range(8):
        evidence.add(slot({}), 60 + second, terms())
    assert evidence.strength[0] >= 1
    assert not evidence.decides.any()


def test_however_sure_it_was_who_is_no_longer_odd_is_soon_not_suspected() -> None:
    for slots in (15, 200):
        evidence = after(slots, POWER, TENSOR, SENT)
        for second in range(8):
            evidence.add(slot({}), slots + second, terms())
        assert evidence.calm_slots[0] in (1, 2)


def test_while_the_job_stands_nobody_gets_well() -> None:
    evidence = Evidence(1)
    evidence.stand()
    for second in range(5):
        evidence.add(slot({}), second, terms())
    evidence.stand()
    assert evidence.calm_slots.tolist() == [0, 0]


@given(st.lists(st.floats(0, 50), max_size=40))
def test_evidence_stays_between_nothing_and_twice_the_level(nats: list[float]) -> None:
    evidence = Evidence(1)
    for second, much in enumerate(nats):
        evidence.add(slot({(POWER, 0): much, (TENSOR, 0): much}), second, terms())
        assert 0 <= evidence.nats[0] <= 2 * evidence.level


def test_what_was_not_observed_speaks_neither_way() -> None:
    evidence = after(4, POWER, TENSOR)
    before = evidence.nats[0]
    blind = replace(slot({}), known=np.zeros((len(METRICS), 2), np.bool_))
    evidence.add(blind, 5, terms())
    assert evidence.nats[0] == pytest.approx(before)


def test_a_crowd_that_is_restless_accuses_nobody() -> None:
    crowd, alone = Evidence(1), Evidence(1)
    everybody = slot({(metric, row): ODD for metric in (POWER, TENSOR) for row in range(6)}, 6)
    one = slot({(metric, 0): ODD for metric in (POWER, TENSOR)}, 6)
    for second in range(60):
        is_restless = second > 20 and second % 3 > 0
        crowd.add(everybody if is_restless else slot({}, 6), second, terms())
        alone.add(one if is_restless else slot({}, 6), second, terms())
    assert alone.strength[0] >= 1
    assert crowd.strength.max() < 1


class Asked:
    """Every row asked in every slot, whether anything is odd of it or not: by definition."""

    def __init__(self, rows: int) -> None:
        self.scores = np.zeros(rows)
        self.mean = np.zeros((len(METRICS), rows))

    def add(self, slot: Departures, level: float, slots: int) -> None:
        given, calm = terms(), 1.5
        added = np.clip(slot.nats[0] - ALLOWANCE, 0, calm + level / given.full_slots[0])
        pair = added[[SENT, RECEIVED]]
        added[[SENT, RECEIVED]] = pair * pair.max(axis=0) / np.maximum(pair.sum(axis=0), 1e-9)
        alone = calm + level / given.full_lone_slots[0]
        added = np.minimum(added, np.maximum(3 * (added.sum(axis=0) - added), alone))
        added *= np.minimum(1, (0.6 * level + calm) / np.maximum(added.sum(axis=0), 1e-9))
        if slots > 20:
            self.mean += slot.known * (added - self.mean) / given.memory_slots
        others = self.mean.sum(axis=1, keepdims=True) - self.mean
        total = (added - 3 * slot.known * others / (added.shape[1] - 1)).sum(axis=0)
        gains = np.minimum(total - calm, level / given.full_least_slots[0])
        gains *= slot.known.any(axis=0)
        self.scores = np.clip(self.scores + gains, 0, 2 * level)


@settings(max_examples=10)
@given(st.integers(2, 6), st.floats(1, 4), st.integers(0, 10**6))
def test_rows_of_which_nothing_is_odd_need_not_be_asked(rows: int, mean: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    evidence, asked = Evidence(1), Asked(rows)
    for second in range(60):
        known = rng.random((len(METRICS), rows)) > 0.1
        nats = rng.exponential(mean, (1, len(METRICS), rows)) * known
        one = replace(seen_as(nats), known=known)
        evidence.add(one, second, terms())
        asked.add(one, evidence.level, second)
        assert evidence.nats.tolist() == pytest.approx(asked.scores.tolist(), abs=1e-5)


def arrival(newcomer_at: int) -> int:
    """In which slot the second row, odd from the beginning, has evidence against it."""
    evidence = Evidence(1)
    for second in range(40):
        rows = 2 if second >= newcomer_at else 1
        odd = {(metric, rows - 1): ODD for metric in (POWER, TENSOR)} if rows == 2 else {}
        evidence.add(slot(odd, rows), second, terms(settle_slots=3))
        if rows == 2 and evidence.nats[1] > 0:
            return second - newcomer_at
    return 10**9


def test_newcomers_settle_longer_than_those_who_began_together() -> None:
    assert arrival(newcomer_at=0) == 3
    assert arrival(newcomer_at=10) == terms().newcomer_slots


def test_what_everybody_has_behind_him_can_be_cut_short() -> None:
    evidence = after(2, POWER, TENSOR)
    evidence.restart()
    evidence.settle(2)
    odd = slot({(POWER, 0): ODD, (TENSOR, 0): ODD})
    evidence.add(odd, 6, terms(settle_slots=3))
    assert evidence.nats[0] == 0
    evidence.add(odd, 7, terms(settle_slots=3))
    assert evidence.nats[0] > 0


def test_climbs_that_come_to_nothing_raise_the_level() -> None:
    evidence = Evidence(1)
    for second in range(360):
        odd = {(POWER, 0): ODD, (TENSOR, 0): ODD} if second % 60 < 4 else {}
        evidence.add(slot(odd), second, terms(memory_slots=1e9))
    assert evidence.level > 1.5 * LEVEL
    assert evidence.level == pytest.approx(evidence.tails[0].level(LEVEL), rel=0.1)


def test_what_never_comes_back_raises_no_level_for_itself() -> None:
    assert LEVEL <= after(200, POWER, TENSOR).level <= after(1).level <= 1.01 * LEVEL


def test_evidence_that_is_explained_counts_as_no_higher_than_what_is_left_of_it() -> None:
    """Its climb teaches the level only what nothing explained."""
    explained, unexplained = after(4, POWER, TENSOR), after(4, POWER, TENSOR)
    explained.doubt([0], 0.1)
    for second in range(4, 60):
        for evidence in (explained, unexplained):
            evidence.add(slot({}), second, terms())
    assert explained.nats.max() == unexplained.nats.max() == 0
    levels = [one.tails[0].level(LEVEL) for one in (explained, unexplained)]
    assert levels[0] < levels[1] / 2


@pytest.mark.parametrize("haste", [0.5, 0.1])
def test_haste_shortens_patience_by_as_much_and_no_further_than_the_fewest_slots(
    haste: float,
) -> None:
    evidence, given, decided = Evidence(1), terms(least_slots=4), 0
    given.patience_slots[:] = given.lone_slots[:] = LONE
    odd = replace(slot({(POWER, 0): BEYOND_DOUBT}), haste=np.full((len(METRICS), 2), haste))
    while evidence.strength.max(initial=0.0) < 1:
        evidence.add(odd, decided, given)
        decided += 1
    assert decided == pytest.approx(max(4, haste * LONE + 1), abs=1)


def test_a_restart_forgets_what_has_added_up_and_a_doubt_most_of_it() -> None:
    evidence = after(2, POWER, TENSOR)
    before = evidence.nats.copy()
    evidence.doubt([0], 0.25)
    assert evidence.nats[0] == pytest.approx(before[0] / 4)
    evidence.restart()
    assert evidence.nats.tolist() == [0, 0]
    assert evidence.speakers(0).tolist() == [0] * len(METRICS)
    assert evidence.calm_slots.tolist() == [0, 0]


def test_evidence_tells_which_metrics_spoke() -> None:
    speakers = after(9, POWER, TENSOR).speakers(0)
    assert speakers[[POWER, TENSOR]].min() > 0
    assert speakers[[SENT, RECEIVED]].max() == 0
    assert after(9, POWER, TENSOR).speakers(1).max() == 0


def test_the_pace_that_has_most_evidence_decides() -> None:
    evidence = Evidence(2)
    slow = terms(least_slots=1)
    slow = replace(slow, smoothing=np.array([1.0, 6.0])[:, None, None])
    for second in range(60):
        nats = np.zeros((2, len(METRICS), 2))
        nats[1, [POWER, TENSOR], 0] = 20.0
        evidence.add(seen_as(nats), second, slow)
    assert evidence.pace_of(0) == 1
    assert evidence.strength[0] >= 1


def test_nothing_was_said_before_the_first_slot() -> None:
    evidence = Evidence(3)
    evidence.restart()
    evidence.settle(0)
    assert (evidence.rows, evidence.strength.tolist()) == ((), [])


def weighed(evidence: Evidence, told: Sequence[Departures], first: int) -> list[list[float]]:
    found = []
    for second, one in enumerate(told, start=first):
        evidence.add(one, second, terms())
        found.append(evidence.nats.tolist())
    return found


@settings(max_examples=8)
@given(st.integers(0, 30), st.integers(0, 10**6))
def test_a_copy_goes_on_exactly_as_the_original(cut: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    told = [seen_as(rng.exponential(4.0, (1, len(METRICS), 3))) for _ in range(35)]
    evidence = Evidence(1)
    weighed(evidence, told[:cut], 0)
    copy = deepcopy(evidence)
    assert weighed(copy, told[cut:], cut) == weighed(evidence, told[cut:], cut)
    assert copy.level == evidence.level


@settings(max_examples=8)
@given(st.permutations(range(5)), st.integers(0, 10**6))
def test_the_order_of_rows_makes_no_difference(order: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    straight, shuffled, rows = Evidence(1), Evidence(1), rows_of(5)
    for second in range(30):
        nats = rng.exponential(4.0, (1, len(METRICS), 5))
        straight.add(seen_as(nats), second, terms())
        moved = tuple(rows[at] for at in order) if second % 2 else rows
        shuffled.add(seen_as(nats[:, :, order] if second % 2 else nats, moved), second, terms())
    found = dict(zip(shuffled.rows, shuffled.nats, strict=True))
    assert [found[row] for row in rows] == pytest.approx(straight.nats.tolist())
