"""Domains as rows: whose rows are taken together, and of which metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from diagnosis.synthetic import JOB
from paramedic.diagnosis.domain_rows import DomainRows, is_shared
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

HEAT, PAUSED, LOST = (
    "gpu_temperature_celsius",
    "pfc_tx_packets_per_second",
    "tcp_retransmits_per_second",
)
METRICS = {
    Entity.GPU: ("gpu_power_watts", HEAT),
    Entity.NODE: (PAUSED, "cpu_utilization_ratio", LOST),
}
NODES, CARDS, SLOTS, LAST = 7, 2, 4, 1009
DOMAINS = {
    "a": tuple(NodeName(f"n{at}") for at in range(3)),
    "b": tuple(NodeName(f"n{at}") for at in range(3, 6)),
}
"""The last node has none."""


def window(entity: Entity) -> Window:
    """What a row shows of a metric is its node's number, ten times as much of its second card."""
    cards = range(CARDS) if entity is Entity.GPU else (None,)
    rows = tuple(
        EntityKey(entity, NodeName(f"n{at}"), card) for at in range(NODES) for card in cards
    )
    values = np.zeros((len(rows), len(METRICS[entity]), SLOTS), np.float32)
    for at, row in enumerate(rows):
        values[at] = int(row.node[1:]) * (10 if row.index else 1)
    there = np.ones(values.shape, np.bool_)
    return Window(JOB, 3, entity, LAST - 3 * 5, rows, METRICS[entity], values, there, 5)


def both(**hidden: slice | list[int]) -> dict[Entity, Window]:
    """Windows of GPUs and nodes; of these nodes nothing is observed of this metric."""
    windows = {kind: window(kind) for kind in METRICS}
    for metric, rows in hidden.items():
        kind = next(one for one in METRICS if metric in METRICS[one])
        at = METRICS[kind].index(metric)
        windows[kind].observed[rows, at] = False
        windows[kind].values[rows, at] = 1e9
    return windows


def shown(
    windows: Mapping[Entity, Window],
    metric: str,
    domains: Mapping[str, tuple[NodeName, ...]] = DOMAINS,
) -> NDArray[Any]:
    """The newest slot of a metric, by domain."""
    found = DomainRows(domains).window(windows, 1)
    return found.values[:, found.metrics.index(metric), -1]


def test_a_domain_shows_what_more_than_half_of_the_rows_of_its_nodes_reach() -> None:
    assert shown(both(), PAUSED).tolist() == [1, 4]
    assert shown(both(), HEAT).tolist() == [1, 5]


def test_a_node_without_a_domain_is_in_none_and_a_domain_without_rows_shows_nothing() -> None:
    found = DomainRows({**DOMAINS, "c": (NodeName("elsewhere"),)}).window(both(), 1)
    assert [row.node for row in found.rows] == ["a", "b", "c"]
    assert not found.observed[2].any()
    assert found.observed[:2].all()
    assert shown(both(), PAUSED, {"last": (NodeName("n6"),)}).tolist() == [6]


def test_what_is_not_observed_is_left_out() -> None:
    assert shown(both(**{PAUSED: [0]}), PAUSED).tolist() == [1, 4]
    windows = both(**{PAUSED: [0, 1, 2]})
    assert np.isnan(shown(windows, PAUSED)).tolist() == [True, False]
    found = DomainRows(DOMAINS).window(windows, 1)
    assert found.observed[0, :, 0].tolist() == [metric != PAUSED for metric in found.metrics]


def test_several_slots_are_one_with_the_mean_of_what_was_observed() -> None:
    windows = both(**{LOST: [0, 1, 2]})
    hosts = windows[Entity.NODE]
    hosts.values[:, 0, -1] += 9
    hosts.observed[:3, 0, -2] = False
    rows = DomainRows(DOMAINS)
    found = rows.slot(windows, 3)
    paused, lost = (found.metrics.index(one) for one in (PAUSED, LOST))
    assert (found.last_second, found.slot_seconds, found.values.shape[2]) == (LAST, 15, 1)
    assert found.values[:, paused, 0].tolist() == [(1 + 1 + 9) / 2, (4 + 4 + 4 + 9) / 3]
    assert found.observed[:, lost, 0].tolist() == [False, True]
    assert rows.slot(windows, 1).slot_seconds == 5


def test_only_what_can_be_shared_is_looked_at() -> None:
    assert DomainRows(DOMAINS).window(both(), 1).metrics == (HEAT, PAUSED, LOST)


@pytest.mark.parametrize(
    ("metric", "shared"),
    [
        ("ecn_packets_per_second", True),
        ("ib_symbol_errors_per_second", True),
        ("network_round_trip_seconds", True),
        ("gpu_memory_temperature_celsius", True),
        ("gpu_tensor_active_ratio", False),
        ("rdma_tx_bytes_per_second", False),
        ("disk_read_latency_seconds", False),
        ("context_switches_per_second", False),
        ("gpu_ecc_correctable_total", False),
        ("gpu_xid", False),
    ],
)
def test_what_nodes_share_shows_in_congestion_losses_round_trips_and_warmth(
    metric: str, *, shared: bool
) -> None:
    assert is_shared(metric) is shared


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (3, 3), (60, SLOTS)])
def test_the_newest_slots_are_shown_as_many_as_there_are(asked: int, given: int) -> None:
    windows = both()
    for one in windows.values():
        one.values[:, :, :] += np.arange(SLOTS)
    found = DomainRows(DOMAINS).window(windows, asked)
    assert found.values.shape == found.observed.shape == (2, 3, given)
    assert found.values[0, 1].tolist() == [1 + at for at in range(SLOTS - given, SLOTS)]
    assert (found.last_second, found.slot_seconds, found.generation) == (LAST, 5, 3)
    assert found.entity is Entity.NODE


def test_without_hosts_the_cards_alone_are_looked_at() -> None:
    windows = both()
    hosts = windows[Entity.NODE]
    none = replace(
        hosts, rows=(), metrics=(), values=np.zeros((0, 0, SLOTS), np.float32),
        observed=np.zeros((0, 0, SLOTS), np.bool_),
    )  # fmt: skip
    assert DomainRows(DOMAINS).window({**windows, Entity.NODE: none}, 1).metrics == (HEAT,)


def test_domains_find_their_rows_anew_when_rows_have_come_or_gone() -> None:
    rows, windows = DomainRows(DOMAINS), both()
    assert rows.window(windows, 1).values[:, 1, 0].tolist() == [1, 4]
    hosts = windows[Entity.NODE]
    fewer = replace(
        hosts, rows=hosts.rows[1:], values=hosts.values[1:], observed=hosts.observed[1:]
    )
    assert rows.window({**windows, Entity.NODE: fewer}, 1).values[:, 1, 0].tolist() == [1, 4]
