"""What all rows of one of two nodes show is told with its figures, and what each has moved by."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis.synthetic import JOB
from paramedic.diagnosis.explanation.of_two import between_two
from paramedic.ingest.contract import Entity, EntityKey, NodeName, Window

WARM, COMPUTE, CLOCK = "gpu_memory_temperature_celsius", "compute_seconds", "gpu_sm_clock_hertz"
A, B = NodeName("a"), NodeName("b")
SLOTS = 60


def window(metric: str, factor: float, *, nodes: str = "ab", since: int = 30) -> Window:
    """All four rows of node a show so much of what the others show, since a slot."""
    entity = Entity.RANK if metric == COMPUTE else Entity.GPU
    rows = tuple(EntityKey(entity, NodeName(one), at) for one in nodes for at in range(4))
    noise = np.random.default_rng(5).normal(1.0, 0.01, (len(rows), 1, SLOTS))
    values = 70.0 * noise
    values[:4, :, since:] *= factor
    return Window(JOB, 0, entity, 100, rows, (metric,), values, np.ones(values.shape, np.bool_))


def told(one: Window, node: NodeName = A) -> list[str]:
    return [hold.text for hold in between_two(node, {one.entity: one})]


def test_it_is_told_with_both_figures_and_who_has_moved() -> None:
    (words,) = told(window(WARM, 1.2))
    assert words.startswith("GPU memory temperature: 83.9 °C against 70 °C of the only other node")
    assert "half of the cards show each" in words
    assert words.endswith("in the last 60 s it has moved by +20%, and the other by +0%")


@pytest.mark.parametrize(
    ("metric", "factor", "node", "found"),
    [
        (COMPUTE, 1.18, A, 1), (COMPUTE, 1.18, B, 0), (CLOCK, 0.8, A, 1), (CLOCK, 1.2, A, 0),
        (WARM, 1.03, A, 0), (WARM, 1.0, A, 0), ("gpu_power_watts", 1.2, A, 0),
    ],
)  # fmt: skip
def test_only_what_is_a_trouble_of_who_shows_it_and_is_no_trifle(
    metric: str, factor: float, node: NodeName, found: int
) -> None:
    assert len(told(window(metric, factor), node)) == found


def test_of_three_nodes_nothing_is_said() -> None:
    assert told(window(WARM, 1.2, nodes="abc")) == []


def test_what_one_card_alone_shows_is_not_half_of_them() -> None:
    one = window(WARM, 1.2)
    one.values[:3] = one.values[4:7]
    assert told(one) == []


def test_of_whom_nothing_is_heard_nothing_is_said_and_what_was_always_so_has_not_moved() -> None:
    one = window(WARM, 1.2, since=0)
    (words,) = told(one)
    assert words.endswith("it has moved by +0%, and the other by +0%")
    one.observed[:4] = False
    assert told(one) == []
