"""A broker that comes back empty is told what holds, and gets what was collected meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.connected
def test_a_broker_that_comes_back_empty_is_told_everything_and_misses_no_second(
    tmp_path: Path,
) -> None:
    # In a process of its own: for every attempt at a broker that is gone the library leaves an
    # unclosed socket to the garbage collector, which would fail whatever test runs then.
    outcome = subprocess.run(
        [sys.executable, str(HERE / "collect_past_a_broker.py"), str(tmp_path)],
        env={"PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    found = json.loads(outcome.stdout)
    assert found["events"] == ["starting", "a", "b", "training"]
    assert found["missing"] == []
    assert found["seconds"] >= 12
    away, empty, back = found["lines"]
    assert away.startswith("no Kafka broker answers at 127.0.0.1:")
    assert empty.startswith("the bus has come back without the ")
    assert back == "the bus takes messages again"
