"""Jobs of real processes for the connected tests."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from remediation.trainer.scripted_supervisor import ScriptedSupervisor, supervise

_SCRIPT = Path(__file__).with_name("tiny_training.py")


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    """Threads of torch that wait for each other are slow on a machine that is busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the tiny script, and what its ranks said at the end."""

    supervisor: ScriptedSupervisor
    out: Path

    def digests(self) -> dict[int, str]:
        """Rank to the digest of its final parameters, optimizer and scheduler."""
        told = [json.loads(path.read_text()) for path in self.out.glob("*.json")]
        return {one["rank"]: one["digest"] for one in told}

    def train_to_the_end(self) -> dict[int, str]:
        self.supervisor.run_until(self.supervisor.is_finished)
        return self.digests()

    def recover(self) -> float:
        """Wait until a newer generation trains; seconds until its last rank had committed."""
        supervisor = self.supervisor
        return max(one.at for one in supervisor.said("committed", generation=supervisor.generation))


StartJob = Callable[..., contextlib.AbstractContextManager[Job]]


@pytest.fixture
def start_job(tmp_path: Path) -> StartJob:
    """Starts a job of the tiny script; arguments become its options and variables."""

    @contextlib.contextmanager
    def start(*options: str, ranks: int = 3, spares: int = 1, **variables: str) -> Iterator[Job]:
        number = len(list(tmp_path.iterdir()))
        folder = tmp_path / f"job-{number}"
        out = folder / "out"
        out.mkdir(parents=True)
        command = [str(_SCRIPT), "--out", str(out), *options]
        with supervise(command, folder, ranks, spares, **variables) as supervisor:
            yield Job(supervisor, out)

    return start
