"""Which hosts are busy, and what that explains of themselves and of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from diagnosis.synthetic import JOB
from paramedic.diagnosis.chores import busy_hosts, is_chore
from paramedic.diagnosis.departure import Departure
from paramedic.diagnosis.departures import NodeEvidence
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window
from paramedic.models.departure.character import characters_of
from paramedic.models.departure.model import Departures

HOST = ("cpu_utilization_ratio", "disk_throughput_bytes_per_second", "disk_read_latency_seconds")
CPU, DISK, LATENCY = HOST
CARD = ("gpu_tensor_active_ratio", "gpu_power_watts", "gpu_pcie_replays_per_second")
TENSOR, POWER, REPLAYS = CARD
ME, OTHER, THIRD = (NodeName(f"n{at}") for at in range(3))
HOSTS = tuple(EntityKey(Entity.NODE, node) for node in (ME, OTHER, THIRD))
LAST = 399
ODD, HARDLY = 7.0, 6.0
"""In nats."""


def slot(nats: Mapping[tuple[str, NodeName], float], metrics: tuple[str, ...] = HOST) -> Departures:
    """Two paces, of which the second shows this; what is below zero is less than the peers'."""
    odd = np.zeros((2, len(metrics), len(HOSTS)))
    for (metric, node), much in nats.items():
        odd[1, metrics.index(metric), HOSTS.index(EntityKey(Entity.NODE, node))] = much
    known = np.ones(odd.shape[1:], np.bool_)
    characters = characters_of(metrics)
    return Departures(HOSTS, metrics, np.abs(odd), odd, known, characters, has_turned=False)


@pytest.mark.parametrize(
    ("nats", "busy"),
    [
        ({(CPU, ME): ODD, (DISK, THIRD): ODD}, {ME, THIRD}),
        ({(CPU, ME): HARDLY}, set()),
        ({(CPU, ME): -ODD}, set()),
        ({(CPU, ME): -ODD, (DISK, ME): ODD}, {ME}),
        ({(LATENCY, ME): ODD}, set()),
    ],
)
def test_a_host_is_busy_that_does_far_more_than_its_peers(
    nats: Mapping[tuple[str, NodeName], float], busy: set[NodeName]
) -> None:
    assert busy_hosts(slot(nats), pace=1) == busy
    assert busy_hosts(slot(nats), pace=0) == set()


def test_who_is_busy_is_not_known_where_nothing_tells_of_it() -> None:
    assert busy_hosts(None, pace=1) == set()
    assert busy_hosts(slot({(LATENCY, ME): ODD}, (LATENCY,)), pace=1) == set()


def window(share: float = 1.0) -> Window:
    """The first of four machines does so much of what the others do."""
    metrics = (*CARD, *HOST)
    rows = tuple(EntityKey(Entity.GPU, NodeName(f"n{at}"), 0) for at in range(4))
    values = np.full((len(rows), len(metrics), 400), 100.0, np.float32)
    values[0] *= share
    return Window(JOB, 0, Entity.GPU, 0, rows, metrics, values, np.ones(values.shape, np.bool_))


def departure(*loud: str, seconds: int = 80) -> Departure:
    row = EntityKey(Entity.GPU, ME, 0)
    told = dict.fromkeys(loud, -9.0)
    return Departure(row, 0, (row,), LAST + 1 - seconds, LAST, 30.0, 20.0, told, loud)


BUSY, NOBODY = frozenset({ME}), frozenset[NodeName]()


@pytest.mark.parametrize(
    ("lost_share", "seconds", "is_borne"), [(0.06, 80, True), (0.2, 80, False), (0.06, 220, False)]
)
def test_a_busy_host_explains_the_work_that_it_loses_as_long_as_it_is_little(
    lost_share: float, seconds: int, *, is_borne: bool
) -> None:
    one = departure(TENSOR, POWER, seconds=seconds)
    assert is_chore(one, window(1 - lost_share), BUSY, {}) is is_borne
    assert is_chore(one, window(1 - lost_share), NOBODY, {}) is False


def test_a_busy_host_explains_no_errors() -> None:
    for loud in ((REPLAYS,), (TENSOR, REPLAYS), (CPU, REPLAYS)):
        assert not is_chore(departure(*loud), window(0.94), BUSY, {})


@pytest.mark.parametrize("loud", [(CPU,), (LATENCY,), (CPU, DISK, LATENCY)])
def test_a_busy_host_explains_that_it_is_busy_and_answers_slowly_for_minutes_only(
    loud: tuple[str, ...],
) -> None:
    assert is_chore(departure(*loud, seconds=239), window(3.0), BUSY, {})
    assert not is_chore(departure(*loud, seconds=240), window(3.0), BUSY, {})
    assert not is_chore(departure(*loud), window(3.0), frozenset({OTHER}), together(0))


def together(later: int, strength: float = 0.4, seconds: int = 80) -> dict[NodeName, NodeEvidence]:
    """What stands against the other, who began so many seconds later."""
    return {OTHER: NodeEvidence(strength, LAST + 1 - seconds + later)}


@pytest.mark.parametrize("later", [-12, 0, 12])
def test_a_busy_host_explains_what_others_lose_that_began_with_it(later: int) -> None:
    one, busy = departure(TENSOR, POWER), frozenset({THIRD, OTHER})
    assert is_chore(one, window(0.94), busy, together(later))
    assert not is_chore(one, window(0.8), busy, together(later))


@pytest.mark.parametrize(
    "standing", [together(13), together(-13), together(0, strength=0.3), {}],
    ids=["it began later", "it began before", "little speaks against it", "nothing does"],
)  # fmt: skip
def test_a_busy_host_explains_nothing_of_others_where(
    standing: dict[NodeName, NodeEvidence],
) -> None:
    assert not is_chore(departure(TENSOR), window(0.94), frozenset({OTHER}), standing)


def test_a_busy_host_that_works_more_than_its_peers_is_explained_as_well() -> None:
    more = replace(departure(TENSOR, seconds=80), told_by={TENSOR: 9.0})
    assert is_chore(more, window(1.06), BUSY, {})
