"""`paramedic simulate`: mistakes in one line, recordings, and what other programs are told."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.wiring.errors import OutputError, PreflightError
from paramedic.api.wiring.simulate import (
    ClusterWanted,
    FaultWanted,
    Serving,
    record,
    serve_until,
    what_is_left_told,
)
from paramedic.ingest.recordings.errors import RecordingWriteError
from paramedic.ingest.recordings.reading import open_recording
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.faults.catalogue import FAULTS
from paramedic.ingest.synthetic.recording import record as record_cluster

TINY = ("--nodes", "2", "--gpus", "2")
HURT = ("--fault", "tensor_loss", "--fault-node", "node-0002", "--fault-gpu", "1")


def told(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["simulate", *arguments], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--serve --record"),
        (["--serve", "--record", "x"], "not allowed with"),
        (["--record", "x", "--seconds", "0"], "--seconds 0"),
        (["--record", "x", "--already-running", "-1"], "--already-running -1"),
        (["--record", "x", "--fault", "tensor_loss"], "--fault-node"),
        (["--record", "x", "--fault", "gremlins", "--fault-node", "node-0001"], "known are"),
        (["--record", "x", "--fault", "gremlins"], "--fault 'gremlins': there is none; known are"),
        (["--serve", "--fault", "gremlins"], "straggler, network_group"),
        (["--record", "x", *TINY, *HURT[:4], "--fault-gpu", "9"], "GPUs are 0 to 1"),
        (["--record", "x", "--nodes", "0"], "nodes = 0"),
        (["--record", "x", "--nodes", "3", "--stages", "2"], "must divide"),
        (["--record", "x", "--seed", "-1"], "seed = -1"),
        (["--record", "x", "--write-hosts", "h"], "--write-hosts goes with --serve"),
        (["--record", "x", "--port", "0", "--dialect", "si"], "--dialect and --port go with"),
        (["--record", "x", "--job-labels", "none"], "--job-labels goes with --serve"),
        (["--record", "x", "--fault-node", "node-0001"], "--fault-node goes with --fault"),
        (["--serve", "--fault-at", "0"], "--fault-at goes with --fault"),
        (["--record", "x", *HURT, "--fault-at", "600"], "--fault-at 600: only 600 s are seen"),
        (["--serve", *HURT, "--seconds", "9", "--fault-at", "9"], "only 9 s are seen"),
        (["--record", "x", "--nodes", "9999999"], "79999992: must be at most 100000"),
        (["--record", "x", "--job", "../../x"], "--job '../../x': use letters, digits"),
        (["--serve", "--job", ""], "--job '': use letters, digits"),
        (["--serve", "--speed", "0"], "--speed 0"),
        (["--serve", "--dialect", "klingon"], "klingon"),
        (["--record", ""], "empty"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    code, output, errors = told(arguments, tmp_path)
    assert (code, output) == (2, "")
    assert errors.count("\n") == 1
    assert words in errors


def test_help_lists_every_kind_of_fault(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        told(["--help"], tmp_path)
    shown = " ".join(capsys.readouterr().out.split())
    for name, kind in FAULTS.items():
        assert f"{name} {kind.summary}" in shown


def test_a_recording_is_made_with_labels_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "recordings" / "a"
    code, output, errors = told(
        ["--record", str(folder), *TINY, *HURT, "--fault-at", "3", "--fault-seconds", "4",
         "--seconds", "6", "--already-running", "20", "--seed", "5"], tmp_path,
    )  # fmt: skip
    assert code == 0
    labels = folder.parent / "a.labels.json"
    assert json.loads(output) == {
        "job": "synthetic", "recording": str(folder), "labels": str(labels), "seconds": 6
    }  # fmt: skip
    assert "6 of 6 s recorded" in errors
    (fault,) = json.loads(labels.read_text())["faults"]
    assert (fault["onset"], fault["end"]) == ("2026-01-01T00:00:23Z", "2026-01-01T00:00:27Z")
    assert (fault["node"], fault["gpu"]) == ("node-0002", 1)
    assert (folder / "gpu.parquet").is_file()


def test_a_second_recording_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    arguments = ["--record", str(tmp_path / "a"), *TINY, "--seconds", "1"]
    assert told([*arguments, "--labels", str(tmp_path / "1.json")], tmp_path)[0] == 0
    code, _output, errors = told([*arguments, "--labels", str(tmp_path / "2.json")], tmp_path)
    assert code == 2
    assert "holds a recording already" in errors


def test_a_second_recording_beside_the_first_has_labels_of_its_own(tmp_path: Path) -> None:
    arguments = [*TINY, "--seconds", "1", "--record"]
    for name in "ab":
        assert told([*arguments, str(tmp_path / name)], tmp_path)[0] == 0
        labels = json.loads((tmp_path / f"{name}.labels.json").read_text())
        assert labels["recording"] == name


def test_labels_that_are_there_are_told_of_before_anything_else(tmp_path: Path) -> None:
    (tmp_path / "a.labels.json").write_text("{}")
    arguments = [*TINY, "--seconds", "1", "--record", str(tmp_path / "a")]
    code, output, errors = told(arguments, tmp_path)
    assert (code, output) == (2, "")
    assert errors == (
        f"paramedic: {tmp_path}/a.labels.json exists, and labels are never written over: remove it,"
        " or name another file with --labels FILE\n"
    )
    assert not (tmp_path / "a").exists()


def test_a_folder_that_is_no_utf_8_can_be_recorded_into(tmp_path: Path) -> None:
    folder = str(tmp_path / os.fsdecode(b"r\xff"))
    code, output, _errors = told([*TINY, "--seconds", "2", "--record", folder], tmp_path)
    assert code == 0
    assert json.loads(output)["recording"] == folder


class Impatient(io.StringIO):
    """Presses Ctrl-C, twice, as soon as it is told that the recording begins."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if "of 2 nodes" in text:
            for _ in "ab":
                signal.raise_signal(signal.SIGINT)
        return written


def test_whoever_interrupts_learns_that_the_recording_is_partial(tmp_path: Path) -> None:
    err, wanted = Impatient(), ClusterWanted(nodes=2, gpus=2, stages=1)
    with pytest.raises(KeyboardInterrupt):
        record(wanted, tmp_path / "r", tmp_path / "l.json", 9, io.StringIO(), err)
    assert err.getvalue().splitlines()[-1] == (
        f"paramedic: {tmp_path}/r is a partial recording, broken off after 1 of 9 s; replay reads"
        f" what is there; to record all of it, remove it and {tmp_path}/l.json first"
    )
    assert len(open_recording(tmp_path / "r").seconds) == 1


def test_on_a_full_disk_it_is_said_what_is_left_and_what_helps(tmp_path: Path) -> None:
    def full(_done: int) -> None:
        raise RecordingWriteError("r cannot be written: full", "make room")

    folder, labels = tmp_path / "r", tmp_path / "l.json"
    with pytest.raises(OutputError) as refused, what_is_left_told(folder, labels):
        record_cluster(SyntheticCluster(ClusterWanted(nodes=2, gpus=2, stages=1).config()),
                       folder, labels, 2, progress=full)  # fmt: skip
    assert str(refused.value) == (
        f"r cannot be written: full: make room; what was written is left in {folder} and {labels}:"
        " remove it before the next try"
    )
    labels.unlink()
    shutil.rmtree(folder)
    with pytest.raises(RecordingWriteError), what_is_left_told(folder, labels):
        full(0)


def test_labels_that_cannot_be_written_leave_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    arguments = ["--record", str(tmp_path / "q1"), *TINY, "--seconds", "1", "--labels"]
    for place, why in (("nodir", "No such file or directory"), ("file", "Not a directory")):
        code, output, errors = told([*arguments, str(tmp_path / place / "l.json")], tmp_path)
        assert (code, output, errors.count("\n")) == (2, "", 1)
        assert f"{place}/l.json cannot be written ({why}): name another file" in errors
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert told([*arguments, str(tmp_path / "q1" / "l.json")], tmp_path)[0] == 0, "it is made"


def test_flags_outrank_the_preset_and_the_rest_is_the_preset_s() -> None:
    config = ClusterWanted(preset="large", nodes=64, seed=3, job="llama").config(first_second=7)
    assert (config.shape.nodes, config.shape.stages, config.shape.expert_groups) == (64, 8, 4)
    assert (config.seed, config.job, config.first_second) == (3, "llama", 7)


def test_the_fault_s_second_counts_from_the_first_that_is_seen() -> None:
    fault = FaultWanted("tensor_loss", "node-0001", at_second=30)
    config = ClusterWanted(age_seconds=120, fault=fault).config()
    assert (config.faults[0].onset, config.faults[0].end) == (150, None)


def test_undisturbed_means_calm_and_seen_without_error() -> None:
    config = ClusterWanted(undisturbed=True).config()
    assert config == config.undisturbed()
    assert config != ClusterWanted().config()


def served(how: Serving, stop: threading.Event, out: io.StringIO) -> None:
    wanted = ClusterWanted(nodes=2, gpus=2, stages=1)
    asyncio.run(serve_until(wanted, how, out, io.StringIO(), stop, lambda: 1.8e9))


@pytest.mark.connected
def test_serving_tells_where_the_pages_are_and_ends_when_asked(tmp_path: Path) -> None:
    stop, out = threading.Event(), io.StringIO()
    stop.set()
    files = tmp_path / "prometheus.yml", tmp_path / "hosts.txt"
    served(Serving(port=0, prometheus_file=files[0], hosts_file=files[1]), stop, out)
    pages = json.loads(out.getvalue())["pages"]
    assert [page["node"] for page in pages] == ["node-0001", "node-0002"]
    assert pages[0]["dcgm"] in files[1].read_text()
    assert "/node-0002/node/metrics" in files[0].read_text()


@pytest.mark.connected
def test_a_file_that_cannot_be_written_ends_the_serving(tmp_path: Path) -> None:
    how = Serving(port=0, hosts_file=tmp_path / "nowhere" / "hosts.txt")
    with pytest.raises(PreflightError, match=r"hosts\.txt cannot be written"):
        served(how, threading.Event(), io.StringIO())
