"""A Kafka broker that dies and comes back without its memory, seen by a publisher and a reader."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paramedic.ingest.bus.development_broker import development_broker
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings
from paramedic.ingest.contract import BusUnavailableError, Start, Topic

PATIENCE_SECONDS = 40.0


@contextmanager
def unavailable(who: str, reason: str) -> Iterator[None]:
    """Print who met the reason; leave with an error if nobody did."""
    try:
        yield
    except BusUnavailableError as error:
        if reason not in str(error):
            raise
        print(f"{who}: {reason}", flush=True)  # noqa: T201 (the test reads it)
    else:
        raise SystemExit(f"{who} did not notice: {reason}")


def main() -> None:
    """Run the scenario in the folder named by the first argument."""
    folder = Path(sys.argv[1])
    later_seconds = [0.0]
    with development_broker(folder / "first.log") as first:
        settings = KafkaSettings(
            (f"127.0.0.1:{first.port}",), connect_seconds=1.0, reconnect_seconds=4.0
        )
        bus = KafkaBus(settings, clock=lambda: time.monotonic() + later_seconds[0])
        publisher, subscription = bus.publisher(), bus.subscribe([Topic.EVENTS], Start.LATEST)
        publisher.publish(Topic.EVENTS, "k", b"before")
        publisher.flush(PATIENCE_SECONDS)
    publisher.publish(Topic.EVENTS, "k", b"while it is away")
    with unavailable("publisher", "1 messages are not acknowledged"):
        publisher.flush(0.2)
    later_seconds[0] = 100.0
    with unavailable("subscription", "it went silent about paramedic.events.v1"):
        subscription.poll(0.1)
    subscription.close()
    with development_broker(folder / "second.log", port=first.port):
        publisher.publish(Topic.EVENTS, "k", b"after its return")
        publisher.flush(PATIENCE_SECONDS)
        print("resets:", publisher.bus_resets, flush=True)  # noqa: T201 (see above)
        again = bus.subscribe([Topic.EVENTS], Start.EARLIEST)
        for message in again.poll(PATIENCE_SECONDS):
            print("read:", message.payload.decode(), flush=True)  # noqa: T201 (see above)
        again.close()
        publisher.close()


if __name__ == "__main__":
    main()
