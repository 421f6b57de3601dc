"""What is odd about rows adds up against machines, and what several machines share does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.pattern.made_up import gpu_values, history_of, nodes_named
from paramedic.models.pattern.evidence import Evidence, EvidenceStream
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.settings import PatternSettings

SETTINGS = PatternSettings(
    ignored_nats=4.0, expected_nats=1.0, most_nats_a_slot=30.0, window_slots=5, newest_slots=5
)
MET = SETTINGS.window_slots
"""So many slots a job is only being met."""


def evidence(
    cards: NDArray[np.float32],
    settings: PatternSettings = SETTINGS,
    cut: int | None = None,
    whole: NDArray[np.float32] | None = None,
) -> Evidence:
    """Of scores of GPUs, (slots, metrics, rows), two a node; `whole`: of the nodes' means."""
    nodes = cards.shape[2] // 2
    history = history_of(gpu_values(nodes, 2))
    panels = panels_of(history.windows, history.description, use_roles=True)
    stream = EvidenceStream(panels, nodes_named(nodes), settings)
    means = np.zeros((len(cards), 3, nodes), np.float32) if whole is None else whole
    parts = [slice(cut), slice(cut, None)] if cut else [slice(None)]
    return Evidence.joined([stream.advance([cards[p], means[p]]) for p in parts], nodes)


def scores(slots: int, nodes: int = 6) -> NDArray[np.float32]:
    return np.zeros((MET + slots, 3, 2 * nodes), np.float32)


def test_an_odd_card_speaks_against_its_node_and_is_named() -> None:
    odd = scores(15)
    odd[:, 1, 7] = 10.0
    found = evidence(odd)
    assert found.nats[-1].tolist() == [0, 0, 0, 15 * (10 - 4 - 1), 0, 0]
    assert found.gpu[-1].tolist() == [-1, -1, -1, 1, -1, -1]


def test_nothing_counts_before_the_first_window_is_full() -> None:
    odd = scores(1)
    odd[:, 1, 7] = 10.0
    assert np.flatnonzero(evidence(odd).nats[:, 3]).tolist() == [MET]


def test_a_second_metric_counts_half_unless_the_oddest_alone_shall_count() -> None:
    odd = scores(1)
    odd[-1, :, 7] = [10.0, 9.0, 2.0]
    assert evidence(odd).nats[-1, 3] == 6 + 5 / 2 - 1
    assert evidence(odd, replace(SETTINGS, add_metrics=False)).nats[-1, 3] == 6 - 1


def test_a_card_and_the_mean_of_its_node_count_once() -> None:
    odd, means = scores(1), np.zeros((MET + 1, 3, 6), np.float32)
    odd[-1, 0, 7], means[-1, 0, 3] = 10.0, 11.0
    assert evidence(odd, whole=means).nats[-1, 3] == 7 - 1


def test_two_alike_of_six_are_both_suspected_and_three_are_what_befalls_the_job() -> None:
    odd = scores(10)
    odd[:, 0, [0, 4]] = 11.0
    assert evidence(odd).nats[-1].tolist() == [60, 0, 60, 0, 0, 0]
    odd[:, 0, 8] = 11.0
    assert evidence(odd).nats.max() == 0


def test_who_is_odder_than_the_waiting_is_suspected_by_the_difference() -> None:
    odd = scores(1)
    odd[-1, 0, :] = 8.0
    odd[-1, 0, 7] = 12.0
    assert evidence(odd).nats[-1].tolist() == [0, 0, 0, 3, 0, 0]


def test_machines_that_are_odd_in_different_metrics_are_all_suspected() -> None:
    odd = scores(1)
    odd[-1, 0, 1] = odd[-1, 1, 5] = odd[-1, 2, 9] = 14.0
    np.testing.assert_allclose(evidence(odd).nats[-1], [9, 0, 9, 0, 9, 0])


def test_evidence_fades_when_a_machine_is_well_again() -> None:
    odd = scores(40)
    odd[: MET + 10, 0, 7] = 10.0
    against = evidence(odd).nats[MET:, 3]
    assert against[9] == 50
    assert against[39] == 20


def test_cards_that_are_alike_are_not_told_apart() -> None:
    odd = scores(15)
    odd[:, 0, [6, 7]] = 10.0
    assert evidence(odd).gpu[-1, 3] == -1


def test_a_lone_machine_has_nobody_to_be_odder_than() -> None:
    assert evidence(np.full((10, 3, 2), 12.0, np.float32)).nats.max() == 0


@given(seed=st.integers(0, 1000), cut=st.integers(1, 19))
def test_slots_in_two_parts_give_the_same(seed: int, cut: int) -> None:
    odd = np.abs(np.random.default_rng(seed).normal(0, 6, (20, 3, 12))).astype(np.float32)
    whole, parts = evidence(odd), evidence(odd, cut=cut)
    np.testing.assert_array_equal(whole.nats, parts.nats)
    np.testing.assert_array_equal(whole.gpu, parts.gpu)
