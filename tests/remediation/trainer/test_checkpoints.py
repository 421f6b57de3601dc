"""When a checkpoint is written, and what is said of it."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable
from pathlib import Path

import torch

from paramedic.remediation.trainer.checkpoint_files import CheckpointFolder, write_durably
from paramedic.remediation.trainer.checkpoints import Checkpoints
from paramedic.remediation.trainer.protected_state import ProtectedState


class Bench:
    def __init__(self, folder: CheckpointFolder) -> None:
        self.now = 0.0
        self.reports: list[dict[str, object]] = []
        self.checkpoints = Checkpoints(
            folder, 10.0, lambda: self.now, lambda line: self.reports.append(json.loads(line))
        )
        model = torch.nn.Linear(2, 2)
        self.state = ProtectedState(model, torch.optim.SGD(model.parameters(), lr=0.1), {})

    def boundary(self, now: float, next_step: int) -> None:
        self.now = now
        self.state.progress.next_step = next_step
        self.checkpoints.save_if_due(self.state, 0)
        self.checkpoints.wait(10)


def test_a_checkpoint_is_written_once_an_interval(tmp_path: Path) -> None:
    bench = Bench(CheckpointFolder(tmp_path))
    for now, step in ((9.9, 1), (10.0, 2), (15.0, 3), (20.0, 4)):
        bench.boundary(now, step)
    assert [(one["result"], one["step"]) for one in bench.reports] == [("saved", 1), ("saved", 3)]


def test_a_full_disk_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    full = True

    def write(path: Path, chunks: Iterable[bytes]) -> None:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_durably(path, chunks)

    bench = Bench(CheckpointFolder(tmp_path, write))
    bench.boundary(10, 1)
    full = False
    bench.boundary(20, 2)
    assert [one["result"] for one in bench.reports] == ["failed", "saved"]
    assert "No space left" in str(bench.reports[0]["reason"])


def test_a_loaded_checkpoint_brings_back_weights_step_and_seed(tmp_path: Path) -> None:
    bench = Bench(CheckpointFolder(tmp_path))
    bench.state.progress.job_seed = 42
    weights = [parameter.tolist() for parameter in bench.state.model.parameters()]
    bench.boundary(10, 7)

    other = Bench(CheckpointFolder(tmp_path))
    other.checkpoints.load(other.state, 3)

    assert [parameter.tolist() for parameter in other.state.model.parameters()] == weights
    assert (other.state.progress.next_step, other.state.progress.job_seed) == (7, 42)
    assert other.state.progress.holds_state
    assert other.reports == [
        {
            "type": "checkpoint",
            "generation": 3,
            "step": 6,
            "result": "loaded",
            "reason": f"newest that holds in {tmp_path}",
        }
    ]


def test_a_checkpoint_that_is_passed_over_is_reported(tmp_path: Path) -> None:
    bench = Bench(CheckpointFolder(tmp_path))
    bench.boundary(10, 7)
    (tmp_path / "step-000000000006.state").write_bytes(b"torn")
    bench.reports.clear()
    bench.checkpoints.load(bench.state, 1)
    assert [one["result"] for one in bench.reports] == ["failed"]
    (tmp_path / "step-000000000008.json").write_text("[" * 100_000)
    bench.checkpoints.load(bench.state, 1)
    assert [one["result"] for one in bench.reports] == ["failed"] * 3
