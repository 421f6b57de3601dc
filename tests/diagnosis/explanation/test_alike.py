"""What several nodes show alike, which is told of each of them and accuses none."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest

from diagnosis.synthetic import JOB
from paramedic.diagnosis.explanation.alike import shared_by_many
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

PAUSED, LOST, CORRECTED = (
    "pfc_tx_packets_per_second", "tcp_retransmits_per_second", "gpu_ecc_correctable_total",
)  # fmt: skip
ME = NodeName("n0")


def window(
    high: Collection[int],
    metric: str = PAUSED,
    *,
    nodes: int = 10,
    times: float = 20.0,
    noise: float = 0.1,
    entity: Entity = Entity.NODE,
    slots: int = 30,
) -> Window:
    """These nodes show so many times as much; of cards, the second one of each."""
    cards = (None,) if entity is Entity.NODE else (0, 1)
    rows = tuple(
        EntityKey(entity, NodeName(f"n{at}"), card) for at in range(nodes) for card in cards
    )
    values = 50.0 * np.exp(noise * np.random.default_rng(1).normal(size=(len(rows), 1, slots)))
    for node in high:
        values[(node + 1) * len(cards) - 1] *= times
    if metric.endswith("_total"):
        values = np.cumsum(values, axis=2)
    return Window(JOB, 0, entity, 100, rows, (metric,), values, np.ones(values.shape, np.bool_))


def told(one: Window, node: NodeName = ME) -> list[str]:
    return [hold.text for hold in shared_by_many(node, {one.entity: one})]


@pytest.mark.parametrize("high", [3, 5])
def test_what_three_nodes_or_more_show_and_most_do_not_is_told_of_each(high: int) -> None:
    (words,) = told(window(range(high)))
    assert words.startswith("PFC sent packets: ")
    assert f"{high} of 10 nodes show as much" in words
    assert told(window(range(high)), NodeName("n9")) == []


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(window([0, 1]), id="two nodes"),
        pytest.param(window(range(6)), id="most nodes"),
        pytest.param(window([]), id="nobody"),
        pytest.param(window(range(3), times=1.3), id="hardly more"),
        pytest.param(window(range(3), noise=2.0, times=3.0), id="chance"),
        pytest.param(window(range(3), "cpu_temperature_celsius"), id="what is no trouble"),
        pytest.param(window(range(3), "made_up"), id="what nobody knows"),
        pytest.param(window(range(3), slots=1), id="a single slot"),
    ],
)
def test_nothing_is_told_of(seen: Window) -> None:
    assert told(seen) == []


def test_of_a_running_total_what_it_grows_by_is_compared() -> None:
    assert len(told(window(range(3), CORRECTED, entity=Entity.GPU))) == 1


def test_a_node_shows_what_its_worst_card_shows() -> None:
    seen = window(range(3), "gpu_pcie_replays_per_second", entity=Entity.GPU)
    (words,) = told(seen)
    assert "3 of 10 nodes" in words


def test_what_only_nodes_of_one_domain_show_is_told_as_that_domains() -> None:
    seen, leaf = window(range(3)), frozenset(NodeName(f"n{at}") for at in range(3))
    of_all, of_some = {Entity.NODE: seen}, leaf - {NodeName("n2")}
    assert list(shared_by_many(ME, of_all, [leaf])) == []
    assert len(list(shared_by_many(ME, of_all, [of_some]))) == 1


def test_holes_are_passed_over() -> None:
    seen = window(range(3))
    seen.observed[:, :, ::2] = False
    seen.values[:, :, ::2] = 1e9
    assert len(told(seen)) == 1


def test_the_two_that_say_most_are_told_the_clearest_first() -> None:
    rows, kinds = window([]).rows, (PAUSED, LOST, "disk_read_latency_seconds")
    values = np.concatenate([
        window(range(3), times=times).values for times in (5.0, 50.0, 20.0)
    ], axis=1)  # fmt: skip
    seen = Window(JOB, 0, Entity.NODE, 100, rows, kinds, values, np.ones(values.shape, np.bool_))
    first, second = told(seen)
    assert first.startswith("TCP retransmits")
    assert second.startswith("disk read latency")
