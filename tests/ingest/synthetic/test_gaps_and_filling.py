"""Arrays of episodes: filled second by second, and then without the share that is missing."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.synthetic.clusters import configured
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.episodes.filling import KINDS, Filling, Kind
from paramedic.ingest.synthetic.episodes.gaps import with_gaps, with_wrong_clocks
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.ingest.synthetic.reading import Second

NODES, CARDS, METRICS, SECONDS = 3, 2, 10, 82
"""The last hole of four seconds does not fit whole."""
SEEDS = st.integers(0, 10**6)


def window(entity: Entity = Entity.GPU) -> Window:
    a_node = 1 if entity is Entity.NODE else CARDS
    rows = tuple(EntityKey(entity, NodeName(f"node-{node:04d}"), at)
                 for node in range(NODES) for at in range(a_node))  # fmt: skip
    shape = (len(rows), METRICS, SECONDS)
    values = np.arange(len(rows) * METRICS * SECONDS, dtype=np.float32).reshape(shape)
    names = tuple(f"metric_{at}" for at in range(METRICS))
    config = configured(NODES, CARDS)
    return Window(config.job, 0, entity, 0, rows, names, values, np.ones(shape, bool))


def plan(seed: int, missing: float) -> EpisodePlan:
    cluster = replace(configured(NODES, CARDS), seed=seed)
    return EpisodePlan("one", Split.TRAIN, cluster, 0, SECONDS, missing)


def gapped(seed: int, missing: float) -> dict[Entity, Window]:
    windows = {one: window(one) for one in (Entity.NODE, Entity.GPU)}
    return dict(with_gaps(plan(seed, missing), windows))


def loses_metrics(seed: int) -> bool:
    return len(gapped(seed, 0.3)[Entity.GPU].metrics) < METRICS


@cache
def seconds() -> tuple[Second, ...]:
    return tuple(SyntheticCluster(configured(2, 2)).seconds(0, 5))


def test_nothing_is_left_out_where_nothing_is_missing() -> None:
    whole = {Entity.GPU: window()}
    assert with_gaps(plan(1, 0.0), whole) is whole


@settings(max_examples=12)
@given(seed=SEEDS, missing=st.floats(0.05, 0.95))
def test_what_is_kept_is_as_it_was_and_what_is_lost_is_nothing(seed: int, missing: float) -> None:
    for entity, one in gapped(seed, missing).items():
        before = window(entity)
        kept = [before.metrics.index(metric) for metric in one.metrics]
        assert kept == sorted(set(kept))
        assert np.array_equal(one.values[one.observed], before.values[:, kept][one.observed])
        assert np.isnan(one.values[~one.observed]).all()
        assert one.rows == before.rows


@settings(max_examples=8)
@given(seed=SEEDS.filter(loses_metrics), missing=st.floats(0.05, 0.99))
def test_metrics_that_are_missing_are_missing_everywhere_and_one_is_always_kept(
    seed: int, missing: float
) -> None:
    for one in gapped(seed, missing).values():
        assert len(one.metrics) == max(1, round(METRICS * (1.0 - missing)))
        assert one.observed.all()


@settings(max_examples=8)
@given(seed=SEEDS.filter(lambda seed: not loses_metrics(seed)))
def test_samples_are_missing_by_node_and_for_four_seconds_at_least(seed: int) -> None:
    for one in gapped(seed, 0.3).values():
        by_node = one.observed.reshape(NODES, -1, SECONDS)
        assert (by_node == by_node[:, :1]).all()
        blocks = by_node[:, 0, : SECONDS // 4 * 4].reshape(NODES, -1, 4)
        assert (blocks == blocks[..., :1]).all()
        assert 0.05 < 1.0 - one.observed.mean() < 0.6


def test_both_ways_of_missing_are_drawn_and_the_seed_decides() -> None:
    ways = [loses_metrics(seed) for seed in range(40)]
    assert 8 < sum(ways) < 32
    assert ways == [loses_metrics(seed) for seed in range(40)]


@settings(max_examples=15)
@given(offset=st.floats(-9.4, 9.4), node=st.integers(0, NODES - 1))
def test_a_wrong_clock_shifts_one_node_by_whole_seconds(offset: float, node: int) -> None:
    offsets = np.zeros(NODES)
    offsets[node] = offset
    moved, before = window(), window().values
    with_wrong_clocks({Entity.GPU: moved}, offsets)
    rows = slice(node * CARDS, (node + 1) * CARDS)
    by = int(np.floor(offset + 0.5))
    here, there = slice(max(0, by), SECONDS + min(0, by)), slice(max(0, -by), SECONDS - max(0, by))
    assert np.array_equal(moved.values[rows, :, here], before[rows, :, there])
    assert (~moved.observed).sum() == abs(by) * CARDS * METRICS
    assert np.array_equal(moved.observed, ~np.isnan(moved.values))
    others = np.delete(np.arange(NODES * CARDS), rows)
    assert np.array_equal(moved.values[others], before[others])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.entity))
@pytest.mark.parametrize("number", [1, 63, 64, 65, 130])
def test_every_second_lands_in_its_own_column_whatever_the_number(kind: Kind, number: int) -> None:
    filling = Filling(kind, seconds()[0], number)
    for at in range(number):
        filling.take(seconds()[at % 5])
    values = filling.finish()
    assert values.shape[2] == number
    for at in {0, number // 2, number - 1}:
        columns = kind.columns(seconds()[at % 5])
        for place, metric in enumerate(filling.metrics):
            wanted = columns[metric].ravel() if metric in columns else np.nan
            assert values[:, place, at] == pytest.approx(wanted, rel=1e-6, nan_ok=True)


def test_rows_that_are_not_seen_are_nothing_in_that_second_only() -> None:
    second = seconds()[4]
    gone = second.is_present.copy()
    gone[1, 0] = False
    filling = Filling(KINDS[1], second, 3)
    for one in (second, replace(second, is_present=gone), second):
        filling.take(one)
    values = filling.finish()
    assert np.isnan(values[2, :, 1]).all()
    assert np.isfinite(values[[0, 1, 3]]).all()
    assert np.isfinite(values[2][:, [0, 2]]).all()
