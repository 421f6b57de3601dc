"""A Kafka-protocol broker for connected tests: any that runs, or one started on a free port."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from paramedic.ingest.bus.development_broker import development_broker


@contextmanager
def kafka_broker(folder: Path, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """`host:port` of a broker, for as long as the context lasts.

    `PARAMEDIC_TEST_KAFKA=host:port` names one that runs already; else one is started, its output
    goes to a file in the folder, and it is ended in all cases.
    """
    named = environment.get("PARAMEDIC_TEST_KAFKA")
    if named:
        yield named
        return
    with development_broker(folder / "kafka-broker.log") as broker:
        yield f"{broker.host}:{broker.port}"
