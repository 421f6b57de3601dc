"""Rows of one entity as arrays, with names replaced by their places in the recording's lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paramedic.ingest.contract import Entity
from paramedic.ingest.recordings.inspection import Unit
from paramedic.ingest.recordings.parquet_files import reading
from paramedic.ingest.recordings.row_group import Whole, keys_of, values_of


@dataclass(frozen=True, slots=True)
class Rows:
    """Any number of rows; `values` is (metric, row)."""

    seconds: Whole
    arrivals: Whole
    generations: Whole
    nodes: Whole
    indices: Whole
    positions: Whole
    """Where the row stands among all of the entity; the later one wins."""
    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.seconds)

    def taken(self, which: NDArray[np.intp]) -> Rows:
        """Some of the rows, by their places, in this order."""
        return Rows(
            self.seconds[which],
            self.arrivals[which],
            self.generations[which],
            self.nodes[which],
            self.indices[which],
            self.positions[which],
            np.take(self.values, which, axis=1),  # each metric in one piece
        )


def together(parts: Sequence[Rows]) -> Rows:
    """All rows, one part after the other; at least one part."""
    if len(parts) == 1:
        return parts[0]
    return Rows(
        np.concatenate([part.seconds for part in parts]),
        np.concatenate([part.arrivals for part in parts]),
        np.concatenate([part.generations for part in parts]),
        np.concatenate([part.nodes for part in parts]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.values for part in parts], axis=1),
    )


class RowReader:
    """Reads the row groups of one entity."""

    def __init__(
        self,
        entity: Entity,
        metrics: tuple[str, ...],
        node_places: dict[str, int],
        generations: dict[int, int],
        decoded: dict[tuple[Path, int], pa.Table] | None = None,
    ) -> None:
        """`generations`: the first second of each, for files that do not tell.

        `decoded`: row groups that need not be read; each is taken out when it is asked for.
        """
        self._entity = entity
        self._metrics = metrics
        self._node_places = node_places
        self._decoded = {} if decoded is None else decoded
        begun = sorted(generations.items())
        self._numbers = np.array([number for number, _ in begun], np.int64)
        # A generation that began before an older one did has taken its place at once.
        firsts = [first for _, first in begun]
        self._begun = np.minimum.accumulate(np.array(firsts[::-1], np.int64))[::-1]

    def read(self, unit: Unit) -> Rows:
        """The rows of a row group."""
        table = self._decoded.pop((unit.path, unit.number), None) or self._table(unit)
        keys = keys_of(table, self._entity, unit.path, unit.first_row)
        places = np.array([self._node_places[name] for name in keys.nodes], np.int64)
        return Rows(
            seconds=keys.seconds,
            arrivals=keys.arrivals,
            generations=self._of(keys.seconds) if keys.generations is None else keys.generations,
            nodes=places[keys.node_codes],
            indices=keys.indices,
            positions=np.arange(unit.position, unit.position + unit.rows),
            values=values_of(table, self._metrics, self._entity),
        )

    def _table(self, unit: Unit) -> pa.Table:
        wanted = [*unit.columns.keys, *(m for m in unit.columns.metrics if m in self._metrics)]
        with reading(unit.path) as file:
            return file.read_row_group(unit.number, wanted, use_threads=False)

    def _of(self, seconds: Whole) -> Whole:
        """The generation that a second belongs to."""
        if not self._numbers.size:
            return np.zeros_like(seconds)
        at = np.searchsorted(self._begun, seconds, side="right") - 1
        return np.where(at < 0, 0, self._numbers[np.maximum(at, 0)])
