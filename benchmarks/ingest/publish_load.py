"""Publishes a job's telemetry in real time, second after second; stands in for `collect`."""

from __future__ import annotations

import argparse
import sys
import time

from serving import bus_at
from telemetry_load import NODES_PER_SHARD, Batches, Load

from paramedic.ingest.batch.schema import Compression


def main() -> None:
    """Publish each second when it is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broker", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--begin", type=int, required=True, help="first second, Unix time")
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--compression", type=Compression, default=Compression.NONE)
    chosen = parser.parse_args()
    batches = Batches(Load(chosen.nodes, NODES_PER_SHARD, compression=chosen.compression))
    publisher = bus_at(chosen.broker, chosen.prefix).publisher()
    latest = 0.0
    for second in range(chosen.begin, chosen.begin + chosen.seconds):
        time.sleep(max(0.0, second + 1 - time.time()))
        batches.publish(publisher, second)
        latest = max(latest, time.time() - second - 1)
    publisher.flush(30.0)
    publisher.close()
    sys.stderr.write(f"publishing took at most {latest:.2f} s of a second\n")


if __name__ == "__main__":
    main()
