"""Publisher, broker and diagnosis together: from the end of a second to the window it closes.

    python benchmarks/ingest/together.py --quick --format table

1,000 nodes × 8 GPUs × 20 metrics over ten minutes. `publish_load.py` stands in for `collect`: it
publishes what `collect` would, but scrapes and cleans nothing, so its processor share is no figure
of `collect`. Diagnosis is the product's service in a process of its own, its windows wrapped so
that they note when each slot's window was in hand. The delay of a slot runs from the end of the
second whose telemetry closes it (the slot's own plus the allowed lateness). Exit 1 when the 99th
percentile is above two seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from serving import Row, arguments, broker, bus_at, finish, note
from sustained import PUBLISH, delays, used_seconds

from paramedic.diagnosis.detector import DetectorConfig, JobDetector
from paramedic.diagnosis.service import DiagnoseConfig, run
from paramedic.ingest.contract import Entity, JobName
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows

LIMIT_SECONDS = 2.0
WARM_UP_SLOTS = 5
SETTLE_SECONDS = 6


class TimedWindows(JobWindows):
    """Notes when the window of each slot was in hand."""

    def __init__(self, config: WindowConfig, job: JobName, notes: IO[str]) -> None:
        super().__init__(config, job)
        self._notes = notes

    def advance(self, now_seconds: float) -> list[int]:
        """As always, and a line for each slot."""
        closed = super().advance(now_seconds)
        for second in closed:
            rows = len(self.window_at(Entity.GPU, second).rows)
            self._notes.write(json.dumps([second, time.time(), rows]) + "\n")
        self._notes.flush()
        return closed


@dataclass(frozen=True, slots=True)
class TimedDetectorConfig(DetectorConfig):
    """Builds detectors whose windows note the time."""

    notes: IO[str] = sys.stderr

    def build(self, job: JobName) -> JobDetector:
        """A detector that has seen nothing yet."""
        return JobDetector(self, TimedWindows(self.windows, job, self.notes), self.beginning(job))


def diagnose(address: str, prefix: str, notes_file: Path) -> None:
    """In the child: the product's service, until it is ended."""
    with notes_file.open("w") as notes:
        config = DiagnoseConfig(detector=TimedDetectorConfig(notes=notes))
        run(config, bus_at(address, prefix), time.monotonic, threading.Event())


def measure(address: str, broker_id: int | None, nodes: int, seconds: int, notes: Path) -> Row:
    """Run publisher and diagnosis side by side, then read what the windows noted."""
    prefix = f"together-{time.time_ns()}"
    wire = ["--broker", address, "--prefix", prefix]
    child = [sys.executable, __file__, *wire, "--diagnose", str(notes)]
    begin = int(time.time()) + SETTLE_SECONDS
    publish = [sys.executable, str(PUBLISH), *wire, "--nodes", str(nodes)]
    publish += ["--begin", str(begin), "--seconds", str(seconds)]
    processes = {"diagnose": subprocess.Popen(child), "publisher": subprocess.Popen(publish)}
    try:
        ids = {name: process.pid for name, process in processes.items()}
        if broker_id is not None:
            ids["broker"] = broker_id
        time.sleep(max(0.0, begin + 1 - time.time()))
        before = {name: used_seconds(process) for name, process in ids.items()}
        time.sleep(max(0.0, begin + seconds - time.time()))
        shares = {name: (used_seconds(i) - before[name]) / seconds for name, i in ids.items()}
        time.sleep(2 * LIMIT_SECONDS)
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    return result(notes, seconds, shares)


def result(notes: Path, seconds: int, shares: dict[str, float]) -> Row:
    """What was measured, in one row."""
    lines = [json.loads(line) for line in notes.read_text().splitlines()]
    told = [(second, at) for second, at, _ in lines][WARM_UP_SLOTS:]
    waited = delays(told, WindowConfig().lateness_seconds)
    return {
        "rows": lines[-1][2],
        "seconds": seconds,
        "slots_closed": len(lines),
        "delay_p50_seconds": round(float(np.percentile(waited, 50)), 3),
        "delay_p99_seconds": round(float(np.percentile(waited, 99)), 3),
        "delay_worst_seconds": round(max(waited), 3),
        **{f"processor_share_{name}": round(share, 3) for name, share in shares.items()},
    }


def main() -> int:
    """Measure once; or, in the child, diagnose."""
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--prefix", default="", help=argparse.SUPPRESS)
    parser.add_argument("--diagnose", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.diagnose is not None:
        diagnose(chosen.broker, chosen.prefix, chosen.diagnose)
        return 0
    seconds = min(chosen.seconds, 45) if chosen.quick else chosen.seconds
    with (
        tempfile.TemporaryDirectory(prefix="paramedic-together-") as folder,
        broker(chosen.broker) as (address, broker_id),
    ):
        row = measure(address, broker_id, chosen.nodes, seconds, Path(folder) / "notes.jsonl")
    note(str(row))
    facts: Row = {"nodes": chosen.nodes, "collect": "publish_load.py in its place"}
    finish([row], facts, chosen.format)
    return 0 if float(row["delay_p99_seconds"]) <= LIMIT_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
