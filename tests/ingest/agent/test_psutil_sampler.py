"""What psutil says of processes that are there and of one that is not."""

from __future__ import annotations

import os
import subprocess
import sys

from paramedic.ingest.agent.psutil_sampler import PsutilSampler


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
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        soon, later = (sampler.read(os.getpid(), seconds) for seconds in (1.0, 6.0))
        child.communicate(b"\n", timeout=10)
    assert soon is not None
    assert later is not None
    assert child.pid not in {member.process_id for member in soon.members}
    assert child.pid in {member.process_id for member in later.members}
    after = sampler.read(os.getpid(), 7.0)
    assert after is not None
    assert child.pid not in {member.process_id for member in after.members}
