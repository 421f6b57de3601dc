"""Who works for a process that is killed does not go on for nobody."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PARENT = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
from paramedic.diagnosis.benchmark.orphans import end_with_parent

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context, end_with_parent) as pool:
        print(*{task.result() for task in [pool.submit(os.getpid) for _ in range(20)]}, flush=True)
        pool.submit(time.sleep, 600)
        time.sleep(600)
"""


@pytest.mark.long
def test_the_workers_of_a_killed_process_end_even_in_the_middle_of_something(
    tmp_path: Path,
) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert len(parent.stdout.readline().split()) >= 1
        parent.kill()
        # The pipe ends when the last process that holds it does.
        assert parent.stdout.read() == ""
