"""A line of evidence is new since the onset, lasts, and is more than data move by themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paramedic.diagnosis.beyond_chance import is_beyond_chance
from paramedic.diagnosis.family.measuring import Stretch
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window

SECONDS, ONSET = 60, 40
STRETCH = Stretch(ONSET, SECONDS - 1)
SINCE = slice(ONSET, None)


def window(nodes: int = 4, scatter: float = 0.02, seed: int = 3) -> Window:
    """Healthy hosts, the first of which has always used half as much again."""
    rows = tuple(EntityKey(Entity.NODE, NodeName(f"n{at}")) for at in range(nodes))
    values = np.random.default_rng(seed).normal(1.0, scatter, (nodes, 1, SECONDS))
    values[0] *= 1.5
    observed = np.ones(values.shape, np.bool_)
    return Window(JobName("j"), 0, Entity.NODE, 0, rows, ("m",), values, observed)


def asked(one: Window, stretch: Stretch = STRETCH) -> bool:
    return is_beyond_chance(one, "m", 0, list(range(1, len(one.rows))), stretch)


@pytest.mark.parametrize("seed", range(5))
def test_what_was_always_so_is_no_evidence(seed: int) -> None:
    assert not asked(window(seed=seed))


@pytest.mark.parametrize("nodes", [2, 4])
def test_what_has_come_since_the_onset_is(nodes: int) -> None:
    for factor in (3.0, 0.2):
        one = window(nodes)
        one.values[0, :, SINCE] *= factor
        assert asked(one)


def test_a_little_more_of_what_was_always_so_is_not() -> None:
    one = window(scatter=0.001)
    one.values[0, :, SINCE] *= 1.1
    assert not asked(one), "0.5 apart before, and 0.65 now"


def test_what_befalls_all_is_nobodys_evidence() -> None:
    one = window()
    one.values[0] /= 1.5
    one.values[:, :, SINCE] *= 3.0
    assert not asked(one)


def events(*at: int) -> Window:
    """Now and then a packet is sent again, by everybody; and by the first in these seconds."""
    one = window()
    one.values[:] = 0.0
    one.values[np.random.default_rng(1).random(one.values.shape) < 0.15] = 1.0
    one.values[0, :, SINCE] = 0.0
    one.values[0, 0, list(at)] += 1.0
    return one


def test_a_burst_of_what_happens_now_and_then_is_not() -> None:
    assert not asked(events(41, 45, 52, 58))
    assert asked(events(*range(ONSET, SECONDS)))


def test_one_event_of_what_never_happened_does_not_last() -> None:
    one = window()
    one.values[:] = 0.0
    one.values[0, 0, 50] = 20.0
    assert not asked(one)


def test_one_peer_of_many_may_have_a_trouble_of_its_own() -> None:
    one = window(20)
    one.values[[0, 7], :, SINCE] *= 3.0
    assert asked(one)


def test_what_nobody_can_tell_is_not_told() -> None:
    one = window()
    one.values[0, :, SINCE] *= 3.0
    assert not asked(one, Stretch(3, SECONDS - 1)), "too short a past"
    assert not asked(one, Stretch(SECONDS - 1, SECONDS - 1)), "hardly begun"
    assert not is_beyond_chance(one, "m", 0, [], STRETCH), "nobody to compare it with"
    unseen = one.observed.copy()
    unseen[0, :, SINCE] = False
    assert not asked(replace(one, observed=unseen))
