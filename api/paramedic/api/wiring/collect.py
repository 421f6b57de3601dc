"""Puts the collect process together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.kafka import bus_at
from paramedic.api.wiring.sign_file import signed
from paramedic.api.wiring.sources import open_sources
from paramedic.api.wiring.stopping import stop_on_signals
from paramedic.api.wiring.telling import log_to, say
from paramedic.api.wiring.translation import collect_config
from paramedic.ingest.bus.outbox import Outbox
from paramedic.ingest.contract import DeadLetter, Message, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from paramedic.api.settings.schema import Settings
    from paramedic.api.wiring.source_request import SourceRequest
    from paramedic.ingest.collect.status import CollectStatus
    from paramedic.ingest.sources.kafka_topics.consumer import Record

_LETTERS_KEPT = 1000
_CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class CollectRequest:
    """What the collect process works with."""

    bus_address: str
    sources: SourceRequest
    settings: Settings
    environment: Mapping[str, str]
    """Where secrets may be."""
    metrics_port: int | None = None
    sign_file: Path | None = None
    tell_descriptor: int | None = None
    """Gets the lines for people besides standard error."""


def collect(request: CollectRequest, stderr: TextIO) -> int:
    """Collect until asked to end.

    Raises BusError, PreflightError, CollectError or ApiError when something cannot work.
    """
    log_to()
    config = collect_config(request.settings)
    bus = bus_at(request.bus_address, request.settings, request.environment)
    letters = Outbox(bus.publisher, _LETTERS_KEPT)
    sources = open_sources(request.sources, request.settings, lambda *one: _bury(letters, *one))
    with stop_on_signals() as stop:
        from paramedic.ingest.agent.clock import SystemClock
        from paramedic.ingest.cleaning.cleaner import TelemetryCleaner
        from paramedic.ingest.collect.service import run

        letters.start()
        try:
            run(
                config,
                sources,
                TelemetryCleaner(),
                bus,
                SystemClock(),
                signed(stop, request.sign_file),
                lambda line: _tell(request, stderr, line),
                lambda line: say(stderr, line),
                lambda status: _serve_metrics(request, status),
            )
        finally:
            letters.close(_CLOSE_SECONDS)
    return 0


def _tell(request: CollectRequest, stderr: TextIO, line: str) -> None:
    say(stderr, line)
    if request.tell_descriptor is not None:
        os.write(request.tell_descriptor, f"{line}\n".encode())


def _serve_metrics(request: CollectRequest, status: Callable[[], CollectStatus]) -> None:
    if request.metrics_port is not None:
        from paramedic.api.wiring.collect_metrics import families_of
        from paramedic.api.wiring.metrics_port import serve_metrics

        host = request.settings.api.host
        serve_metrics(host, request.metrics_port, lambda: families_of(status()))


def _bury(letters: Outbox, record: Record, reason: str) -> None:
    """A message of another tool's topic that cannot be read, as telemetry that never was any."""
    key = f"{record.topic}/{record.partition}"
    message = Message(
        Topic.TELEMETRY, key, record.payload, offset=record.offset, partition=record.partition
    )
    letters.offer(Topic.DEAD_LETTER, key, DeadLetter.of(message, reason).to_json())
