"""What is odd about rows adds up against machines, and what most machines share does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.pattern.made_up import gpu_values, history_of, nodes_named
from paramedic.models.pattern.evidence import Evidence, EvidenceStream
from paramedic.models.pattern.panels import panels_of
from paramedic.models.pattern.settings import PatternSettings
from paramedic.models.pattern.tails import GRID, Tails

SETTINGS = PatternSettings(ignored_nats=4.0, expected_nats=1.0, most_nats_a_slot=30.0)
NODES = nodes_named(6)


def evidence(
    cards: NDArray[np.float32],
    settings: PatternSettings = SETTINGS,
    tails: Tails | None = None,
    cut: int | None = None,
) -> Evidence:
    """Of scores of GPUs, (slots, metrics, rows); whole nodes have nothing against them."""
    history = history_of(gpu_values(6, 2))
    panels = panels_of(history.windows, history.description, use_roles=True)
    stream = EvidenceStream(panels, NODES, settings, tails)
    whole = np.zeros((len(cards), 3, 6), np.float32)
    parts = [slice(cut), slice(cut, None)] if cut else [slice(None)]
    return Evidence.joined([stream.advance([cards[p], whole[p]]) for p in parts], len(NODES))


def scores(slots: int = 20) -> NDArray[np.float32]:
    return np.zeros((slots, 3, 12), np.float32)


def test_an_odd_card_speaks_against_its_node_and_is_named() -> None:
    odd = scores()
    odd[5:, 1, 7] = 10.0
    found = evidence(odd)
    assert found.nats[-1].tolist() == [0, 0, 0, 15 * (10 - 4 - 1), 0, 0]
    assert found.gpu[-1].tolist() == [-1, -1, -1, 1, -1, -1]


def test_metrics_add_up_unless_the_oddest_alone_shall_count() -> None:
    odd = scores(1)
    odd[0, :, 7] = [10.0, 9.0, 2.0]
    assert evidence(odd).nats[0, 3] == 6 + 5 - 1
    assert evidence(odd, replace(SETTINGS, add_metrics=False)).nats[0, 3] == 6 - 1


def test_what_befalls_a_third_of_the_machines_speaks_against_none() -> None:
    odd = scores()
    odd[:, 0, [0, 2, 4]] = 11.0
    assert evidence(odd).nats.max() == 0


def test_who_is_odder_than_the_waiting_is_suspected_by_the_difference() -> None:
    odd = scores(1)
    odd[0, 0, :] = 8.0
    odd[0, 0, 7] = 12.0
    assert evidence(odd).nats[0].tolist() == [0, 0, 0, 3, 0, 0]


def test_two_odd_machines_are_both_suspected_only_less() -> None:
    odd = scores(1)
    odd[0, :, [1, 7]] = 14.0
    np.testing.assert_allclose(evidence(odd).nats[0], [5, 0, 0, 5, 0, 0])


def test_evidence_fades_when_a_machine_is_well_again() -> None:
    odd = scores(40)
    odd[:10, 0, 7] = 10.0
    against = evidence(odd).nats[:, 3]
    assert against[9] == 50
    assert against[39] == 20


def test_cards_that_are_alike_are_not_told_apart() -> None:
    odd = scores()
    odd[:, 0, [6, 7]] = 10.0
    assert evidence(odd).gpu[-1, 3] == -1


def test_slots_in_two_parts_give_the_same() -> None:
    odd = np.abs(np.random.default_rng(4).normal(0, 6, (20, 3, 12))).astype(np.float32)
    whole, parts = evidence(odd), evidence(odd, cut=7)
    np.testing.assert_array_equal(whole.nats, parts.nats)
    np.testing.assert_array_equal(whole.gpu, parts.gpu)


def test_an_excess_that_healthy_machines_have_says_little() -> None:
    odd = scores(1)
    odd[0, 0, 7] = 12.0
    usual = Tails(np.full((1, GRID), 0.5, np.float32))
    assert evidence(odd, tails=usual).nats.max() == 0
