"""Signatures from windows alone."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from paramedic.diagnosis.family.measuring import Stretch, measured
from paramedic.diagnosis.family.signature import Extent, Signature
from paramedic.ingest.contract import (
    Entity,
    EntityKey,
    Event,
    EventKind,
    JobName,
    NodeName,
    Window,
)

NODES = tuple(NodeName(f"n{at}") for at in range(6))
SECONDS, ONSET = 160, 100
CARDS = ("gpu_power_watts", "gpu_ecc_correctable_total", "gpu_xid")
SLOTS = slice(ONSET, None)
Windows = dict[Entity, Window]


def window(entity: Entity, metrics: tuple[str, ...], level: float, rows_a_node: int = 1) -> Window:
    rows = [
        EntityKey(entity, node, None if entity is Entity.NODE else at)
        for node in NODES
        for at in range(rows_a_node)
    ]
    values = np.random.default_rng(3).normal(level, 1.0, (len(rows), len(metrics), SECONDS))
    observed = np.ones(values.shape, bool)
    return Window(JobName("j"), 0, entity, 0, tuple(rows), metrics, values, observed)


def job() -> Windows:
    cards = window(Entity.GPU, CARDS, 400.0, rows_a_node=4)
    cards.values[:, 1:] = 0.0
    ranks = window(Entity.RANK, ("step", "compute_seconds"), 10.0, rows_a_node=4)
    ranks.values[:, 0] = np.arange(SECONDS)
    return {
        Entity.GPU: cards,
        Entity.NODE: window(Entity.NODE, ("cpu_utilization_ratio",), 50.0),
        Entity.RANK: ranks,
    }


def of_second_node(windows: Windows, *events: Event, after: int = 40) -> Signature:
    return measured(windows, events, NODES[1], Stretch(ONSET, ONSET + after))


def hide(one: Window, rows: slice, slots: slice = SLOTS) -> None:
    one.values[rows, :, slots] = np.nan
    one.observed[rows, :, slots] = False


def test_a_healthy_machine_departs_in_nothing() -> None:
    found = of_second_node(job())
    assert found.extent is Extent.HOST
    assert max(abs(one.deviation) for one in found.departures.values()) < 5.0
    signs = (found.rows_missing, found.cards_missing, found.has_stopped, found.has_exited)
    assert not any(signs)


def test_one_card_departs_from_its_peers_and_its_past() -> None:
    windows = job()
    windows[Entity.GPU].values[6, 0, SLOTS] -= 100.0
    found = of_second_node(windows)
    assert found.extent is Extent.ONE_GPU
    assert found.departures["gpu_power_watts"].deviation < -20.0
    assert -0.3 < found.departures["gpu_power_watts"].relative < -0.2


def test_a_steady_difference_is_no_departure() -> None:
    windows = job()
    windows[Entity.GPU].values[6, 0] -= 100.0
    assert of_second_node(windows).extent is Extent.HOST


def test_all_cards_of_a_node_are_several() -> None:
    windows = job()
    windows[Entity.GPU].values[4:8, 0, SLOTS] -= 100.0
    assert of_second_node(windows).extent is Extent.SEVERAL_GPUS


def test_what_befalls_everybody_is_nobodys_departure() -> None:
    windows = job()
    windows[Entity.GPU].values[:, 0, SLOTS] -= 100.0
    assert abs(of_second_node(windows).departures["gpu_power_watts"].deviation) < 5.0


def test_a_counter_has_grown_across_a_restart_too() -> None:
    windows = job()
    total = windows[Entity.GPU].values[5, 1]
    total[ONSET:] = 2.0
    total[ONSET + 20 :] = 1.0
    total[ONSET + 30 :] = 3.0
    found = of_second_node(windows)
    assert found.grown == {"gpu_ecc_correctable_total"}
    assert found.extent is Extent.ONE_GPU


def test_codes_come_from_metrics_and_events_and_old_ones_are_not_told_again() -> None:
    windows = job()
    windows[Entity.GPU].values[4, 2, ONSET + 3 :] = 63.0
    windows[Entity.GPU].values[5, 2] = 31.0
    event = Event(
        datetime.fromtimestamp(ONSET + 5, UTC), EventKind.XID, JobName("j"), NODES[1],
        details={"xid": 94},
    )  # fmt: skip
    late = Event(
        datetime.fromtimestamp(ONSET + 50, UTC), EventKind.XID, JobName("j"), NODES[1],
        details={"xid": 79},
    )  # fmt: skip
    assert of_second_node(windows, event, late).xids == {63, 94}


def test_a_code_is_new_for_the_card_that_shows_it_newly() -> None:
    windows = job()
    windows[Entity.GPU].values[4, 2] = 48.0
    assert of_second_node(windows).xids == frozenset()
    windows[Entity.GPU].values[5, 2, ONSET + 3 :] = 48.0
    assert of_second_node(windows).xids == {48}


def test_of_a_code_that_stands_as_long_as_anything_is_held_nobody_knows_the_age() -> None:
    windows, long_ago = job(), Stretch(-300, SECONDS - 1)
    windows[Entity.GPU].values[4, 2] = 48.0
    windows[Entity.GPU].values[5, 2, ONSET:] = 63.0
    assert measured(windows, (), NODES[1], long_ago).xids == {63}


def test_an_exit_is_the_nodes_own() -> None:
    when = datetime.fromtimestamp(ONSET + 5, UTC)
    mine, others = (
        Event(when, EventKind.PROCESS_EXIT, JobName("j"), NODES[at], details={"exit_code": 1})
        for at in (1, 2)
    )
    assert of_second_node(job(), mine).has_exited
    assert not of_second_node(job(), others).has_exited


def test_a_card_that_is_gone_is_missing_while_its_node_is_heard() -> None:
    windows = job()
    hide(windows[Entity.GPU], slice(6, 7))
    found = of_second_node(windows)
    assert found.cards_missing
    assert not found.rows_missing


def test_a_node_that_is_gone_has_lost_no_card() -> None:
    windows = job()
    hide(windows[Entity.GPU], slice(4, 8))
    hide(windows[Entity.NODE], slice(1, 2))
    found = of_second_node(windows)
    assert found.rows_missing
    assert not found.cards_missing


def test_a_hole_just_before_the_evidence_is_of_the_same_trouble() -> None:
    windows = job()
    for kind, rows in ((Entity.GPU, slice(4, 8)), (Entity.NODE, slice(1, 2))):
        hide(windows[kind], rows, slice(ONSET - 5, ONSET))
    assert of_second_node(windows, after=8).rows_missing
    assert not of_second_node(windows).rows_missing, "that was long ago"


def test_a_card_that_answers_now_and_then_is_unsteady() -> None:
    windows = job()
    for second in range(ONSET + 10, ONSET + 40, 10):
        hide(windows[Entity.GPU], slice(6, 7), slice(second, second + 4))
    found = of_second_node(windows)
    assert found.cards_unsteady
    assert not found.cards_missing
    assert not of_second_node(job()).cards_unsteady


def test_a_page_that_fails_alone_is_no_silence_of_the_node() -> None:
    windows = job()
    hide(windows[Entity.NODE], slice(1, 2))
    assert not of_second_node(windows).rows_missing


def test_the_only_card_of_a_node_is_missing_while_its_host_is_heard() -> None:
    windows = job()
    windows[Entity.GPU] = window(Entity.GPU, CARDS, 400.0)
    hide(windows[Entity.GPU], slice(1, 2))
    assert of_second_node(windows).cards_missing


def test_a_job_without_steps_has_stopped() -> None:
    windows = job()
    windows[Entity.RANK].values[:, 0, SLOTS] = float(ONSET)
    assert of_second_node(windows).has_stopped
    windows[Entity.RANK].values[:1, 0, ONSET + 30 :] = np.arange(30.0)
    assert not of_second_node(windows).has_stopped, "one has begun anew, and makes steps"


def test_the_accused_card_is_looked_at_and_not_a_louder_one() -> None:
    windows = job()
    windows[Entity.GPU].values[4, 0, SLOTS] -= 100.0
    windows[Entity.GPU].values[5, 0, SLOTS] += 30.0
    stretch = Stretch(ONSET, ONSET + 40)
    found = measured(windows, (), NODES[1], stretch, gpu=1)
    assert found.departures["gpu_power_watts"].deviation > 5.0
    gone = measured(windows, (), NODES[1], stretch, gpu=7)
    assert gone.departures["gpu_power_watts"].deviation < -20.0


def test_a_glimpse_of_a_node_that_goes_is_no_departure() -> None:
    windows = job()
    windows[Entity.GPU].values[4:8, 0, SLOTS] -= 100.0
    hide(windows[Entity.GPU], slice(4, 8), slice(ONSET + 5, None))
    found = of_second_node(windows)
    assert math.isnan(found.departures["gpu_power_watts"].deviation)
    assert found.extent is Extent.HOST


def test_without_a_past_levels_are_compared() -> None:
    windows = job()
    windows[Entity.GPU].values[6, 0] -= 100.0
    windows[Entity.NODE].values[:] /= 500.0
    windows[Entity.NODE].values[1] += 0.5
    found = measured(windows, (), NODES[1], Stretch(0, 40))
    assert found.departures["gpu_power_watts"].deviation < -20.0
    assert found.departures["cpu_utilization_beyond_threads"].deviation > 5.0


def test_reasons_for_a_low_clock_are_those_that_came_up_since_the_onset() -> None:
    windows = job()
    reasons = windows[Entity.GPU] = window(Entity.GPU, ("gpu_throttle_reasons",), 0.0, 4)
    reasons.values[:] = 4.0
    reasons.values[7, 0, SLOTS] = 4.0 + 64.0
    found = of_second_node(windows)
    assert found.slow_reasons == 64
    assert (found.slowed_by_heat, found.slowed_by_power) == (True, False)
    assert found.extent is Extent.ONE_GPU
    assert of_second_node(job()).slowed_by_heat is None


def test_little_telemetry_gives_a_signature_too() -> None:
    alone = {Entity.NODE: window(Entity.NODE, ("load_average",), 1.0)}
    hide(alone[Entity.NODE], slice(0, 6), slice(0, SECONDS))
    found = of_second_node(alone)
    assert (found.extent, found.has_stopped, found.cards_missing) == (Extent.HOST, False, False)
    assert measured(alone, (), NodeName("elsewhere"), Stretch(0, 10)).departures == {}


def test_of_two_machines_a_mean_that_wanders_anyway_departs_in_nothing() -> None:
    windows = {Entity.NODE: window(Entity.NODE, ("pfc_tx_packets_per_second",), 0.0)}
    both = np.array([row.node in NODES[:2] for row in windows[Entity.NODE].rows])
    rng = np.random.default_rng(5)
    hosts = replace(
        windows[Entity.NODE],
        rows=tuple(EntityKey(Entity.NODE, node, None) for node in NODES[:2]),
        values=rng.normal(50.0, 40.0, (2, 1, SECONDS)),
        observed=windows[Entity.NODE].observed[both],
    )
    found = of_second_node({Entity.NODE: hosts}).departures["pfc_tx_packets_per_second"]
    assert abs(found.deviation) < 4.0
    hosts.values[1, 0, SLOTS] += 400.0
    assert (
        of_second_node({Entity.NODE: hosts}).departures["pfc_tx_packets_per_second"].deviation
        > 20.0
    )
