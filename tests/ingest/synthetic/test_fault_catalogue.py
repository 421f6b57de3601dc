"""The catalogue of faults: each effect presses on causes, at its place, while it is time."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.synthetic.clusters import configured
from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.errors import UnknownFaultError
from paramedic.ingest.synthetic.faults.catalogue import FAULTS
from paramedic.ingest.synthetic.faults.instance import completed, draw_stop, draw_symptoms
from paramedic.ingest.synthetic.faults.labels import label_of
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Intermittence, Loudness, Symptom
from paramedic.ingest.synthetic.faults.planned import PlannedFault
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice

LAYOUT = Layout(configured(nodes=6).shape, Dice(0))
NODE = NodeName("node-0003")
EFFECTS = [
    (kind, effect) for kind, row in FAULTS.items() for effect in (*row.effects, *row.flags)
]  # fmt: skip
PLAN = FaultPlan("straggler", NODE, 1, onset=100, symptoms=(Symptom("slower_work", 1.0),))


def pressed(plan: FaultPlan, second: int) -> Causes:
    causes = Causes.neutral(6, 4)
    PlannedFault(plan, LAYOUT).press(causes, second)
    return causes


def changed(causes: Causes) -> dict[str, set[int]]:
    """Which causes are not neutral, and at which nodes."""
    neutral, found = Causes.neutral(6, 4), {}
    for one in fields(causes):
        now, usual = getattr(causes, one.name), getattr(neutral, one.name)
        if now is not None and not np.array_equal(now, usual):
            found[one.name] = {int(at[0]) for at in np.argwhere(now != usual)}
    return found


def slowness(plan: FaultPlan, second: int) -> float:
    return float(pressed(plan, second).work_slowdown[2, 1])


@pytest.mark.parametrize(("kind", "effect"), EFFECTS)
def test_an_effect_changes_causes_at_its_place_only(kind: str, effect: str) -> None:
    plan = FaultPlan(kind, NODE, 1, onset=5, symptoms=(Symptom(effect, 0.6),))
    found = changed(pressed(plan, 5))
    assert found
    assert all(nodes == ({2, 3} if FAULTS[kind].is_group else {2}) for nodes in found.values())


@pytest.mark.parametrize(("kind", "effect"), EFFECTS)
def test_nothing_happens_before_the_onset(kind: str, effect: str) -> None:
    plan = FaultPlan(kind, NODE, onset=5, symptoms=(Symptom(effect, 1.0),))
    assert changed(pressed(plan, 4)) == {}


def test_a_card_s_fault_spares_the_other_cards_of_the_node() -> None:
    slow = pressed(PLAN, 100).work_slowdown
    assert (slow[2] > 1.0).tolist() == [False, True, False, False]
    assert (pressed(replace(PLAN, gpu=None), 100).work_slowdown[2] > 1.0).all()


def test_a_ramp_reaches_full_strength_evenly() -> None:
    slow = [slowness(replace(PLAN, ramp_seconds=10), second) for second in range(99, 115)]
    assert slow[0] == 1.0
    assert all(before < after for before, after in pairwise(slow[:11]))
    assert slow[10:] == [slowness(PLAN, 100)] * 6


def test_an_intermittent_fault_comes_and_goes() -> None:
    pauses = replace(PLAN, intermittence=Intermittence(10, 0.4))
    is_on = [slowness(pauses, second) > 1.0 for second in range(100, 120)]
    assert is_on == ([True] * 4 + [False] * 6) * 2


def test_the_mix_is_the_paper_s() -> None:
    shares = {name: kind.share for name, kind in FAULTS.items()}
    assert sum(shares.values()) == pytest.approx(1.0, abs=0.002)
    assert shares["ecc_error"] == 0.389
    assert shares["aoc_error"] < shares["nvlink_error"] < shares["nic_dropout"]


@pytest.mark.parametrize("kind", FAULTS)
def test_instances_of_a_kind_differ_in_what_they_show(kind: str) -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_symptoms(FAULTS[kind], 0.7, Loudness.LOUD, rng) for _ in range(60)]
    shown = {frozenset(one.effect for one in symptoms) for symptoms in drawn}
    assert len(shown) > (3 if len(FAULTS[kind].effects) > 1 else 0)
    assert all(0.0 < one.strength <= 1.0 for symptoms in drawn for one in symptoms)
    assert frozenset() not in shown


@pytest.mark.parametrize("kind", ["cuda_execution_error", "machine_unreachable", "host_contention"])
def test_what_any_program_does_to_a_host_is_no_fault_alone(kind: str) -> None:
    rng = np.random.default_rng(3)
    drawn = [draw_symptoms(FAULTS[kind], 0.7, Loudness.HIDDEN, rng) for _ in range(200)]
    alone = {one.effect for some in drawn if len(some) == 1 for one in some}
    together = {one.effect for some in drawn for one in some}
    assert alone
    assert not alone & {"restless_kernel", "foreign_writing"}
    assert together & {"restless_kernel", "foreign_writing"}


def test_what_nearly_names_a_fault_is_shown_by_some_and_never_by_a_hidden_one() -> None:
    rng, kind = np.random.default_rng(1), FAULTS["gpu_card_drop"]

    def flagged(loudness: Loudness) -> float:
        drawn = [draw_symptoms(kind, 0.5, loudness, rng) for _ in range(300)]
        return sum(any(one.effect in kind.flags for one in some) for some in drawn) / 300

    assert 0.15 < flagged(Loudness.LOUD) < 0.45
    assert flagged(Loudness.HIDDEN) == 0.0


@given(seed=st.integers(0, 10**6), onset=st.integers(0, 1000))
def test_a_fatal_end_comes_after_the_onset_and_in_order(seed: int, onset: int) -> None:
    stop = draw_stop(FAULTS["gpu_card_drop"], onset, onset + 100, np.random.default_rng(seed))
    assert stop is not None
    assert onset <= stop.at <= onset + 100
    assert stop.at < stop.aborts_at <= stop.at + 600
    assert stop.restarts_at is None or stop.aborts_at < stop.restarts_at
    assert stop.exit_code != 0


def test_a_plan_without_symptoms_is_completed_in_one_way() -> None:
    bare = FaultPlan("nvlink_error", NODE, 2, onset=50)
    assert completed(bare) == completed(bare)
    assert completed(bare).symptoms
    assert completed(completed(bare)) == completed(bare)
    others = {completed(replace(bare, onset=at)).symptoms for at in range(20)}
    assert len(others) > 3


def test_an_effect_of_another_kind_is_refused() -> None:
    wrong = replace(PLAN, symptoms=(Symptom("narrow_nic", 0.5),))
    with pytest.raises(UnknownFaultError, match="'narrow_nic': known are launch_gaps"):
        completed(wrong)


def test_a_switch_s_fault_names_everybody_behind_it() -> None:
    plan = FaultPlan("network_group", NODE, onset=5, symptoms=(Symptom("lost_segments", 0.5),))
    assert label_of(plan, LAYOUT, 0)["nodes"] == ["node-0003", "node-0004"]
