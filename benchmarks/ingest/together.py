"""Collect, broker and diagnosis together: from pages of exporters to judged windows.

    python benchmarks/ingest/together.py --quick --format table

1,000 nodes × 8 GPUs × 20 metrics over ten minutes, each part a process of its own. `collect` is the
product's, on pages rendered in advance (`collect_load.py`); diagnosis is the product's service,
alone. Two delays are told of every slot, both until its window was handed out and judged:

- `closing`: from the moment the slot closes by the watermark's rule. A slot closes when the batches
  of the second that is the allowed lateness after it are there; the moment is that at which
  `collect` gave the last shard's batch of that second to the producer. It is what the parts
  behind `collect` need.
- `whole`: from the end of the slot's second. It holds the allowed lateness as well, once for a
  job of one shard; twice for a larger one, whose shards are aligned before they are joined.

Exit 1 when the 99th percentile of `closing` is above two seconds, or a row is lost behind collect.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from serving import Row, arguments, broker, bus_at, finish, note
from sustained import used_seconds

from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.detector import DetectorConfig, JobDetector
from paramedic.diagnosis.history.fleet import FleetHistory
from paramedic.diagnosis.onlooker import NOBODY, Onlooker
from paramedic.diagnosis.routing.report import RoutingReport
from paramedic.diagnosis.service import DiagnoseConfig, run
from paramedic.ingest.batch.key import shard_count
from paramedic.ingest.contract import JobName, TelemetryBatch
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows

LIMIT_SECONDS = 2.0
WARM_UP_SLOTS = 15
"""Collect measures the cadence first, and the job grows as pages come."""
COLLECT = Path(__file__).with_name("collect_load.py")


class TimedDetector(JobDetector):
    """Notes when the windows of each slot were judged."""

    def __init__(self, config: TimedDetectorConfig, job: JobName, onlooker: Onlooker) -> None:
        super().__init__(config, JobWindows(config.windows, job), config.beginning(job), onlooker)
        self._notes = config.notes
        self._told: int | None = None

    def accept(self, batch: TelemetryBatch, arrived_seconds: float) -> tuple[Verdict, ...]:
        """As always, and a line for each slot that it closes."""
        verdicts = super().accept(batch, arrived_seconds)
        closed = self._windows.watermark
        if closed is not None and closed != self._told:
            counters = self._windows.counters()
            lost = counters.received - counters.accepted
            for slot in range((self._told or closed - 1) + 1, closed + 1):
                line = [slot, time.time(), sum(len(table.nodes) for table in batch.tables), lost]
                self._notes.write(json.dumps(line) + "\n")
            self._notes.flush()
            self._told = closed
        return verdicts


@dataclass(frozen=True, slots=True)
class TimedDetectorConfig(DetectorConfig):
    """Builds detectors that note the time."""

    notes: IO[str] = sys.stderr

    def build(
        self,
        job: JobName,
        onlooker: Onlooker = NOBODY,
        fleet: FleetHistory | None = None,  # noqa: ARG002 (as the detector's own has it)
    ) -> JobDetector:
        """A detector that has seen nothing yet."""
        return TimedDetector(self, job, onlooker)


def diagnose(address: str, prefix: str, notes_file: Path) -> None:
    """In the child: the product's service, until it is ended."""
    with notes_file.open("w") as notes:
        config = DiagnoseConfig(detector=TimedDetectorConfig(notes=notes))

        def tell(report: RoutingReport) -> None:
            left_out = report.counts.get("rows_left_out", 0)
            notes.write(json.dumps({"left_out": left_out}) + "\n")

        run(config, bus_at(address, prefix), time.monotonic, threading.Event(), tell)


def measure(address: str, broker_id: int | None, nodes: int, seconds: int, folder: Path) -> Row:
    """Run collect and diagnosis side by side, then read what they noted."""
    wire = ["--broker", address, "--prefix", f"together-{time.time_ns()}"]
    judged, published = folder / "judged.jsonl", folder / "published.jsonl"
    child = [sys.executable, __file__, *wire, "--diagnose", str(judged)]
    load = [sys.executable, str(COLLECT), *wire, "--nodes", str(nodes)]
    load += ["--seconds", str(seconds), "--notes", str(published)]
    diagnosis = subprocess.Popen(child)
    collect = subprocess.Popen(load, stdout=subprocess.PIPE, text=True)
    try:
        assert collect.stdout is not None
        begin = int(collect.stdout.readline())
        ids = {"diagnose": diagnosis.pid, "collect": collect.pid}
        if broker_id is not None:
            ids["broker"] = broker_id
        time.sleep(max(0.0, begin + WARM_UP_SLOTS - time.time()))
        before = {name: used_seconds(process) for name, process in ids.items()}
        time.sleep(max(0.0, begin + seconds - 1 - time.time()))
        spent = seconds - 1 - WARM_UP_SLOTS
        shares = {name: (used_seconds(i) - before[name]) / spent for name, i in ids.items()}
        time.sleep(2 * LIMIT_SECONDS)
    finally:
        for process in (diagnosis, collect):
            process.kill()
            process.wait()
    return result(_lines(judged), _lines(published), shard_count(nodes), seconds, shares)


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def closings(published: Sequence[Sequence[Any]], shards: int) -> dict[int, float]:
    """Slot to the moment (Unix seconds) at which it closes by the watermark's rule."""
    given: dict[int, dict[int, float]] = defaultdict(dict)
    for second, shard, at, _ in published:
        given[second].setdefault(shard, at)
    wait = WindowConfig().lateness_seconds * (1 if shards == 1 else 2)
    return {
        second - wait: max(by_shard.values())
        for second, by_shard in given.items()
        if len(by_shard) == shards
    }


def result(
    judged: list[Any],
    published: list[Any],
    shards: int,
    seconds: int,
    shares: dict[str, float],
) -> Row:
    """What was measured, in one row."""
    left_out = [line["left_out"] for line in judged if isinstance(line, dict)]
    slots = [line for line in judged if isinstance(line, list)]
    moments = closings(published, shards)
    told = [(slot, at) for slot, at, *_ in slots[WARM_UP_SLOTS:] if slot in moments]
    if not told:
        raise RuntimeError(f"no slot was judged after the first {WARM_UP_SLOTS}: run for longer")
    closing = [at - moments[slot] for slot, at in told]
    whole = [at - (slot + 1) for slot, at in told]
    return {
        "shards": shards,
        "seconds": seconds,
        "slots_judged": len(told),
        "rows_per_batch": slots[-1][2],
        "rows_lost": slots[-1][3] + (left_out[-1] if left_out else 0),
        **_spread("closing", closing),
        **_spread("whole", whole),
        **{f"processor_share_{name}": round(share, 3) for name, share in shares.items()},
    }


def _spread(name: str, waited: Sequence[float]) -> Row:
    return {
        f"{name}_p50_seconds": round(float(np.percentile(waited, 50)), 3),
        f"{name}_p99_seconds": round(float(np.percentile(waited, 99)), 3),
        f"{name}_worst_seconds": round(max(waited), 3),
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
    seconds = min(chosen.seconds, 50) if chosen.quick else chosen.seconds
    with (
        tempfile.TemporaryDirectory(prefix="paramedic-together-") as folder,
        broker(chosen.broker) as (address, broker_id),
    ):
        row = measure(address, broker_id, chosen.nodes, seconds, Path(folder))
    note(str(row))
    finish([row], {"nodes": chosen.nodes, "gpus": 8, "metrics": 20}, chosen.format)
    is_quick = float(row["closing_p99_seconds"]) <= LIMIT_SECONDS
    return 0 if is_quick and row["rows_lost"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
