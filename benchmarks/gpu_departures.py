"""How well machines that depart from their peers are named, on the synthetic cluster.

    python benchmarks/gpu_departures.py --hours 20      # false alarms of healthy jobs, and faults
    python benchmarks/gpu_departures.py --cost          # processor time, at 64 and 1,000 nodes

Faults press on one cause of one GPU or node (`paramedic.ingest.synthetic.causes`); all nuisances of
the cluster are on. Healthy time is many jobs of other sizes and seeds. One JSON object on standard
output, progress on standard error. Exit 1 when a wrong node was named or an alarm was false.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from paramedic.diagnosis.contract import Status, Verdict
from paramedic.diagnosis.detector import DetectorConfig, JobDetector
from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.configuration import ClusterConfig, Shape

SECONDS_PER_HOUR = 3600
PAST_SECONDS = 200
"""A fault begins so long after the detector does."""
FAULT_SECONDS = 180
_RANKED = (Entity.GPU, Entity.NODE)


@dataclass(frozen=True, slots=True)
class Kind:
    """A fault: the cause that is pressed on, and to which values, from strong to weak."""

    cause: str
    values: tuple[float, ...]
    is_of_node: bool = False


KINDS = (
    Kind("tensor_share", (0.5, 0.8, 0.9)),
    Kind("clock_limit_ratio", (0.5, 0.7, 0.85)),
    Kind("power_limit_ratio", (0.5, 0.7)),
    Kind("work_slowdown", (2.0, 1.3, 1.1)),
    Kind("nvlink_ratio", (0.2, 0.5)),
    Kind("pcie_ratio", (0.1, 0.5)),
    Kind("cooling_ratio", (2.0, 1.4)),
    Kind("nic_ratio", (0.1, 0.5), is_of_node=True),
    Kind("stolen_cpu_ratio", (0.8, 0.4), is_of_node=True),
    Kind("storage_slowdown", (20.0, 5.0), is_of_node=True),
)


@dataclass(frozen=True, slots=True)
class Pressure:
    """One fault at its place (an Influence)."""

    kind: Kind
    value: float
    node: int
    gpu: int
    onset: int

    def press(self, causes: Causes, second: int) -> None:
        """Have the effect, when it is time."""
        if second >= self.onset:
            place = self.node if self.kind.is_of_node else (self.node, self.gpu)
            getattr(causes, self.kind.cause)[place] = self.value


@dataclass(slots=True)
class Row:
    """One fault at one strength, over several runs."""

    cause: str
    value: float
    runs: int = 0
    named: int = 0
    wrong: int = 0
    delays_seconds: list[int] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=20.0, help="healthy job-hours")
    parser.add_argument("--nodes", type=int, nargs="+", default=[8, 16, 32])
    parser.add_argument("--runs", type=int, default=3, help="of each fault")
    parser.add_argument("--faults", nargs="+", default=[kind.cause for kind in KINDS])
    parser.add_argument("--every", type=int, default=1, help="seconds between two samples")
    parser.add_argument("--cost", action="store_true", help="measure nothing but the cost")
    asked = parser.parse_args(arguments)
    if asked.cost:
        sys.stdout.write(
            json.dumps({"cost": [cost(64), cost(1000)], "machine": platform.processor()}) + "\n"
        )
        return 0
    alarms = healthy(asked.hours, asked.nodes, asked.every)
    rows = [
        row
        for kind in KINDS
        if kind.cause in asked.faults
        for row in faults(kind, asked.runs, asked.nodes, asked.every)
    ]
    days = asked.hours / 24
    answer = {
        "healthy_job_hours": asked.hours,
        "false_alarms": len(alarms),
        "false_alarms_per_job_day": len(alarms) / days if days else None,
        "faults": [_summary(row) for row in rows],
    }
    sys.stdout.write(json.dumps(answer) + "\n")
    return int(bool(alarms) or any(row.wrong for row in rows))


def healthy(hours: float, sizes: Sequence[int], every: int) -> list[Verdict]:
    """The firing verdicts of jobs in which nothing is broken, an hour each."""
    found: list[Verdict] = []
    for number in range(math.ceil(hours)):
        seconds = round(min(1.0, hours - number) * SECONDS_PER_HOUR)
        cluster = SyntheticCluster(_config(sizes, number, seed=1000 + number))
        for _, verdict in _firing(cluster, seconds, every):
            _say(f"false alarm in hour {number}: {verdict.summary}")
            found.append(verdict)
        _say(f"hour {number + 1} is over, {len(found)} false alarms")
    return found


def faults(kind: Kind, runs: int, sizes: Sequence[int], every: int) -> Iterator[Row]:
    """Each strength of a fault, in jobs of different sizes."""
    for value in kind.values:
        row = Row(kind.cause, value)
        for number in range(runs):
            config = _config(sizes, number, seed=number)
            rng = np.random.default_rng((number, len(kind.cause)))
            node = int(rng.integers(config.shape.nodes))
            gpu = int(rng.integers(config.shape.gpus))
            pressure = Pressure(kind, value, node, gpu, PAST_SECONDS)
            _judge(row, SyntheticCluster(config, (pressure,)), node, every)
        _say(str(_summary(row)))
        yield row


def _judge(row: Row, cluster: SyntheticCluster, node: int, every: int) -> None:
    row.runs += 1
    culprit = cluster.layout.nodes[node]
    said = list(_firing(cluster, PAST_SECONDS + FAULT_SECONDS, every))
    row.wrong += sum(verdict.node != culprit for _, verdict in said)
    right = [second - PAST_SECONDS for second, verdict in said if verdict.node == culprit]
    if right:
        row.named += 1
        row.delays_seconds.append(right[0])


def _firing(cluster: SyntheticCluster, seconds: int, every: int) -> Iterator[tuple[int, Verdict]]:
    """What fires, with the second after the beginning in which it did."""
    detector: JobDetector | None = None
    for at, second in enumerate(cluster.seconds(0, seconds)):
        batch = second.batch()
        if detector is None:
            detector = _detector(batch, every)
        if batch.second % every:
            continue
        kept = tuple(table for table in batch.tables if table.entity in _RANKED)
        said = detector.accept(replace(batch, tables=kept), batch.second + 1.0)
        yield from ((at, verdict) for verdict in said if verdict.status is Status.FIRING)


def _detector(first: TelemetryBatch, every: int) -> JobDetector:
    """One that has heard what `collect` says of a job."""
    detector = DetectorConfig().build(first.job)
    begun = datetime.fromtimestamp(first.second + 60, UTC)
    details: dict[str, str | int | float | bool | None] = {
        "state": "training",
        "sampling_seconds": every,
    }
    detector.record(Event(begun, EventKind.JOB_STATE, first.job, generation=0, details=details))
    return detector


def _config(sizes: Sequence[int], number: int, seed: int) -> ClusterConfig:
    return ClusterConfig(shape=Shape(nodes=sizes[number % len(sizes)]), seed=seed)


def cost(nodes: int, gpus: int = 8, metrics: int = 20, seconds: int = 60) -> dict[str, float]:
    """Processor seconds of the detector a second of telemetry; synthetic noise, all metrics."""
    job = JobName("cost")
    batches = list(_noise(job, nodes, gpus, metrics, 10))
    detector = _detector(batches[0], 1)
    warm = _spent(lambda: _feed(detector, batches, 0, 90)) / 90
    steady = _spent(lambda: _feed(detector, batches, 90, 90 + seconds)) / seconds
    _say(f"{nodes} nodes: {steady:.4f} s a second, {warm:.4f} at the beginning")
    return {"nodes": nodes, "processor_seconds_per_second": round(steady, 5)}


def _noise(
    job: JobName, nodes: int, gpus: int, metrics: int, count: int
) -> Iterator[TelemetryBatch]:
    rng = np.random.default_rng(0)
    names = tuple(NodeName(f"node-{at:04d}") for at in range(nodes) for _ in range(gpus))
    cards = tuple(range(gpus)) * nodes
    for second in range(count):
        columns = {
            f"metric_{at:02d}_ratio": tuple(rng.normal(0.5, 0.02, nodes * gpus).tolist())
            for at in range(metrics)
        }
        table = Table(Entity.GPU, names, cards, columns)
        yield TelemetryBatch(job, 0, second, (table,))


def _feed(detector: JobDetector, batches: Sequence[TelemetryBatch], first: int, last: int) -> None:
    for second in range(first, last):
        stamped = replace(batches[second % len(batches)], second=second)
        detector.accept(stamped, second + 1.0)


def _spent(work: Callable[[], None]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _summary(row: Row) -> dict[str, object]:
    delays = row.delays_seconds
    median = float(np.median(delays)) if delays else None
    return {**asdict(row), "delay_median_seconds": median}


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
