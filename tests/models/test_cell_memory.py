"""What is remembered follows its row and metric, wherever they go."""

from __future__ import annotations

from enum import IntEnum

from hypothesis import given
from hypothesis import strategies as st

from paramedic.models.cell_memory import CellMemory


class _Field(IntEnum):
    FIRST = 0
    SECOND = 1


_NAMES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6).map(tuple)


@given(st.lists(st.tuples(_NAMES, _NAMES), min_size=1, max_size=5))
def test_a_cell_keeps_its_number_as_long_as_its_row_and_metric_stay(
    arrangements: list[tuple[tuple[str, ...], tuple[str, ...]]],
) -> None:
    memory = CellMemory(len(_Field))
    expected: dict[tuple[str, str], float] = {}
    for step, (rows, metrics) in enumerate(arrangements, start=1):
        memory.arrange(rows, metrics)
        cells = {(m, r) for m in metrics for r in rows}
        expected = {cell: expected.get(cell, 0.0) for cell in cells}
        for at, metric in enumerate(metrics):
            for place, row in enumerate(rows):
                assert memory[_Field.SECOND][at, place] == expected[metric, row]
        memory[_Field.SECOND][:] += step
        expected = {cell: number + step for cell, number in expected.items()}
        assert not memory[_Field.FIRST].any()


def test_a_line_is_the_field_of_the_only_metric() -> None:
    memory = CellMemory(len(_Field))
    memory.arrange(("a", "b"), ("one",))
    memory.line(_Field.FIRST)[:] = 3.0
    assert memory[_Field.FIRST].tolist() == [[3.0, 3.0]]
