"""A publisher in a process of its own: numbers, as fast as the broker acknowledges them."""

from __future__ import annotations

import sys
from pathlib import Path

from paramedic.ingest.bus.embedded.client import EmbeddedBus
from paramedic.ingest.contract import Topic


def main() -> None:
    """Publish `count` numbers and print each that was acknowledged."""
    path, count = Path(sys.argv[1]), int(sys.argv[2])
    publisher = EmbeddedBus(path).publisher()
    for number in range(count):
        publisher.publish(Topic.TELEMETRY, "k", str(number).encode())
        publisher.flush(20.0)
        print(number, flush=True)  # noqa: T201 (the test reads it)
    publisher.close()


if __name__ == "__main__":
    main()
