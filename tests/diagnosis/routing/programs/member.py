"""One diagnosis process of a group: server, prefix, and how long a lost broker is waited for."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time

from paramedic.diagnosis.service import DiagnoseConfig, run
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaSettings


def main(server: str, prefix: str, reconnect_seconds: str) -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    settings = KafkaSettings(
        (server,),
        prefix,
        partitions=4,
        connect_seconds=2.0,
        reconnect_seconds=float(reconnect_seconds),
        session_seconds=6.0,
    )
    config = DiagnoseConfig(
        group=f"{prefix}-members", rewind_seconds=75.0, commit_seconds=1.0, retry_seconds=1.0
    )
    run(config, KafkaBus(settings), time.monotonic, stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
