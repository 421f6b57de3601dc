"""Reads the straggler traces of ByteDance (StragglerAnalysis, Apache-2.0): one row an operation.

A worker is a data rank of a pipeline stage. What it computes in a step is its own; all other
operations wait for somebody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.diagnosis.benchmark.real_sets.errors import RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.location import present

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

OWN_WORK = ("forward-compute", "backward-compute")
_COLUMNS = ["dp_rank", "stage", "step", "optype", "duration"]


@dataclass(frozen=True, slots=True, order=True)
class Worker:
    """Who computes."""

    stage: int
    data_rank: int


@dataclass(frozen=True, slots=True)
class StragglerTrace:
    """What each worker computed in each step, in seconds."""

    name: str
    workers: tuple[Worker, ...]
    steps: tuple[int, ...]
    compute_seconds: NDArray[np.float64]
    """(step, worker); NaN where nothing was recorded."""


def read_trace(folder: Path, name: str) -> StragglerTrace:
    """The trace of one job, such as `AR`. Raises RealSetError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = present(folder / f"trace-{name}.parquet")
    try:
        table = pq.read_table(path, columns=_COLUMNS)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise RealSetFormatError(f"{path} cannot be read: {error}") from error
    if table.num_columns < len(_COLUMNS):
        missing = sorted(set(_COLUMNS) - set(table.column_names))
        raise RealSetFormatError(f"{path} has no column {', '.join(missing)}")
    try:
        return _trace(name, table)
    except (TypeError, ValueError) as error:
        types = ", ".join(f"{field.name}: {field.type}" for field in table.schema)
        raise RealSetFormatError(
            f"{path} has a column that holds no numbers, or gaps ({types}): {error}"
        ) from error


def _trace(name: str, table: Any) -> StragglerTrace:
    is_own = np.isin(np.array(table["optype"].to_pylist(), object), OWN_WORK)
    stage, data_rank, step = (
        table[column].to_numpy().astype(np.int64)[is_own] for column in ("stage", "dp_rank", "step")
    )
    durations = table["duration"].to_numpy().astype(np.float64)[is_own]
    pairs, worker_of = np.unique(np.stack([stage, data_rank]), axis=1, return_inverse=True)
    steps, step_of = np.unique(step, return_inverse=True)
    seconds = np.zeros((steps.size, pairs.shape[1]))
    np.add.at(seconds, (step_of.ravel(), worker_of.ravel()), durations)
    workers = tuple(Worker(*pair) for pair in pairs.T.tolist())
    return StragglerTrace(
        name, workers, tuple(steps.tolist()), np.where(seconds > 0, seconds, np.nan)
    )
