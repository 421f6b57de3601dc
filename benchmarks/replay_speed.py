"""How much faster than real time a recording is replayed, the reading of its files included.

    python benchmarks/replay_speed.py --nodes 64 --gpus 8

Records a job of the synthetic cluster with one straggler, and times `paramedic replay` of it from
the start of the process to its end. Prints one JSON object; exit 1 below the wanted factor.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""Of numeric libraries; reading runs beside the judging all the same."""


def recorded(asked: argparse.Namespace, folder: Path) -> Path:
    """A recording of the job that was asked for."""
    recording = folder / "recording"
    flags = [
        *("--nodes", str(asked.nodes), "--gpus", str(asked.gpus), "--seconds", str(asked.seconds)),
        *("--fault", "straggler", "--fault-node", "node-0003"),
        *("--fault-at", str(asked.seconds // 2), "--record", str(recording)),
    ]
    _run("simulate", *flags)
    return recording


def replayed(recording: Path) -> dict[str, float]:
    """Seconds by the clock and of the processor that a replay takes, and what it decides."""
    begun, before = time.monotonic(), _processor_seconds()
    done = _run("replay", str(recording))
    return {
        "seconds": round(time.monotonic() - begun, 3),
        "processor_seconds": round(_processor_seconds() - before, 3),
        "verdicts": len(done.splitlines()),
    }


def _run(*words: str) -> str:
    command = [sys.executable, "-m", "paramedic.api.command_line", *words]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **_ONE_THREAD}
    )
    return done.stdout


def _processor_seconds() -> float:
    """Of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How fast a recording is replayed")
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--gpus", type=int, default=8, help="of a node, with a rank on each")
    parser.add_argument("--seconds", type=int, default=600, help="to record, or of --recording")
    parser.add_argument("--repeats", type=int, default=3, help="replays; the quickest counts")
    parser.add_argument("--wanted", type=float, default=200.0, help="exit 1 below this factor")
    parser.add_argument("--recording", type=Path, help="replay this one, instead of a new one")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recording = asked.recording or recorded(asked, Path(folder))
        runs = [replayed(recording) for _ in range(asked.repeats)]
    best = min(runs, key=lambda run: run["seconds"])
    factor = asked.seconds / best["seconds"]
    found = {"nodes": asked.nodes, "gpus": asked.gpus, **best, "factor": round(factor, 1)}
    sys.stdout.write(json.dumps(found) + "\n")
    return 0 if factor >= asked.wanted else 1


if __name__ == "__main__":
    sys.exit(main())
