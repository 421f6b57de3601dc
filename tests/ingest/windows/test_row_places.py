"""Rows are written where they belong, however they lie and wherever their bytes begin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.windows.row_places import RowPlaces, stretch

ROOM = 64
nodes = st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True)


def check(positions: list[int], lines: list[int], begins_at: int) -> None:
    """Write numbered values, and compare with writing them one by one."""
    size = len(lines) * len(positions)
    numbers = np.arange(1, size + 1, dtype=np.float32).tobytes()
    block = np.frombuffer(bytes(begins_at) + numbers, np.float32, size, begins_at)
    block = block.reshape(len(lines), len(positions))
    values = np.zeros((6, ROOM), np.float32)
    wanted = values.copy()
    for line, row in zip(lines, block, strict=True):
        wanted[line, positions] = row
    places = RowPlaces(np.array(positions, np.intp))
    places.put(values[:5], stretch(np.array(lines, np.intp)), block)
    assert values.tolist() == wanted.tolist()


@given(
    positions=st.lists(st.integers(0, ROOM - 1), min_size=1, unique=True)
    | nodes.map(lambda chosen: [8 * node + gpu for node in chosen for gpu in range(8)])
    | nodes.map(lambda chosen: [8 * node + gpu for node in chosen for gpu in (2, 3)]),
    lines=st.sampled_from([[0], [0, 1, 2], [2, 3], [3, 1], [4, 0, 2]]),
    begins_at=st.integers(0, 5),
)
def test_a_block_is_written_as_if_value_by_value(
    positions: list[int], lines: list[int], begins_at: int
) -> None:
    check(positions, lines, begins_at)


@pytest.mark.parametrize(
    "positions", [[0, 1, 2], [5], [8, 9, 0, 1], [1, 2, 5, 6], [7, 6], [*range(32, 48), *range(16)]]
)
def test_rows_in_one_stretch_in_groups_and_anywhere(positions: list[int]) -> None:
    for begins_at in (0, 3):
        check(positions, [1, 2], begins_at)


def test_only_neighbours_in_ascending_order_are_a_stretch() -> None:
    assert stretch(np.array([3, 4, 5])) == slice(3, 6)
    assert isinstance(stretch(np.array([3, 5])), np.ndarray)
    assert isinstance(stretch(np.array([5, 4])), np.ndarray)
    assert isinstance(stretch(np.array([], np.intp)), np.ndarray)
