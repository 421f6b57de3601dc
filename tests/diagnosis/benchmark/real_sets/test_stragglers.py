"""Straggler traces: a slow worker is named in every window; uneven work names nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.diagnosis.benchmark.real_sets import stragglers
from paramedic.diagnosis.benchmark.real_sets.errors import RealSetAbsentError, RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.straggler_reading import (
    StragglerTrace,
    Worker,
    read_trace,
)

SLOW = Worker(stage=0, data_rank=0)


def write_trace(folder: Path, name: str, seconds: np.ndarray, stages: int) -> None:
    """Write a trace in which every worker computes so long (step, worker), in two operations."""
    rows = [
        {"dp_rank": worker // stages, "stage": worker % stages, "rank": worker, "step": 16 + step,
         "optype": kind, "start_ts": 0.0, "duration": share * float(seconds[step, worker])}
        for step in range(seconds.shape[0])
        for worker in range(seconds.shape[1])
        for kind, share in (("forward-compute", 0.4), ("backward-compute", 0.6), ("gc", 9.0))
    ]  # fmt: skip
    path = folder / "bytedance_straggler"
    path.mkdir(exist_ok=True)
    table = pa.Table.from_pylist(rows)
    encoded = table["optype"].dictionary_encode()
    table = table.set_column(table.column_names.index("optype"), "optype", encoded)
    pq.write_table(table, path / f"trace-{name}.parquet")


def seconds_of(
    seed: int, *, slowdown: float = 0.0, unevenness: float = 0.01, workers: int = 8
) -> np.ndarray:
    """Two stages, the last with 60 % more to do; worker 0 is slower by a share."""
    random = np.random.default_rng(seed)
    work = np.where(np.arange(workers) % 2, 1.6, 1.0)
    found = np.asarray(work * (1 + unevenness * random.normal(size=(16, workers))))
    found[:, 0] *= 1 + slowdown
    return found


def trace_of(seconds: np.ndarray, stages: int = 2) -> StragglerTrace:
    workers = tuple(Worker(at % stages, at // stages) for at in range(seconds.shape[1]))
    return StragglerTrace("made-up", workers, tuple(range(len(seconds))), seconds)


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), slowdown=st.floats(0.15, 3.0))
def test_a_slow_worker_is_named_alone(seed: int, slowdown: float) -> None:
    assert stragglers.slow_workers(trace_of(seconds_of(seed, slowdown=slowdown)), 0) == {SLOW}


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), unevenness=st.floats(0, 0.25))
def test_uneven_work_and_a_heavy_stage_name_nobody(seed: int, unevenness: float) -> None:
    trace = trace_of(seconds_of(seed, unevenness=unevenness, workers=16))
    assert not stragglers.slow_workers(trace, 0)


def test_one_slow_step_is_no_straggler() -> None:
    seconds = seconds_of(1)
    seconds[3, 0] *= 8
    assert not stragglers.slow_workers(trace_of(seconds), 0)


def test_of_two_workers_nobody_can_say_which_is_slow() -> None:
    assert not stragglers.slow_workers(trace_of(seconds_of(1, slowdown=1.0, workers=4)), 0)


def test_all_windows_of_ten_steps_are_judged() -> None:
    trace = trace_of(seconds_of(2, slowdown=1.0))
    assert stragglers.windows_as_expected(trace, frozenset({SLOW})) == (7, 7)
    assert stragglers.windows_as_expected(trace, frozenset()) == (0, 7)


def test_three_jobs_make_a_row(tmp_path: Path) -> None:
    write_trace(tmp_path, "AR", seconds_of(1, slowdown=1.3), 2)
    write_trace(tmp_path, "SE", seconds_of(2, unevenness=0.15), 2)
    write_trace(tmp_path, "ST", seconds_of(3, workers=4), 2)
    row = stragglers.evaluate(tmp_path)
    assert row.holds
    assert row.to_json()["ar_windows"] == 7
    assert "holds" in row.line()
    write_trace(tmp_path, "SE", seconds_of(2, slowdown=1.3), 2)
    assert "DOES NOT HOLD" in stragglers.evaluate(tmp_path).line()


def test_only_a_workers_own_work_is_counted(tmp_path: Path) -> None:
    seconds = seconds_of(4)
    write_trace(tmp_path, "AR", seconds, 2)
    trace = read_trace(tmp_path / "bytedance_straggler", "AR")
    assert trace.workers[:2] == (Worker(0, 0), Worker(0, 1))
    np.testing.assert_allclose(trace.compute_seconds[:, 0], seconds[:, 0])
    assert trace.steps == tuple(range(16, 32))


def test_a_trace_that_is_absent_or_of_another_form_is_told(tmp_path: Path) -> None:
    with pytest.raises(RealSetAbsentError, match="trace-AR"):
        stragglers.evaluate(tmp_path)
    (tmp_path / "trace-AR.parquet").write_text("no parquet")
    with pytest.raises(RealSetFormatError, match="trace-AR"):
        read_trace(tmp_path, "AR")
    pq.write_table(pa.table({"stage": [1]}), tmp_path / "trace-AR.parquet")
    with pytest.raises(RealSetFormatError, match="dp_rank"):
        read_trace(tmp_path, "AR")
