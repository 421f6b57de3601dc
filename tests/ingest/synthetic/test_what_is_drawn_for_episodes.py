"""Faults and jobs as they are drawn: within their ranges, and labelled as what they are."""

from __future__ import annotations

from datetime import datetime
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.configuration import ClusterConfig, Shape
from paramedic.ingest.synthetic.episodes.breakage import (
    TEST_ONLY,
    draw_fault,
    draw_faults,
    draw_switch_fault,
)
from paramedic.ingest.synthetic.episodes.jobs import Job, draw_job, seed_of
from paramedic.ingest.synthetic.episodes.plan import Split, label_of
from paramedic.ingest.synthetic.faults import labels
from paramedic.ingest.synthetic.faults.catalogue import FAULTS
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Loudness
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice

NODE = NodeName("node-0002")
SMALL = Shape(4, 2, nodes_per_switch=4)
SPLITS = st.sampled_from(Split)
SEEDS = st.integers(0, 10**6)


@cache
def drawn(kind: str, number: int = 60) -> tuple[FaultPlan, ...]:
    rng = np.random.default_rng(7)
    return tuple(draw_fault(kind, NODE, 2, 400, rng) for _ in range(number))


def by_loudness(loudness: Loudness) -> list[FaultPlan]:
    return [one for kind in FAULTS for one in drawn(kind) if one.loudness is loudness]


def job(split: Split, seed: int, least: int = 4) -> Job:
    return draw_job(split, seed, np.random.default_rng(seed), least)


def test_every_loud_fault_is_stronger_than_every_quiet_and_those_than_the_hidden() -> None:
    loud, quiet, hidden = (
        [one.strength for one in by_loudness(loudness)]
        for loudness in (Loudness.LOUD, Loudness.QUIET, Loudness.HIDDEN)
    )
    assert 1.0 >= max(loud) > min(loud) > max(quiet)
    assert min(quiet) > max(hidden) > min(hidden) > 0.0


@pytest.mark.parametrize("loudness", Loudness)
def test_a_symptom_is_about_as_strong_as_its_fault(loudness: Loudness) -> None:
    for one in by_loudness(loudness):
        for symptom in one.symptoms:
            assert 0.8 * one.strength <= symptom.strength <= min(1.0, 1.25 * one.strength)


def test_a_hidden_fault_shows_nothing_that_nearly_names_it_and_some_loud_ones_do() -> None:
    def flags(loudness: Loudness) -> int:
        return sum(symptom.effect in FAULTS[one.kind].flags
                   for one in by_loudness(loudness) for symptom in one.symptoms)  # fmt: skip

    assert flags(Loudness.HIDDEN) == 0 < flags(Loudness.LOUD)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_drawn_at_a_card_or_a_node_as_its_kind_may_be(kind: str) -> None:
    ratio = FAULTS[kind].whole_node_ratio
    cards = [one.gpu for one in drawn(kind)]
    assert set(cards) <= {None, 0, 1}
    assert cards.count(None) / len(cards) == pytest.approx(ratio, abs=0.25)
    assert (None in cards) == (ratio > 0.0)
    assert ({0, 1} <= set(cards)) == (ratio < 1.0)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_ends_by_a_stop_or_after_minutes_or_not_at_all(kind: str) -> None:
    stops = [one.stop for one in drawn(kind)]
    assert (None in stops) == (FAULTS[kind].stop_ratio < 1.0)
    for one in drawn(kind):
        if one.stop is not None:
            assert one.end == one.stop.restarts_at
            assert one.intermittence is None
            assert 400 <= one.stop.at <= 400 + 300
        else:
            assert one.end is None or 400 + 150 <= one.end < 400 + 420


def test_what_comes_and_goes_is_away_for_a_fifth_of_the_time_at_least() -> None:
    pauses = [one.intermittence for kind in FAULTS for one in drawn(kind) if one.intermittence]
    assert len(pauses) > 20
    assert all(12 <= one.period_seconds < 70 and 0.35 <= one.on_ratio <= 0.8 for one in pauses)
    ramps = {one.ramp_seconds for kind in FAULTS for one in drawn(kind)}
    assert min(ramps) == 0
    assert 60 < max(ramps) < 120


@settings(max_examples=25)
@given(split=SPLITS, seed=SEEDS, number=st.integers(1, 4))
def test_faults_are_drawn_at_different_nodes_and_within_their_span(
    split: Split, seed: int, number: int
) -> None:
    faults = draw_faults(split, SMALL, number, (300, 320), np.random.default_rng(seed))
    assert len({one.node for one in faults}) == number
    for one in faults:
        assert 300 <= one.onset < 320 + (45 if number > 1 else 0)
        assert number == 1 or (one.stop, one.end) == (None, None)
        assert split is Split.TEST or one.kind not in TEST_ONLY
        assert FAULTS[one.kind].share > 0.0
        assert not FAULTS[one.kind].is_group


def test_the_kinds_held_out_are_drawn_for_the_test_split_and_no_other() -> None:
    rng = np.random.default_rng(2)
    kinds = {
        split: {draw_faults(split, SMALL, 1, (0, 9), rng)[0].kind for _ in range(300)}
        for split in Split
    }
    assert set(TEST_ONLY) <= kinds[Split.TEST]
    assert kinds[Split.TRAIN] == kinds[Split.VALIDATION] == kinds[Split.TEST] - set(TEST_ONLY)


@given(seed=SEEDS)
def test_a_switch_s_fault_is_at_a_switch_with_three_nodes_at_least(seed: int) -> None:
    shape = Shape(10, 1, nodes_per_switch=4)
    (fault,) = draw_switch_fault(shape, (50, 60), np.random.default_rng(seed))
    config = ClusterConfig(shape=shape, faults=(fault,))
    label = label_of(fault, config, Layout(shape, Dice(0)))
    assert label.is_group
    assert label.nodes in (
        ("node-0001", "node-0002", "node-0003", "node-0004"),
        ("node-0005", "node-0006", "node-0007", "node-0008"),
    )


@pytest.mark.parametrize("kind", FAULTS)
def test_a_label_names_what_was_drawn_and_tells_unix_seconds(kind: str) -> None:
    config, layout = ClusterConfig(shape=SMALL, first_second=10**9), Layout(SMALL, Dice(0))
    for one in drawn(kind):
        label = label_of(one, config, layout)
        assert (label.kind, label.gpu, label.loudness) == (kind, one.gpu, one.loudness)
        assert label.effects == tuple(symptom.effect for symptom in one.symptoms)
        assert label.nodes == (layout.nodes if FAULTS[kind].is_group else (NODE,))
        assert label.onset == 10**9 + 400
        assert label.end == (None if one.end is None else 10**9 + one.end)
        stops = None if one.stop is None else (10**9 + one.stop.at, 10**9 + one.stop.aborts_at)
        assert (stops or (None, None)) == (label.stopped_at, label.halted_at)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_label_file_says_the_same_as_an_episode_s_label(kind: str) -> None:
    config, layout = ClusterConfig(shape=SMALL), Layout(SMALL, Dice(0))
    for one in drawn(kind)[:20]:
        told = labels.label_of(one, layout, config.first_second)
        label = label_of(one, config, layout)
        pairs = (("onset", label.onset), ("end", label.end), ("stopped_at", label.stopped_at),
                 ("halted_at", label.halted_at))  # fmt: skip
        for name, second in pairs:
            moment = told[name]
            there = moment and datetime.fromisoformat(str(moment)).timestamp()
            assert there == second
        assert told["nodes"] == [*label.nodes]
        assert told["effects"] == [*label.effects]
        assert (told["stop"] is None) == (one.stop is None)


@settings(max_examples=40)
@given(split=SPLITS, seed=SEEDS, least=st.sampled_from([4, 12]))
def test_a_job_has_a_size_of_its_split_and_no_more_ranks_than_memory_allows(
    split: Split, seed: int, least: int
) -> None:
    one = job(split, seed, least)
    shape = one.config.shape
    usual = {4, 8, 12, 16, 24, 32, 48, 64}
    assert shape.nodes in usual | ({6, 20, 40, 96, 128, 256} if split is Split.TEST else set())
    assert shape.nodes >= least
    assert shape.nodes * shape.gpus <= 1024
    assert shape.data * shape.stages * shape.tensor == shape.nodes * shape.gpus
    assert one.warm_seconds >= one.config.work.starting_seconds
    assert 0.3 <= one.config.work.compute_seconds <= 17.0 / 1.2
    assert one.config.faults == ()


def test_sizes_held_out_are_drawn_now_and_then_and_for_the_test_split_only() -> None:
    held_out = {6, 20, 40, 96, 128, 256}
    sizes = {split: [job(split, seed).config.shape.nodes for seed in range(150)] for split in Split}
    share = sum(size in held_out for size in sizes[Split.TEST]) / 150
    assert share == pytest.approx(0.15, abs=0.09)
    assert not held_out & {*sizes[Split.TRAIN], *sizes[Split.VALIDATION]}


@given(split=SPLITS, seed=SEEDS)
def test_a_seed_tells_its_split_and_fits_the_dice(split: Split, seed: int) -> None:
    made = seed_of(split, np.random.default_rng(seed))
    assert list(Split)[made % 3] is split
    Dice(made)


def test_a_wrong_clock_is_off_by_seconds_and_comes_with_few_jobs() -> None:
    seen = [job(Split.TRAIN, seed).config.observation for seed in range(150)]
    wrong = [one for one in seen if one.wrong_clock_nodes]
    assert 0.02 < len(wrong) / len(seen) < 0.25
    assert all(2.0 <= one.wrong_clock_seconds <= 6.0 for one in wrong)
    assert all(one.wrong_clock_seconds == 0.0 for one in seen if not one.wrong_clock_nodes)
