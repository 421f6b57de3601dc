"""An episode beside its twin in which nothing breaks: alike before the onset, apart after it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ingest.synthetic.clusters import QUICK, configured
from paramedic.ingest.contract import EventKind, NodeName
from paramedic.ingest.synthetic.configuration import Weather
from paramedic.ingest.synthetic.episodes.living import LivedEpisode, live
from paramedic.ingest.synthetic.episodes.plan import EpisodePlan, Split
from paramedic.ingest.synthetic.episodes.visibility import (
    visible_beside,
    visible_metrics,
    without_faults,
)
from paramedic.ingest.synthetic.faults.catalogue import FAULTS
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Symptom

pytestmark = pytest.mark.long

FIRST, SECONDS, ONSET = 6, 190, 100
NODE = NodeName("node-0003")
BASE = replace(
    configured(4, 2, work=replace(QUICK, checkpoint_every_seconds=60.0, checkpoint_seconds=4.0)),
    weather=Weather(error_bursts_per_node_day=50.0, host_regimes_per_node_day=50.0,
                    lone_xids_per_gpu_day=10.0, wandering_ratio=0.01),
)  # fmt: skip
WARMTH = {"gpu_power_watts", "gpu_temperature_celsius", "gpu_memory_temperature_celsius"}
"""Cards differ in power, so they differ by more or less when all of them wait longer."""
LEAKS = ("fault", "label", "loud", "symptom", *(f"'{kind}'" for kind in FAULTS))


def planned(fault: FaultPlan | None) -> EpisodePlan:
    cluster = replace(BASE, faults=() if fault is None else (fault,))
    return EpisodePlan("one", Split.TEST, cluster, FIRST, SECONDS)


@cache
def well() -> LivedEpisode:
    return live(planned(None))


@cache
def hurt(kind: str) -> LivedEpisode:
    """Drawn from kind and place, as `simulate` does."""
    return live(planned(FaultPlan(kind, NODE, 1, onset=ONSET, strength=0.9)))


@cache
def shown_by(kind: str, effect: str, strength: float) -> frozenset[str]:
    symptoms = (Symptom(effect, strength),)
    fault = FaultPlan(kind, NODE, 1, onset=ONSET, symptoms=symptoms)
    return visible_beside(live(planned(fault)), well())


@pytest.mark.parametrize("kind", FAULTS)
def test_nothing_differs_before_the_onset_and_something_after_it(kind: str) -> None:
    at, differs = ONSET - FIRST, False
    for entity, window in hurt(kind).windows.items():
        twin = well().windows[entity].values
        assert np.array_equal(window.values[..., :at], twin[..., :at], equal_nan=True)
        differs |= not np.array_equal(window.values[..., at:], twin[..., at:], equal_nan=True)
    assert differs


@pytest.mark.parametrize("kind", FAULTS)
def test_events_before_the_onset_are_the_twin_s(kind: str) -> None:
    onset = BASE.first_second + ONSET
    before = [
        [event for event in episode.events if event.timestamp.timestamp() < onset]
        for episode in (hurt(kind), well())
    ]
    assert before[0] == before[1]


@pytest.mark.parametrize("kind", FAULTS)
def test_labels_never_leak_into_what_is_observed(kind: str) -> None:
    episode = hurt(kind)
    told = repr((episode.events, episode.description, [*episode.windows],
                 [w.metrics for w in episode.windows.values()], [w.job for w in
                 episode.windows.values()])).lower()  # fmt: skip
    assert not any(word in told for word in LEAKS)
    (label,) = episode.labels
    assert (label.kind, label.onset) == (kind, BASE.first_second + ONSET)


def test_a_driver_s_code_is_told_only_where_it_is_among_the_effects() -> None:
    silent = FaultPlan("ecc_error", NODE, 1, onset=ONSET,
                       symptoms=(Symptom("corrected_errors", 1.0),))  # fmt: skip
    loud = replace(silent, symptoms=(Symptom("xid_95", 1.0),))

    def codes(fault: FaultPlan) -> list[object]:
        events = live(planned(fault)).events
        return [e.details["xid"] for e in events if e.kind is EventKind.XID and e.node == NODE]

    assert 95 not in codes(silent)
    assert codes(loud).count(95) == 1


@pytest.mark.parametrize(
    ("kind", "effect", "metrics"),
    [
        ("ecc_error", "corrected_errors", {"gpu_ecc_correctable_total"}),
        ("ecc_error", "hot_memory", {"gpu_memory_temperature_celsius"}),
        ("ecc_error", "scrubbing", {"gpu_dram_active_ratio"}),
        ("cuda_execution_error", "leaking_card", {"gpu_memory_used_bytes"}),
        ("cuda_execution_error", "restless_kernel", {"context_switches_per_second"}),
        ("pcie_downgrade", "narrow_pcie", {"pfc_tx_packets_per_second"}),
        ("nvlink_error", "nvlink_errors", {"gpu_nvlink_errors_per_second"}),
        ("nic_dropout", "symbol_errors", {"ib_symbol_errors_per_second"}),
    ],
)
def test_some_effects_show_in_one_metric_and_its_consequences(
    kind: str, effect: str, metrics: set[str]
) -> None:
    shown = shown_by(kind, effect, 0.9)
    assert shown & metrics
    assert shown <= metrics | WARMTH


def test_a_strong_fault_shows_in_more_metrics_than_one_at_the_edge_of_the_noise() -> None:
    strong = shown_by("straggler", "slower_work", 0.9)
    weak = shown_by("straggler", "slower_work", 0.07)
    assert len(weak) < len(strong)
    assert {"compute_seconds", "gpu_sm_active_ratio"} <= strong


def test_nothing_is_visible_where_nothing_breaks() -> None:
    assert visible_metrics(planned(None)) == frozenset()
    fault = FaultPlan("straggler", NODE, 1, onset=ONSET)
    assert without_faults(planned(fault)) == planned(None)


def test_a_machine_that_is_gone_shows_everywhere() -> None:
    metrics = {m for window in well().windows.values() for m in window.metrics}
    assert len(visible_beside(hurt("machine_unreachable"), well())) > 0.8 * len(metrics)


def test_what_other_machines_show_is_not_counted() -> None:
    mine = FaultPlan("nic_dropout", NODE, onset=ONSET, symptoms=(Symptom("symbol_errors", 0.9),))
    other = FaultPlan("straggler", NodeName("node-0001"), 0, onset=ONSET,
                      symptoms=(Symptom("slower_work", 0.6),))  # fmt: skip
    plan = planned(mine)
    both = replace(plan, cluster=replace(plan.cluster, faults=(mine, other)))
    assert "compute_seconds" in visible_beside(live(planned(other)), well())
    assert "compute_seconds" not in visible_beside(live(both), well())
