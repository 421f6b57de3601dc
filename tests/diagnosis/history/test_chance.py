"""The exact test keeps to its stated rate of false alarms, and finds nodes that are bad."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.diagnosis.history.chance import Counts, chance, rate_ratio

UNEVENNESS = 0.5


def is_named(counts: Counts) -> bool:
    return counts.node >= 3 and counts.fleet * chance(counts, UNEVENNESS) <= 0.01


def alarms(rates: np.ndarray, seed: int, windows: int) -> np.ndarray:
    """How many windows each node is named in, looked at whenever it fails."""
    rng = np.random.default_rng(seed)
    named = np.zeros(len(rates))
    for _ in range(windows):
        nodes = rng.choice(len(rates), rng.poisson(rates.sum()), p=rates / rates.sum())
        so_far, accused = np.zeros(len(rates), int), set[int]()
        for number, node in enumerate(nodes.tolist(), start=1):
            so_far[node] += 1
            if is_named(Counts(int(so_far[node]), number, len(rates) - 1)):
                accused.add(node)
        named[list(accused)] += 1
    return named


def sound(nodes: int, failures: float, seed: int) -> np.ndarray:
    rates = np.random.default_rng(seed).gamma(1 / UNEVENNESS**2, size=nodes)
    return np.asarray(failures * rates / rates.sum())


@pytest.mark.parametrize(("nodes", "failures"), [(8, 3.0), (64, 6.0), (64, 60.0)])
def test_sound_nodes_are_named_no_more_often_than_is_stated(nodes: int, failures: float) -> None:
    found = sum(alarms(sound(nodes, failures, seed), seed, 20).sum() for seed in range(8))
    assert found <= 0.01 * 160 + 3 * math.sqrt(0.01 * 160)


def test_a_node_that_fails_sixty_times_as_often_is_named() -> None:
    rates = sound(64, 6.0, 1)
    rates[5] = 6.0
    named = alarms(rates, 2, 20)
    assert named[5] >= 10
    assert named.sum() - named[5] <= 1


def test_a_fleet_that_fails_as_a_whole_accuses_nobody() -> None:
    for failures in range(1, 30):
        assert not is_named(Counts(failures, 16 * failures, 15))


def test_without_peers_or_before_nothing_is_odd() -> None:
    assert chance(Counts(9, 9, 0.0), UNEVENNESS) == 1.0
    assert chance(Counts(1, 50, 63), UNEVENNESS) == 1.0


COUNTS = st.builds(
    lambda node, rest, peers: Counts(node, node + rest, peers),
    st.integers(1, 40),
    st.integers(0, 400),
    st.floats(0.1, 5000),
)


@given(COUNTS)
def test_more_failures_are_rarer_and_more_of_others_less_rare(counts: Counts) -> None:
    here = chance(counts, UNEVENNESS)
    more = chance(Counts(counts.node + 1, counts.fleet + 1, counts.peers), UNEVENNESS)
    others = chance(Counts(counts.node, counts.fleet + 1, counts.peers), UNEVENNESS)
    assert 0.0 <= here <= 1.0
    assert more <= here * (1 + 1e-9)
    assert others >= here * (1 - 1e-9)


def test_the_chances_of_the_urn_add_up_to_one() -> None:
    tails = [chance(Counts(k, 30, 7.5), UNEVENNESS) for k in range(2, 31)]
    assert tails == sorted(tails, reverse=True)
    assert chance(Counts(2, 2, 1.0), 1e-3) == pytest.approx(0.5, rel=1e-3)


def test_the_past_moves_odds_towards_what_a_node_has_shown() -> None:
    assert rate_ratio(Counts(0, 0, 63), UNEVENNESS) == 1.0
    assert rate_ratio(Counts(5, 5, 63), UNEVENNESS) == pytest.approx(2.2, abs=0.1)
    assert rate_ratio(Counts(0, 640, 63), UNEVENNESS) == pytest.approx(4 / 14, abs=0.01)
