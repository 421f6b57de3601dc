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
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def modules_after(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [("--help",), *((verb, "--help") for verb in VERBS)])
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert modules_after(*arguments) & set(HEAVY) == set()


def test_a_refused_call_imports_nothing_heavy() -> None:
    assert modules_after("run", "--port", "many", "--", "true") & set(HEAVY) == set()


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
