"""What is written can be read, and the truth stands beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.other_physics.episode import Episode, make_episode
from benchmarks.other_physics.nuisances import ClockStep
from benchmarks.other_physics.plan import EpisodeKind
from benchmarks.other_physics.recording import write_recording
from benchmarks.other_physics.simulate import main, orders

from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.recordings.recording import Recording

SIMULATOR = Path(__file__).parents[2] / "benchmarks" / "other_physics"


@pytest.fixture(scope="module")
def episode() -> Episode:
    return make_episode(EpisodeKind.CADENCE15, 4, 4)


@pytest.fixture(scope="module")
def folder(episode: Episode, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other") / "0001"
    write_recording(episode, folder, 4)
    return folder


def truth_of(folder: Path) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text())
    return truth


def test_a_recording_reads_without_a_complaint(folder: Path, episode: Episode) -> None:
    recording = open_recording(folder)
    absent = [] if "rank" in episode.entities else ["rank.parquet is absent"]
    assert [remark[:22] for remark in recording.remarks] in ([], absent)
    assert recording.job.sampling_seconds == 15.0
    assert len(recording.job.nodes) == episode.plan.job.nodes
    assert len(recording.seconds) > 11 * 60
    assert sum(1 for _ in recording.moments()) > 40


def test_values_are_of_half_width_and_times_in_utc(folder: Path) -> None:
    schema = pq.read_schema(folder / "gpu.parquet")
    assert schema.names[:3] == ["timestamp", "node", "gpu"]
    assert schema.field("timestamp").type == pa.timestamp("us", tz="UTC")
    assert {schema.field(name).type for name in schema.names[3:]} == {pa.float32()}


def test_rows_come_in_the_order_of_time(folder: Path) -> None:
    stamps = pq.read_table(folder / "node.parquet", columns=["timestamp"])["timestamp"].to_numpy()
    assert (stamps[1:] >= stamps[:-1]).all()


def test_the_truth_names_machines_as_the_recording_does(folder: Path, episode: Episode) -> None:
    truth = truth_of(folder)
    (fault,) = truth["faults"]
    names = {node.name for node in open_recording(folder).job.nodes}
    assert truth["healthy"] is False
    assert truth["nodes"] == episode.plan.job.nodes
    assert set(fault["nodes"]) <= names
    onset = episode.plan.start + episode.plan.faults[0].onset
    assert fault["onset"] == pytest.approx(onset, abs=0.01)
    assert fault["group"] is False


def planned(episode: Episode, **changes: Any) -> Episode:
    return replace(episode, plan=replace(episode.plan, **changes))


def rewritten(episode: Episode, tmp_path: Path) -> Recording:
    write_recording(episode, tmp_path / "other", 1)
    return open_recording(tmp_path / "other")


def test_roles_can_be_missing(episode: Episode, tmp_path: Path) -> None:
    recording = rewritten(planned(episode, has_roles=False, lists_ranks=False), tmp_path)
    assert {(node.switch, node.pipeline_stage) for node in recording.job.nodes} == {(None, None)}
    assert recording.job.ranks == ()


def test_a_machine_that_takes_anothers_place_is_told_of(episode: Episode, tmp_path: Path) -> None:
    rewritten(replace(episode, renamed={1: 400.0}), tmp_path)
    table = pq.read_table(tmp_path / "other" / "node.parquet")
    seen = [name for name in table["node"].to_pylist() if name in ("gpu-00-01", "gpu-spare-001")]
    assert seen == sorted(seen)
    assert len(set(seen)) == 2
    lines = (tmp_path / "other" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    (change,) = [one for one in events if one["kind"] == "membership"]
    assert (change["node"], change["by"]) == ("gpu-00-01", "gpu-spare-001")


def test_a_clock_that_is_set_moves_the_times_of_its_node(episode: Episode, tmp_path: Path) -> None:
    nuisances = replace(episode.plan.nuisances, clock_steps=[ClockStep(0, 300.0, 3.0)])
    rewritten(planned(episode, nuisances=nuisances), tmp_path)
    table = pq.read_table(tmp_path / "other" / "node.parquet").to_pandas()
    apart = table[table.node == "gpu-00-00"].timestamp.diff().dt.total_seconds().dropna()
    assert apart.max() > 17.5


@pytest.mark.long
def test_a_command_writes_a_folder_an_episode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--out", str(tmp_path), "--episodes", "2", "--kind", "healthy", "--largest", "3"]
    assert main(asked) == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["0000-healthy", "0001-healthy"]
    assert capsys.readouterr().err.count("healthy;") == 2
    assert truth_of(tmp_path / "0000-healthy")["healthy"] is True


def test_a_mixture_has_every_kind_that_has_a_bar(tmp_path: Path) -> None:
    kinds = {order.kind for order in orders(tmp_path, episodes=40, seed=1)}
    assert kinds == set(EpisodeKind)
    seeds = [order.seed for order in orders(tmp_path, episodes=40, seed=1)]
    assert len(set(seeds)) == 40


def test_the_simulator_knows_nothing_of_the_synthetic_cluster() -> None:
    assert not [one for one in SIMULATOR.glob("*.py") if "paramedic" in one.read_text()]
