"""What psutil says of processes that are there and of one that is not."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from types import ModuleType

import psutil
import pytest

from paramedic.ingest.agent.errors import SampleError
from paramedic.ingest.agent.psutil_sampler import PsutilSampler


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for its input to end."""
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as started:
        yield started
        started.kill()


def system(**answers: object) -> ModuleType:
    """psutil, but for what it says of every process; an answer that is an error is raised."""

    def answering(answer: object) -> object:
        def answer_or_raise(_process: psutil.Process) -> object:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return answer_or_raise

    changed = ModuleType("psutil")
    vars(changed).update(vars(psutil))
    methods = {name: answering(answer) for name, answer in answers.items()}
    vars(changed)["Process"] = type("Process", (psutil.Process,), methods)
    return changed


def test_this_process_is_read_as_the_root_of_its_tree() -> None:
    reading = PsutilSampler().read(os.getpid(), 0.0)
    assert reading is not None
    root = reading.members[0]
    assert root.process_id == os.getpid()
    assert root.cpu_seconds > 0
    assert root.resident_bytes > 1_000_000
    assert not root.is_stopped


def test_the_machine_has_the_processors_that_may_be_used() -> None:
    machine = PsutilSampler().machine()
    assert machine.cpus == len(os.sched_getaffinity(0))
    assert machine.memory_bytes > 100_000_000


def test_a_process_that_never_was_is_gone() -> None:
    assert PsutilSampler().read(2**22 + 1, 0.0) is None


def test_descendants_are_looked_for_every_few_seconds() -> None:
    sampler = PsutilSampler()
    sampler.read(os.getpid(), 0.0)
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as child:
        soon, later = (members(sampler, seconds) for seconds in (1.0, 6.0))
        child.communicate(timeout=10)
    assert child.pid not in soon
    assert child.pid in later
    assert child.pid not in members(sampler, 7.0)


def members(sampler: PsutilSampler, now_seconds: float) -> set[int]:
    reading = sampler.read(os.getpid(), now_seconds)
    assert reading is not None
    return {member.process_id for member in reading.members}


def test_a_zombie_is_gone_as_a_worker_and_as_a_child(child: subprocess.Popen[bytes]) -> None:
    sampler = PsutilSampler()
    assert child.pid in members(sampler, 0.0)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    assert sampler.read(child.pid, 1.0) is None
    assert child.pid not in members(sampler, 1.0)
    assert child.pid not in members(sampler, 6.0), "it is still found as a child, and left out"


def test_a_stopped_process_is_told_from_one_that_waits(child: subprocess.Popen[bytes]) -> None:
    states = []
    for number in (signal.SIGSTOP, signal.SIGCONT):
        child.send_signal(number)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WCONTINUED)
        reading = PsutilSampler().read(child.pid, 0.0)
        assert reading is not None
        states.append(reading.members[0].is_stopped)
    assert states == [True, False]


@pytest.mark.parametrize(
    "error",
    [
        psutil.AccessDenied(1),
        RuntimeError("/proc/1/io file was empty"),
        ValueError("field was not found"),
        AttributeError("no such method on this kernel"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_disk_counters_that_cannot_be_read_cost_nothing_else(error: Exception) -> None:
    reading = PsutilSampler(system(io_counters=error)).read(os.getpid(), 0.0)
    assert reading is not None
    (disk_bytes,) = {member.disk_bytes for member in reading.members}
    assert disk_bytes is None
    assert reading.members[0].cpu_seconds > 0


@pytest.mark.parametrize(
    "error",
    [psutil.AccessDenied(1), NotImplementedError("no such fields"), OSError("odd"), ValueError()],
    ids=lambda error: type(error).__name__,
)
def test_whatever_else_fails_is_the_failure_of_that_sample_and_not_of_the_agent(
    error: Exception,
) -> None:
    with pytest.raises(SampleError, match=f"process {os.getpid()}: psutil failed"):
        PsutilSampler(system(num_ctx_switches=error)).read(os.getpid(), 0.0)


def test_a_process_that_ends_while_it_is_read_is_gone() -> None:
    sampler = PsutilSampler(system(num_ctx_switches=psutil.NoSuchProcess(1)))
    assert sampler.read(os.getpid(), 0.0) is None
