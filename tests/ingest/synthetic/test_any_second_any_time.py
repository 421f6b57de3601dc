"""The same seed gives the same second, whatever was asked before and however often."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.synthetic.clusters import QUICK
from paramedic.ingest.contract import Event, Table
from paramedic.ingest.synthetic.cluster import SyntheticCluster, _Snapshots
from paramedic.ingest.synthetic.configuration import ClusterConfig, Observation, Shape, Weather
from paramedic.ingest.synthetic.errors import ClusterSettingError
from paramedic.ingest.synthetic.occasions import Occasions
from paramedic.ingest.synthetic.randomness import Dice, Stream
from paramedic.ingest.synthetic.world import World

STORMY = ClusterConfig(
    seed=11,
    shape=Shape(nodes=2, gpus=2, pipeline_stages=1),
    work=QUICK,
    weather=Weather(host_busy_per_node_day=2000.0, congestion_per_day=4000.0,
                    data_stalls_per_node_day=4000.0),
    observation=Observation(glitches_per_gpu_day=4000.0, lost_scrapes_per_node_day=8000.0),
)  # fmt: skip
SECONDS = 20


@cache
def in_order() -> list[tuple[tuple[Table, ...], tuple[Event, ...]]]:
    return [told(second) for second in SyntheticCluster(STORMY).seconds(0, SECONDS)]


def told(second: object) -> tuple[tuple[Table, ...], tuple[Event, ...]]:
    """As text, since NaN is not equal to itself."""
    return repr(second.tables()), repr(second.events)  # type: ignore[attr-defined, return-value]


@settings(max_examples=5)
@given(asked=st.lists(st.integers(0, SECONDS - 1), min_size=1, max_size=3))
def test_a_second_is_the_same_whatever_was_asked_before(asked: list[int]) -> None:
    cluster = SyntheticCluster(STORMY)
    for offset in asked:
        assert told(cluster.second(offset)) == in_order()[offset]


def test_another_seed_is_another_cluster() -> None:
    other = SyntheticCluster(replace(STORMY, seed=12))
    assert told(other.second(5)) != in_order()[5]


def test_there_is_no_second_before_the_first() -> None:
    with pytest.raises(ClusterSettingError, match="begins with second 0"):
        SyntheticCluster(STORMY).second(-1)


def test_snapshots_stay_few_and_reach_every_second() -> None:
    beginning = World(STORMY).begin()
    snapshots = _Snapshots(beginning)
    for offset in range(20_000):
        snapshots.keep(replace(beginning, offset=offset))
    for asked in (0, 1, 63, 64, 10_000, 19_999):
        assert 0 <= asked - snapshots.before(asked).offset <= 512
    assert len(snapshots._states) <= 64


@given(seed=st.integers(0, 2**64 - 1), moment=st.integers(0, 10**9))
def test_numbers_belong_to_their_stream_and_moment(seed: int, moment: int) -> None:
    dice = Dice(seed)
    drawn = dice.at(Stream.HOST, moment).random()
    assert dice.at(Stream.HOST, moment).random() == drawn
    assert dice.at(Stream.HOST, moment + 1).random() != drawn
    assert dice.at(Stream.STEP, moment).random() != drawn


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ClusterSettingError, match="seed"):
        Dice(seed)


@given(second=st.integers(0, 2000))
def test_an_occasion_goes_on_from_its_start_to_its_end(second: int) -> None:
    everything = Occasions(Dice(3), Stream.CONGESTION, 5, 400.0, (1, 300))
    for one in everything.going_on(second):
        assert one.start <= second < one.end
        assert 1 <= one.end - one.start <= 300
        assert one in everything.going_on(one.start)
        assert one in everything.going_on(one.end - 1)
        assert one not in everything.going_on(one.end)
        assert 0 <= one.place < 5


def test_occasions_come_as_often_as_they_should() -> None:
    everything = Occasions(Dice(4), Stream.CONGESTION, 10, 86.4, (1, 1))
    happened = sum(len(everything.going_on(second)) for second in range(20_000))
    assert happened == pytest.approx(20_000 * 10 / 1000, rel=0.3)


def test_nothing_happens_where_nothing_is_to_happen() -> None:
    never = Occasions(Dice(4), Stream.CONGESTION, 10, 0.0, (1, 1))
    assert [never.going_on(second) for second in range(50)] == [[]] * 50
