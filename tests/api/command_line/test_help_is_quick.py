"""`paramedic --help` answers at once: it imports nothing but the standard library and contracts."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

from paramedic.api.command_line.parser import VERBS

HEAVY = (
    "torch",
    "numpy",
    "fastapi",
    "pydantic",
    "sqlalchemy",
    "kafka",
    "rich",
    "psutil",
    "pyarrow",
    "uvicorn",
)
PROBE = """
import json, sys
from paramedic.api.command_line.main import main
for call in json.loads(sys.argv[1]):
    try:
        main(call)
    except SystemExit:
        pass
    modules = sorted({name.partition(".")[0] for name in sys.modules})
    print("MODULES " + json.dumps([call, modules]))
"""
CALLS = [
    ["--help"],
    ["run", "--port", "many", "--", "true"],  # refused
    *([verb, "--help"] for verb in VERBS),
]


def test_neither_help_nor_a_refused_call_imports_anything_heavy() -> None:
    """All in one process: the first call that imports something is the one that is told."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(CALLS)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("MODULES ")]
    assert len(told) == len(CALLS)
    for line in told:
        call, modules = json.loads(line.removeprefix("MODULES "))
        assert set(modules) & set(HEAVY) == set(), call


@pytest.mark.long
def test_help_answers_within_a_blink() -> None:
    # Processor time, so that a busy machine does not fail the test; the best of five.
    assert min(processor_seconds_of_help() for _ in range(5)) < 0.15


def processor_seconds_of_help() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "paramedic.api.command_line", "--help"],
        stdout=subprocess.DEVNULL,
        timeout=60,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
