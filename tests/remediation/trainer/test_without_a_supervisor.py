"""The same script runs where nobody supervises it, and says clearly when it cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from paramedic.remediation.trainer.environment import read_environment
from paramedic.remediation.trainer.errors import GenerationBrokenError, SetupError
from paramedic.remediation.trainer.failures import is_collective_failure
from paramedic.remediation.trainer.interruption import Interruption
from paramedic.remediation.trainer.session import join
from paramedic.remediation.trainer.unsupervised import UnsupervisedSession

_EXAMPLES = Path(__file__).parents[3] / "examples"
_SUPERVISED = {
    "PARAMEDIC_CONTROL_SOCKET": "/nowhere/control.sock",
    "PARAMEDIC_JOB": "j",
    "PARAMEDIC_NODE": "n",
}


def test_without_a_supervisor_there_is_nothing_to_read() -> None:
    assert read_environment({"RANK": "0"}) is None


def test_the_environment_is_read() -> None:
    worker = read_environment(_SUPERVISED | {"PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": "2.5"})
    assert worker is not None
    assert (worker.job, worker.node, worker.checkpoint_interval_seconds) == ("j", "n", 2.5)
    assert worker.telemetry_socket is None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"PARAMEDIC_JOB": ""}, "PARAMEDIC_JOB is not set"),
        ({"PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": "often"}, "'often' is not a number"),
        ({"PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": "0"}, "must be above 0"),
        ({"PARAMEDIC_CHECKPOINT_INTERVAL_SECONDS": "nan"}, "must be above 0"),
    ],
)
def test_a_contradiction_in_the_environment_is_named(
    changes: dict[str, str], complaint: str
) -> None:
    with pytest.raises(SetupError, match=complaint):
        read_environment(_SUPERVISED | changes)


def test_another_backend_is_refused_under_a_supervisor() -> None:
    with pytest.raises(SetupError, match="only 'gloo' can be supervised"):
        join("nccl", _SUPERVISED)


def test_a_missing_supervisor_is_named_with_its_socket() -> None:
    with pytest.raises(
        SetupError, match="no supervisor listens at PARAMEDIC_CONTROL_SOCKET=/nowhere"
    ):
        join("gloo", _SUPERVISED)


def test_steps_and_attempts_are_plain() -> None:
    job = UnsupervisedSession()
    model = torch.nn.Linear(1, 1)
    job.protect(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    assert [job.attempt(lambda step: step * 2)(step) for step in job.steps(3)] == [0, 2, 4]


def test_any_error_in_an_ended_generation_is_worth_another_try() -> None:
    interruption = Interruption(0)
    error = RuntimeError("grad can be implicitly created only for scalar outputs")
    assert not is_collective_failure(error, interruption)
    interruption.press("over")
    assert is_collective_failure(error, interruption)


@pytest.mark.parametrize(
    "error",
    [
        GenerationBrokenError("x"),
        dist.DistBackendError("x"),
        RuntimeError(
            "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed"
        ),
    ],
)
def test_errors_of_communication_are_worth_another_try(error: RuntimeError) -> None:
    assert is_collective_failure(error, Interruption(0))


def test_five_lines_make_the_plain_example_recoverable() -> None:
    plain = (_EXAMPLES / "train_plain.py").read_text().splitlines()
    recoverable = (_EXAMPLES / "train.py").read_text().splitlines()
    changed = [line for line in recoverable if line not in plain]
    assert len(changed) == 5
    assert len(recoverable) - len(plain) == 3
