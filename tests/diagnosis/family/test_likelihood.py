"""What knowledge alone says of symptoms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.likelihood import Likelihood, log_shares, looks_of
from paramedic.diagnosis.family.reading import shipped_knowledge
from paramedic.diagnosis.family.signature import Extent

KNOWLEDGE = shipped_knowledge()
LIKELIHOOD = Likelihood(KNOWLEDGE)
NAMES = [one.name for one in KNOWLEDGE.symptoms]


def scores(extent: Extent = Extent.ONE_GPU, **shown: float) -> dict[Fault, float]:
    seen = np.array([shown.get(name, 0.005) for name in NAMES])
    return dict(zip(KNOWLEDGE.faults, LIKELIHOOD.log_scores(seen, extent).tolist(), strict=True))


def log_ratio(one: Fault, other: Fault) -> float:
    """Of how often they happen."""
    shares: dict[Fault, float] = dict(
        zip(KNOWLEDGE.faults, log_shares(KNOWLEDGE).tolist(), strict=True)
    )
    return shares[one] - shares[other]


def test_the_ways_in_which_a_family_looks_are_a_whole() -> None:
    for family in KNOWLEDGE.families:
        looks = looks_of(family, KNOWLEDGE)
        assert looks.weights.sum() == pytest.approx(1.0, abs=1e-6)
        assert ((looks.shown > 0.0) & (looks.shown < 1.0)).all()


def test_the_family_that_a_symptom_is_known_by_explains_it_best() -> None:
    found = scores(nvlink_errors=0.99)
    assert max(found, key=lambda one: found[one]) is Fault.NVLINK_ERROR


def test_two_mechanisms_together_are_explained_by_a_family_that_has_both() -> None:
    both = scores(corrected_errors=0.99, memory_traffic_higher=0.99)
    assert both[Fault.ECC_ERROR] > max(v for k, v in both.items() if k is not Fault.ECC_ERROR) + 2


def test_nobody_is_accused_of_what_nobody_sees() -> None:
    """Errors whose counter is not exported explain no chip that is slow."""
    found = scores(clock_lower=0.99, corrected_errors=math.nan, uncorrected_errors=math.nan)
    rival = found[Fault.GPU_EXECUTION_ERROR] - found[Fault.ECC_ERROR]
    assert rival > log_ratio(Fault.ECC_ERROR, Fault.GPU_EXECUTION_ERROR) + 1.0


def test_who_explains_nothing_needs_chance_and_the_unknown_does_not() -> None:
    odd = scores(symbols_misread=0.99)
    assert odd[Fault.AOC_ERROR] > odd[Fault.UNKNOWN] > odd[Fault.NVLINK_ERROR] + 2.0


def test_what_cannot_be_seen_speaks_for_nobody() -> None:
    nothing = LIKELIHOOD.log_scores(np.full(len(NAMES), np.nan), Extent.HOST)
    hosts = np.array([family.extents[Extent.HOST] for family in KNOWLEDGE.families])
    extents = np.log(0.75 * hosts + 0.25 / len(Extent))
    np.testing.assert_allclose(nothing - extents, (nothing - extents)[0], atol=0.02)


def test_where_it_is_seen_speaks_too() -> None:
    host, card = scores(Extent.HOST, power_lower=0.9), scores(Extent.ONE_GPU, power_lower=0.9)
    gain = {fault: host[fault] - card[fault] for fault in host}
    assert gain[Fault.STORAGE_ERROR] > 0 > gain[Fault.ECC_ERROR]


def test_a_smaller_power_makes_shares_more_alike() -> None:
    steep, flat = np.exp(log_shares(KNOWLEDGE)), np.exp(log_shares(KNOWLEDGE, 0.3))
    assert steep.sum() == pytest.approx(1.0)
    assert flat.max() < steep.max()
    assert flat.min() > steep.min()
