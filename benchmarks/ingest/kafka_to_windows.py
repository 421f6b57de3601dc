"""From a Kafka topic into windows, beside a bare kafka-python poll loop over the same topic.

    python benchmarks/ingest/kafka_to_windows.py --quick --format table

One job of 512 nodes × 8 GPUs × 20 metrics, batched by 1, 64 and 512 nodes a message, written as the
product's producer writes by default: bodies as they are, compressed by Kafka's producer with lz4.
Both ways decompress. `--compression` takes another of Kafka's ways; `--body zlib` makes messages
that only the product can open, as those of other writers may be, and which the bare loop has an
easy time with. The bare loop is `KafkaConsumer.poll` with the library's defaults and does nothing
with what it gets; ours polls the product's subscription, decodes, writes the windows and takes each
window that closes. Both run by turns in one process, so that what else the machine does meets both.
`ratio` is the median of the pairs' ratios of messages a second; processor time is that of this
process alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from kafka import KafkaConsumer, TopicPartition
from serving import Row, arguments, broker, bus_at, finish, note
from telemetry_load import Batches, Load

from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.schema import Compression
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaCompression
from paramedic.ingest.contract import Entity, Start, Topic
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows

NODES = 512
BEGINNING = 1_767_225_600
SIZES = {1: 40_960, 64: 4_800, 512: 600}
"""Nodes a message, and how many messages the topic holds in a full run."""
QUICK_SHARE = 5


@dataclass(frozen=True, slots=True)
class Pace:
    """How quickly messages went through."""

    messages: int
    seconds: float
    processor_seconds: float

    @property
    def per_second(self) -> float:
        """Messages a second on the clock."""
        return self.messages / self.seconds

    @property
    def processor_milliseconds(self) -> float:
        """Processor time a message."""
        return 1000 * self.processor_seconds / self.messages


def timed(work: Callable[[], int]) -> Pace:
    """The pace of work that returns how many messages it took in."""
    began, used = time.perf_counter(), time.process_time()
    messages = work()
    return Pace(messages, time.perf_counter() - began, time.process_time() - used)


def poll_bare(bus: KafkaBus, count: int) -> Pace:
    """kafka-python and nothing else."""
    topic = Topic.TELEMETRY.qualified(bus.settings.prefix)
    consumer = KafkaConsumer(
        bootstrap_servers=list(bus.settings.servers), group_id=None, enable_auto_commit=False
    )
    try:
        partitions = [TopicPartition(topic, n) for n in consumer.partitions_for_topic(topic)]
        consumer.assign(partitions)
        consumer.seek_to_beginning()

        def work() -> int:
            taken = 0
            while taken < count:
                taken += sum(map(len, consumer.poll(timeout_ms=500).values()))
            return taken

        return timed(work)
    finally:
        consumer.close()


def fill_windows(bus: KafkaBus, count: int, load: Load) -> Pace:
    """The product's way from the topic to the windows of the job."""
    windows = filled(load)
    subscription = bus.subscribe((Topic.TELEMETRY,), Start.EARLIEST)
    try:

        def work() -> int:
            taken = 0
            while taken < count:
                messages = subscription.poll(0.5)
                taken += len(messages)
                for message in messages:
                    batch = decode(message.payload)
                    windows.accept(batch, batch.second + 1.0)
                    for second in windows.advance(batch.second + 1.0):
                        windows.window_at(Entity.GPU, second)
            return taken

        pace = timed(work)
    finally:
        subscription.close()
    lost = windows.counters().received - windows.counters().accepted
    if lost:
        raise RuntimeError(f"{lost} rows did not reach their slot: {windows.counters()}")
    return pace


def filled(load: Load) -> JobWindows:
    """Windows of a process that has run for some minutes: no memory is new to them any more."""
    windows, batches = JobWindows(WindowConfig(), load.job), Batches(load)
    for second in range(BEGINNING - WindowConfig().room.capacity, BEGINNING):
        for _, batch in batches.of_second(second):
            windows.accept(batch, second + 1.0)
        windows.advance(second + 1.0)
    return windows


def compare(bus: KafkaBus, load: Load, count: int, pairs: int) -> Row:
    """Fill a topic, then read it both ways by turns."""
    publisher = bus.publisher()
    batches = Batches(load)
    for second in range(count // load.messages_per_second):
        batches.publish(publisher, BEGINNING + second)
    publisher.flush(60.0)
    publisher.close()
    # A pair in advance, so that what is loaded and allocated once meets neither.
    both = [(poll_bare(bus, count), fill_windows(bus, count, load)) for _ in range(pairs + 1)][1:]
    ratios = sorted(ours.per_second / bare.per_second for bare, ours in both)
    row: Row = {
        "nodes_per_message": load.nodes_per_message,
        "compression": bus.settings.compression.value,
        "body": load.compression.value,
        "messages": count,
        "bare_per_second": round(median(bare.per_second for bare, _ in both), 1),
        "windows_per_second": round(median(ours.per_second for _, ours in both), 1),
        "ratio": round(median(ratios), 3),
        "ratios": " ".join(f"{ratio:.2f}" for ratio in ratios),
        "bare_processor_ms": round(median(b.processor_milliseconds for b, _ in both), 4),
        "windows_processor_ms": round(median(o.processor_milliseconds for _, o in both), 4),
    }
    note(str(row))
    return row


def main() -> None:
    """Compare at every size."""
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", choices=sorted(SIZES), default=[*SIZES])
    parser.add_argument("--compression", type=KafkaCompression, help="of the producer")
    parser.add_argument("--body", type=Compression, default=Compression.NONE)
    chosen = parser.parse_args()
    rows = []
    for size in chosen.sizes:
        load = Load(NODES, size, compression=chosen.body)
        whole = load.messages_per_second
        count = SIZES[size] // (QUICK_SHARE if chosen.quick else 1) // whole * whole
        # A broker a size: the development broker keeps everything in memory.
        with broker(chosen.broker) as (address, _):
            prefix = f"load-{size}-{time.time_ns()}"
            pairs = min(chosen.pairs, 3) if chosen.quick else chosen.pairs
            bus = bus_at(address, prefix, chosen.compression)
            rows.append(compare(bus, load, count, pairs))
    finish(rows, {"nodes": NODES, "gpus": 8, "metrics": 20}, chosen.format)


if __name__ == "__main__":
    main()
