"""The synthetic cluster as a recording, with its labels beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ingest.synthetic.clusters import configured
from paramedic.ingest.contract import NodeName
from paramedic.ingest.recordings.errors import RecordingExistsError, RecordingWriteError
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import Observation
from paramedic.ingest.synthetic.faults.catalogue import FAULTS
from paramedic.ingest.synthetic.faults.plan import FaultPlan
from paramedic.ingest.synthetic.recording import record

FAULT = FaultPlan("tensor_loss", NodeName("node-0002"), 1, onset=15)
CONFIG = configured(nodes=2, gpus=2, faults=(FAULT,))


def test_the_recording_holds_what_the_cluster_said(tmp_path: Path) -> None:
    done: list[int] = []
    cluster = SyntheticCluster(CONFIG)
    record(cluster, tmp_path / "r", tmp_path / "labels.json", 5, first=10, progress=done.append)
    assert done == [1, 2, 3, 4, 5]
    table = pq.read_table(tmp_path / "r/gpu.parquet")
    assert table.num_rows == 5 * 4
    watts = np.array(table["gpu_power_watts"]).reshape(5, 2, 2)
    for at, second in enumerate(cluster.seconds(10, 5)):
        assert np.array_equal(watts[at], second.gpu["gpu_power_watts"].astype(np.float32))
    assert table["timestamp"][0].as_py().timestamp() == CONFIG.first_second + 10
    assert pq.read_table(tmp_path / "r/rank.parquet")["rank"].to_pylist() == [0, 1, 2, 3] * 5
    nodes = pq.read_table(tmp_path / "r/node.parquet")
    assert nodes["node"].to_pylist() == ["node-0001", "node-0002"] * 5


def test_labels_lie_beside_the_recording_and_not_in_it(tmp_path: Path) -> None:
    record(SyntheticCluster(CONFIG), tmp_path / "r", tmp_path / "labels.json", 2)
    labels = json.loads((tmp_path / "labels.json").read_text())
    assert labels["recording"] == "r"
    assert [fault["kind"] for fault in labels["faults"]] == ["tensor_loss"]
    inside = b"".join(file.read_bytes() for file in (tmp_path / "r").iterdir())
    assert b"tensor_loss" not in inside


@pytest.mark.parametrize("kind", FAULTS)
def test_any_fault_of_the_catalogue_can_be_recorded(tmp_path: Path, kind: str) -> None:
    fault = replace(FAULT, kind=kind, onset=4)
    cluster = SyntheticCluster(replace(CONFIG, faults=(fault,)))
    record(cluster, tmp_path / "r", tmp_path / "labels.json", 4, first=3)
    (label,) = json.loads((tmp_path / "labels.json").read_text())["faults"]
    assert (label["kind"], label["onset"]) == (kind, "2026-01-01T00:00:04Z")
    known = {**FAULTS[kind].effects, **FAULTS[kind].flags}
    assert label["effects"]
    assert set(label["effects"]) <= set(known)


def test_events_begin_with_the_job_and_its_members(tmp_path: Path) -> None:
    record(SyntheticCluster(CONFIG), tmp_path / "r", tmp_path / "labels.json", 8)
    lines = (tmp_path / "r/events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["kind"] for event in events[:5]] == ["job_state"] + ["membership"] * 4
    assert events[5]["state"] == "warming_up"


def test_late_samples_carry_when_they_arrived(tmp_path: Path) -> None:
    late = replace(Observation.perfect(), arrival_seconds=0.1, late_ratio=0.5)
    cluster = SyntheticCluster(replace(CONFIG, observation=late))
    record(cluster, tmp_path / "r", tmp_path / "labels.json", 10)
    table = pq.read_table(tmp_path / "r/node.parquet")
    delays = [
        (arrived - stamp).total_seconds()
        for arrived, stamp in zip(
            table["arrived"].to_pylist(), table["timestamp"].to_pylist(), strict=True
        )
    ]
    assert min(delays) > 1.0
    assert 2 <= sum(delay > 2.0 for delay in delays) <= 18


def test_neither_labels_nor_recordings_are_written_over(tmp_path: Path) -> None:
    cluster = SyntheticCluster(CONFIG)
    record(cluster, tmp_path / "r", tmp_path / "a.json", 1)
    with pytest.raises(RecordingExistsError, match="r holds a recording"):
        record(cluster, tmp_path / "r", tmp_path / "b.json", 1)
    assert not (tmp_path / "b.json").exists()
    with pytest.raises(RecordingExistsError, match="another file for the labels"):
        record(cluster, tmp_path / "s", tmp_path / "a.json", 1)
    assert not (tmp_path / "s").exists()


def test_labels_that_cannot_be_written_are_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingWriteError, match=r"nowhere/labels\.json cannot be written"):
        record(SyntheticCluster(CONFIG), tmp_path / "r", tmp_path / "nowhere/labels.json", 1)


def test_a_recording_that_is_ended_early_ends_with_a_whole_second(tmp_path: Path) -> None:
    done: list[int] = []
    record(SyntheticCluster(CONFIG), tmp_path / "r", tmp_path / "l.json", 9,
           progress=done.append, is_over=lambda: len(done) == 3)  # fmt: skip
    for entity in ("gpu", "node", "rank"):
        times = pq.read_table(tmp_path / f"r/{entity}.parquet")["timestamp"].to_pylist()
        assert times[-1].timestamp() == CONFIG.first_second + 2
