"""The columns of a table that is one block of numbers already, as rows of a recording are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


class BlockColumns(Mapping[str, Sequence[float]]):
    """Metric id to the values of its column, a view of the block like those of a message."""

    __slots__ = ("_places", "block")

    def __init__(self, places: Mapping[str, int], block: NDArray[Any]) -> None:
        """`places`: where in the (metric, row) block each metric is, in the block's order."""
        self._places = places
        self.block = block

    def __getitem__(self, metric: str) -> memoryview[float]:
        return memoryview(self.block[self._places[metric]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
