"""A very large job in real time from a Kafka topic into windows.

    python benchmarks/ingest/sustained.py --quick --format table

10,000 nodes × 8 GPUs × 20 metrics at 1 Hz, batched as `collect` does: 20 messages of 512 nodes a
second. A process of its own publishes each second when it is over; this one polls, decodes, fills
the windows and takes each window that closes. The real-time factor is seconds of telemetry closed
a second on the clock, so 1 means that it keeps up; `processor_share` is what share of one core each
process needs. The delay of a slot runs from the end of the second whose telemetry closes it (the
slot's own plus the allowed lateness) to its window in hand, and so includes publishing.

The telemetry of all shards goes into the windows of one job. Partitions are drained one after
another, at the start (the publisher is ahead by then) and after each stall; a slot waits for the
shards that are behind, so no row may be lost: exit 1 when one is, or when it does not keep up.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
from serving import Row, arguments, broker, bus_at, finish, note

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.contract import Entity, JobName, Start, Topic
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows

JOB = JobName("load")
LIMIT_BYTES = 3 * 1024**3
PUBLISH = Path(__file__).with_name("publish_load.py")
KEEPS_UP = 0.98
"""A real-time factor that is one, but for how slots fall on the ends of what is measured."""
WARM_UP_SECONDS = 5
"""The first seconds, in which arrays are allocated, are left out of factor and delays."""


class Consumer:
    """Polls, fills windows, and notes when each slot's window was in hand."""

    def __init__(self, bus: KafkaBus) -> None:
        self._subscription = bus.subscribe((Topic.TELEMETRY,), Start.EARLIEST)
        self.windows = JobWindows(WindowConfig(), JOB)
        self.closed: dict[int, float] = {}
        """Slot to the time (Unix seconds) at which its window was in hand."""
        self.rows = 0

    def run(self, until: float) -> None:
        """Go on until this time (Unix seconds)."""
        while time.time() < until:
            for message in self._subscription.poll(0.2):
                batch = decode(message.payload)
                self.windows.accept(batch, time.time())
                for second in self.windows.advance(time.time()):
                    self.rows = len(self.windows.window_at(Entity.GPU, second).rows)
                    self.closed[second] = time.time()

    def close(self) -> None:
        """Disconnect."""
        self._subscription.close()


def delays(told: list[tuple[int, float]], lateness_seconds: int) -> list[float]:
    """Seconds from the end of the second that closes a slot to its window."""
    return [at - (second + lateness_seconds + 1) for second, at in told]


def used_seconds(process_id: int) -> float:
    """Processor time of a process so far."""
    times = psutil.Process(process_id).cpu_times()
    return float(times.user + times.system)


def measure(address: str, broker_id: int | None, nodes: int, seconds: int) -> Row:
    """Publish in one process and fill windows in this one."""
    prefix = f"sustained-{time.time_ns()}"
    consumer = Consumer(bus_at(address, prefix))
    begin = int(time.time()) + 4
    command = [sys.executable, str(PUBLISH), "--broker", address, "--prefix", prefix]
    command += ["--nodes", str(nodes), "--begin", str(begin), "--seconds", str(seconds)]
    publisher = subprocess.Popen(command)
    try:
        consumer.run(begin + 1)
        ids = {"publisher": publisher.pid, "windows": os.getpid()}
        if broker_id is not None:
            ids["broker"] = broker_id
        before = {name: used_seconds(process) for name, process in ids.items()}
        consumer.run(begin + seconds)
        shares = {name: (used_seconds(i) - before[name]) / seconds for name, i in ids.items()}
        consumer.run(begin + seconds + 3)
    finally:
        publisher.kill()
        publisher.wait()
        consumer.close()
    return result(consumer, seconds, shares)


def result(consumer: Consumer, seconds: int, shares: dict[str, float]) -> Row:
    """What was measured, in one row."""
    lateness = WindowConfig().lateness_seconds
    told = sorted(consumer.closed.items())[WARM_UP_SECONDS:]
    waited = delays(told, lateness)
    (first, began), (last, ended) = told[0], told[-1]
    counters = consumer.windows.counters()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "rows": consumer.rows,
        "seconds": seconds,
        "slots_closed": len(consumer.closed),
        "real_time_factor": round((last - first) / (ended - began), 3),
        "delay_p50_seconds": round(float(np.percentile(waited, 50)), 3),
        "delay_p99_seconds": round(float(np.percentile(waited, 99)), 3),
        "resident_peak_bytes": resident,
        "resident_within_limit": "yes" if resident < LIMIT_BYTES else "no",
        "rows_lost": counters.received - counters.accepted,
        **{f"processor_share_{name}": round(share, 3) for name, share in shares.items()},
    }


def main() -> int:
    """Measure once; 1 when it does not hold."""
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=600)
    chosen = parser.parse_args()
    seconds = min(chosen.seconds, 45) if chosen.quick else chosen.seconds
    with broker(chosen.broker) as (address, broker_id):
        row = measure(address, broker_id, chosen.nodes, seconds)
    note(str(row))
    finish([row], {"nodes": chosen.nodes, "gpus": 8, "metrics": 20}, chosen.format)
    keeps_up = float(row["real_time_factor"]) >= KEEPS_UP
    return 0 if keeps_up and row["rows_lost"] == 0 and row["resident_within_limit"] == "yes" else 1


if __name__ == "__main__":
    sys.exit(main())
