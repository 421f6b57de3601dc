"""What the benchmarks of ingest share: a broker, an address, a result."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from paramedic.ingest.bus.development_broker import development_broker
from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_settings import KafkaCompression, KafkaSettings

Row = Mapping[str, float | int | str]


@contextmanager
def broker(address: str | None) -> Iterator[tuple[str, int | None]]:
    """`host:port` of a broker and its process, if it is the development broker started here."""
    if address is not None:
        yield address, None
        return
    with (
        tempfile.TemporaryDirectory(prefix="paramedic-ingest-") as folder,
        development_broker(Path(folder) / "broker.log") as running,
    ):
        yield f"{running.host}:{running.port}", running.process_id


def bus_at(address: str, prefix: str, compression: KafkaCompression | None = None) -> KafkaBus:
    """A bus with topics of its own at this broker, compressed as it is by default or as told."""
    settings = KafkaSettings((address,), prefix=prefix)
    if compression is not None:
        settings = replace(settings, compression=compression)
    return KafkaBus(settings)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark here has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a minute in place of many")
    parser.add_argument("--format", choices=("json", "table"), default="json")
    parser.add_argument("--broker", help="host:port of one that runs; else one is started")
    return parser


def note(line: str) -> None:
    """Tell the progress."""
    sys.stderr.write(f"{line}\n")


def finish(rows: Sequence[Row], facts: Row, form: str) -> None:
    """Print the result: one JSON object, or a table."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    if form == "json":
        sys.stdout.write(json.dumps({"rows": rows, **facts, "machine": machine}) + "\n")
        return
    for row in rows:
        sys.stdout.write("  ".join(f"{name} {value}" for name, value in row.items()) + "\n")
    for name, value in {**facts, "machine": machine}.items():
        sys.stdout.write(f"{name}: {value}\n")
