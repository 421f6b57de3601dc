"""Where the rows of a table lie in a slot, worked out once: in one stretch, by node, or anywhere.

A window's rows are sorted by node and index, so the GPUs of a node are neighbours, while the nodes
of one message may lie far apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from paramedic.ingest.windows.slot_array import Numbers

ROW_ROOM_MULTIPLE = 16
"""The room for rows is a multiple of this, so that rows can be moved in groups of 2, 4, 8 or 16."""
_GROUPS = (16, 8, 4, 2)


class RowPlaces:
    """Positions of rows, in the order in which a block has them."""

    def __init__(self, positions: NDArray[np.intp]) -> None:
        self.positions = positions
        self._group = _group_of(positions)
        self._groups = positions[:: self._group] // self._group
        self.where = stretch(positions)
        """For rows one by one."""

    def put(
        self,
        values: NDArray[Numbers],
        lines: NDArray[np.intp] | slice,
        block: NDArray[np.floating[Any]],
    ) -> None:
        """Write a (metric, row) block of the same type into these lines of a slot.

        The block may begin at an odd byte.
        """
        if isinstance(lines, slice) and isinstance(self.where, slice):
            values[lines, self.where] = block
        elif self._group > 1 and block.strides[1] == block.itemsize:
            # Groups are bytes to NumPy, which moves them whole and does not mind where they begin.
            group = np.dtype((np.void, self._group * values.itemsize))
            self._put(values.view(group), lines, self._groups, block.view(group))
        else:
            self._put(values, lines, self.where, np.require(block, requirements="A"))

    def _put(
        self,
        values: NDArray[Any],
        lines: NDArray[np.intp] | slice,
        where: NDArray[np.intp] | slice,
        block: NDArray[Any],
    ) -> None:
        if isinstance(lines, slice):
            values[lines, where] = block
            return
        for line, numbers in zip(lines.tolist(), block, strict=True):
            values[line][where] = numbers


def stretch(numbers: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """The same positions as a slice, where they are neighbours in ascending order."""
    if numbers.size and bool((np.diff(numbers) == 1).all()):
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


def _group_of(positions: NDArray[np.intp]) -> int:
    """The largest size by which the positions fall into groups of neighbours; 1 if in none."""
    for size in _GROUPS:
        if positions.size and positions.size % size == 0:
            groups = positions.reshape(-1, size)
            begins = groups[:, :1]
            if not (begins % size).any() and bool((groups == begins + np.arange(size)).all()):
                return size
    return 1
