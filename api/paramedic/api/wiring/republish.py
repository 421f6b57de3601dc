"""Puts a recording on a bus, as if it came in now; its times stay those of the recording."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.flight_recorder import dumps_as_moments
from paramedic.api.wiring.kafka import bus_at
from paramedic.api.wiring.replay import SYSTEM_TIME, ReplayRequest, Time, opened, played
from paramedic.api.wiring.telling import say
from paramedic.api.wiring.wording import counted
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.batch.key import message_key, shard_count, shard_of
from paramedic.ingest.collect.sharing import Shard, Share, taken
from paramedic.ingest.contract import Event, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from paramedic.api.settings.schema import Settings
    from paramedic.ingest.contract import Bus, Publisher, Table, TelemetryBatch
    from paramedic.ingest.recordings.moment import Moment

_FLUSH_SECONDS = 30.0
_EVENTS_SHARD = 0


@dataclass(frozen=True, slots=True)
class RepublishRequest:
    """What is to be published, and where."""

    replay: ReplayRequest
    bus_address: str
    settings: Settings
    environment: Mapping[str, str]
    """Where secrets may be."""


def republish(request: RepublishRequest, stderr: TextIO, clock: Time = SYSTEM_TIME) -> int:
    """Publish everything in the order of its arrival. Raises RecordingError or BusError."""
    recording = opened(request.replay.folder, stderr)
    bus = bus_at(request.bus_address, request.settings, request.environment)
    given = dumps_as_moments(request.replay.flight_recorder, recording)
    moments = played(recording, request.replay.speed, stderr, clock, given)
    published = publish_all(moments, bus, len(recording.job.nodes))
    say(stderr, f"{counted(published, 'message')} of {recording.job.job} published")
    return 0


def publish_all(moments: Iterable[Moment], bus: Bus, nodes: int) -> int:
    """Publish what a job of so many nodes said; returns how many messages that were.

    Raises BusError.
    """
    publisher = bus.publisher()
    try:
        published = sum(_publish(publisher, moment.fact, nodes) for moment in moments)
        publisher.flush(_FLUSH_SECONDS)
    finally:
        publisher.close()
    return published


def _publish(publisher: Publisher, fact: TelemetryBatch | Event, nodes: int) -> int:
    if isinstance(fact, Event):
        publisher.publish(Topic.EVENTS, message_key(fact.job, _EVENTS_SHARD), fact.to_json())
        return 1
    parts = [fact] if shard_count(nodes) == 1 else list(in_shards(fact, nodes))
    for part in parts:
        publisher.publish(Topic.TELEMETRY, message_key(part.job, part.shard), encode(part))
    return len(parts)


def in_shards(batch: TelemetryBatch, nodes: int) -> Iterator[TelemetryBatch]:
    """The batch as a job of so many nodes sends it, a part for each shard that has rows in it."""
    parts: dict[int, list[Table]] = defaultdict(list)
    for table in batch.tables:
        rows: dict[int, list[int]] = defaultdict(list)
        for row, node in enumerate(table.nodes):
            rows[shard_of(node, nodes)].append(row)
        for number, chosen in rows.items():
            shard = Shard(batch.job, number, shard_count(nodes))
            names = tuple(table.nodes[row] for row in chosen)
            parts[number].append(taken(table, Share(shard, tuple(chosen), names)))
    for number, tables in sorted(parts.items()):
        yield replace(batch, tables=tuple(tables), shard=number, shards=shard_count(nodes))
