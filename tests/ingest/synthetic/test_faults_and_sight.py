"""What breaks is told beside the telemetry; what is seen is not always all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ingest.synthetic.clusters import configured, pressed
from paramedic.ingest.contract import Entity, NodeName, Table
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Observation, Weather
from paramedic.ingest.synthetic.errors import UnknownFaultError
from paramedic.ingest.synthetic.faults.labels import labels_of
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.faults.planned import PlannedFault
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice
from paramedic.ingest.synthetic.recording import stamped

pytestmark = pytest.mark.long


CONFIG = configured()
LAYOUT = Layout(CONFIG.shape, Dice(0))
PLAN = FaultPlan("tensor_loss", NodeName("node-0002"), 3, onset=10, end=20, strength=0.4)


def pressed_by(plan: FaultPlan, second: int) -> Causes:
    causes = Causes.neutral(4, 4)
    PlannedFault(plan, LAYOUT).press(causes, second)
    return causes


def seen(config: Observation, nodes: int = 4) -> ClusterConfig:
    return replace(configured(nodes), observation=config)


def table(tables: tuple[Table, ...], entity: Entity) -> Table:
    return next(one for one in tables if one.entity is entity)


@pytest.mark.parametrize(("second", "share"), [(9, 1.0), (10, 0.6), (19, 0.6), (20, 1.0)])
def test_a_fault_presses_from_its_onset_to_its_end(second: int, share: float) -> None:
    causes = pressed_by(PLAN, second)
    assert causes.tensor_share[1, 3] == pytest.approx(share)
    assert np.delete(causes.tensor_share, 7).min() == 1.0


def test_a_fault_without_a_gpu_hits_the_whole_node() -> None:
    causes = pressed_by(replace(PLAN, gpu=None), 15)
    assert (causes.tensor_share.min(axis=1) < 1.0).tolist() == [False, True, False, False]
    assert (causes.tensor_share[1] == causes.tensor_share[1, 0]).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(PLAN, kind="gremlins"), "known are"),
        (replace(PLAN, node=NodeName("node-0099")), "nodes are node-0001 to node-0004"),
        (replace(PLAN, gpu=4), "GPUs are 0 to 3"),
        (replace(PLAN, strength=0.0), "strength = 0.0"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(wrong: FaultPlan, words: str) -> None:
    with pytest.raises(UnknownFaultError, match=words):
        SyntheticCluster(replace(CONFIG, faults=(wrong,)))


def test_labels_say_what_breaks_where_and_when() -> None:
    assert labels_of((PLAN,), LAYOUT, 1_767_225_600) == {
        "schema": 1,
        "faults": [
            {"kind": "tensor_loss", "node": "node-0002", "nodes": ["node-0002"], "gpu": 3,
             "onset": "2026-01-01T00:00:10Z", "end": "2026-01-01T00:00:20Z", "strength": 0.4,
             "effects": ["tensor_loss"], "stop": None, "stopped_at": None, "halted_at": None}
        ],
    }  # fmt: skip


def test_the_telemetry_does_not_name_what_breaks() -> None:
    cluster = SyntheticCluster(replace(CONFIG, faults=(replace(PLAN, onset=2),)))
    told = "".join(repr((s.tables(), s.events)) for s in cluster.seconds(0, 6))
    assert "tensor_loss" not in told
    assert "fault" not in told


def test_a_lost_scrape_hides_a_page_and_changes_nothing_else() -> None:
    lossy = seen(Observation(glitches_per_gpu_day=0.0, lost_scrapes_per_node_day=20_000.0))
    whole = SyntheticCluster(seen(Observation.perfect()))
    hidden = 0
    for second in SyntheticCluster(lossy).seconds(0, 15):
        truth = whole.second(second.offset)
        assert np.array_equal(second.gpu["gpu_power_watts"], truth.gpu["gpu_power_watts"])
        cards = [one for one in second.tables() if one.entity is Entity.GPU]
        rows = set(cards[0].nodes) if cards else set()
        assert rows == {
            node for node, is_seen in zip(LAYOUT.nodes, second.sight.gpu_page, strict=True)
            if is_seen
        }  # fmt: skip
        hidden += 4 - len(rows)
    assert hidden > 4


def test_an_exporter_that_restarts_takes_the_gpus_away_and_not_the_host() -> None:
    restless = Observation(0.0, 0.0, 3000.0, 0.0, 0, 0.0, 0.0, 0.0)
    seconds = list(SyntheticCluster(seen(restless)).seconds(0, 40))
    away = np.array([~s.sight.gpu_page for s in seconds])
    assert 0 < away.mean() < 0.9
    assert all(s.sight.node_page.all() for s in seconds)


def test_an_impossible_reading_is_kept_as_what_was_printed_and_is_no_value() -> None:
    glitchy = seen(Observation(glitches_per_gpu_day=20_000.0, lost_scrapes_per_node_day=0.0))
    spikes = 0
    for second in SyntheticCluster(glitchy).seconds(0, 10):
        for spike in second.spikes:
            spikes += 1
            assert np.isnan(second.gpu[spike.metric][spike.node, spike.gpu])
            assert spike.printed > 1000
    assert spikes > 5


def test_a_node_with_a_wrong_clock_stamps_its_rows_wrongly() -> None:
    wrong = replace(Observation.perfect(), wrong_clock_nodes=1, wrong_clock_seconds=7.0)
    second = SyntheticCluster(seen(wrong)).second(10)
    batches = list(stamped(second))
    shifts = sorted(batch.second - second.second for batch in batches)
    assert shifts in ([-7, 0], [0, 7])
    rows = {batch.second - second.second: table(batch.tables, Entity.GPU) for batch in batches}
    assert len(set(rows[0].nodes)) == 3
    lone = rows[next(shift for shift in shifts if shift)]
    assert len(set(lone.nodes)) == 1
    assert lone.indices == (0, 1, 2, 3)


def test_samples_arrive_after_their_second_and_a_few_much_later() -> None:
    late = replace(Observation.perfect(), arrival_seconds=0.2, late_ratio=0.1)
    cluster = SyntheticCluster(seen(late, nodes=16))
    delays = np.concatenate([cluster.arrival_seconds(s) for s in cluster.seconds(0, 20)])
    assert delays.min() > 0.0
    assert 0.04 < (delays > 1.0).mean() < 0.2
    assert np.median(delays) == pytest.approx(0.2, abs=0.05)


def test_what_healthy_clusters_live_through_is_seen_in_a_stormy_one() -> None:
    weather = Weather(cron_every_seconds=20, cron_seconds=5, host_busy_per_node_day=4000.0)
    calm = SyntheticCluster(CONFIG)
    stormy = SyntheticCluster(replace(CONFIG, weather=weather))
    cpu = [
        np.array([s.node["cpu_utilization_ratio"] for s in cluster.seconds(0, 40)])
        for cluster in (calm, stormy)
    ]
    assert np.abs(cpu[1] - cpu[0]).max() > 0.06
    assert (cpu[1] - cpu[0]).min() > -0.1


def test_a_card_that_is_gone_has_no_row() -> None:
    def take(causes: Causes) -> None:
        causes.is_present[2, 1] = False

    rows = table(pressed(take, CONFIG, first=0).second(3).tables(), Entity.GPU)
    assert rows.indices is not None
    there = list(zip(rows.nodes, rows.indices, strict=True))
    assert ("node-0003", 1) not in there
    assert len(there) == 15


def test_an_unreachable_node_has_no_rows_at_all() -> None:
    def hide(causes: Causes) -> None:
        causes.is_seen[0] = False

    for one in pressed(hide, CONFIG, first=0).second(8).tables():
        assert "node-0001" not in one.nodes
