"""A Kafka broker that does what a test says: topics that grow and vanish, messages it refuses.

It speaks the protocol's plain old versions with the client library's own message classes, keeps
record batches in memory as they came, and serves every connection from a thread.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from kafka.protocol.admin import CreateTopicsRequest, CreateTopicsResponse
from kafka.protocol.consumer import (
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.producer import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafka.record.util import calc_crc32c

from servers.scripted_sasl import SASL_REQUESTS, SaslServer

UNKNOWN_TOPIC = 3
MESSAGE_TOO_LARGE = 10
NOT_AUTHORIZED = 29
ALREADY_EXISTS = 36
INVALID_RECORD = 87
_LATEST = -1
_CHECKSUM_AT, _ATTRIBUTES_AT, _RECORD_COUNT_AT = 17, 21, 57  # in a record batch of magic 2
_VERSIONS = {
    ProduceRequest: 8,
    FetchRequest: 4,
    ListOffsetsRequest: 1,
    MetadataRequest: 1,
    ApiVersionsRequest: 0,
    CreateTopicsRequest: 4,
    InitProducerIdRequest: 0,
    **SASL_REQUESTS,
}
_REQUESTS = {request.API_KEY: request for request in _VERSIONS}

Partition = tuple[str, int]


class ScriptedKafka:
    """Topics by name with their number of partitions, and what is refused."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.topics: dict[str, int] = {}
        self.limit_bytes: int | None = None
        """Record batches above it are refused, as `max.message.bytes` of a topic does."""
        self.limit_error = MESSAGE_TOO_LARGE
        self.creation_error = 0
        """The code with which new topics are refused."""
        self.settings: dict[str, dict[str, str]] = {}
        """What was asked for with each topic that was created."""
        self.acknowledges = threading.Event()
        self.acknowledges.set()
        self.tls: ssl.SSLContext | None = None
        self.passwords: Mapping[str, str] | None = None
        """Whom to let in; None: everybody."""
        self._batches: dict[Partition, list[tuple[int, bytes]]] = defaultdict(list)
        self._ends: dict[Partition, int] = defaultdict(int)
        self._changed = threading.Condition()

    def answer(self, request: Any) -> Any:
        """The response to a request of the library's classes."""
        handlers: dict[type, Callable[[Any], Any]] = {
            ProduceRequest: self._produce,
            FetchRequest: self._fetch,
            ListOffsetsRequest: self._offsets,
            MetadataRequest: self._metadata,
            CreateTopicsRequest: self._create,
            ApiVersionsRequest: self._versions,
            InitProducerIdRequest: lambda _: InitProducerIdResponse(
                throttle_time_ms=0, error_code=0, producer_id=1, producer_epoch=0
            ),
        }
        return handlers[_REQUESTS[request.API_KEY]](request)

    def forget(self) -> None:
        """Come back with the topics and without their messages."""
        with self._changed:
            self._batches.clear()
            self._ends.clear()

    def held_bytes(self, topic: str) -> int:
        """How much the record batches of a topic take."""
        return sum(
            len(data)
            for (name, _), batches in self._batches.items()
            if name == topic
            for _, data in batches
        )

    def claim_compression(self, topic: str, codec: int) -> None:
        """Let the record batches of a topic say that they are compressed so."""
        for partition, batches in self._batches.items():
            if partition[0] == topic:
                self._batches[partition] = [(at, _compressed(data, codec)) for at, data in batches]

    def _versions(self, _request: Any) -> Any:
        make = ApiVersionsResponse.ApiVersion
        keys = [
            make(api_key=request.API_KEY, min_version=0, max_version=version)
            for request, version in _VERSIONS.items()
        ]
        return ApiVersionsResponse(error_code=0, api_keys=keys, throttle_time_ms=0)

    def _metadata(self, request: Any) -> Any:
        host, port = self.address
        wanted = self.topics if request.topics is None else [one.name for one in request.topics]
        return MetadataResponse(
            brokers=[
                MetadataResponse.MetadataResponseBroker(node_id=0, host=host, port=port, rack=None)
            ],
            controller_id=0,
            topics=[self._described(name) for name in wanted],
        )

    def _described(self, name: str) -> Any:
        make = MetadataResponse.MetadataResponseTopic
        partition = make.MetadataResponsePartition
        return make(
            error_code=0 if name in self.topics else UNKNOWN_TOPIC,
            name=name,
            is_internal=False,
            partitions=[
                partition(
                    error_code=0, partition_index=n, leader_id=0, replica_nodes=[0], isr_nodes=[0]
                )
                for n in range(self.topics.get(name, 0))
            ],
        )

    def _create(self, request: Any) -> Any:
        make = CreateTopicsResponse.CreatableTopicResult
        code = self.creation_error
        for topic in request.topics:
            if code != NOT_AUTHORIZED:
                self.topics[topic.name] = topic.num_partitions
                self.settings[topic.name] = {one.name: one.value for one in topic.configs}
        results = [
            make(name=one.name, error_code=code, error_message=None) for one in request.topics
        ]
        return CreateTopicsResponse(topics=results)

    def _produce(self, request: Any) -> Any:
        self.acknowledges.wait()
        make = ProduceResponse.TopicProduceResponse
        partition = make.PartitionProduceResponse
        responses = [
            make(
                name=topic.name,
                partition_responses=[
                    self._produced(partition, topic.name, one) for one in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
        return ProduceResponse(responses=responses, throttle_time_ms=0)

    def _produced(self, make: type, topic: str, data: Any) -> Any:
        place = topic, data.index
        first = self._ends[place]
        error = self._append(place, bytes(data.records))
        return make(index=data.index, error_code=error, base_offset=first, log_append_time_ms=-1)

    def _append(self, partition: Partition, records: bytes) -> int:
        if partition[1] >= self.topics.get(partition[0], 0):
            return UNKNOWN_TOPIC
        if self.limit_bytes is not None and len(records) > self.limit_bytes:
            return self.limit_error
        with self._changed:
            first = self._ends[partition]
            (count,) = struct.unpack_from(">i", records, _RECORD_COUNT_AT)
            # The base offset lies outside of the checksum, so that a broker can set it.
            self._batches[partition].append((first, struct.pack(">q", first) + records[8:]))
            self._ends[partition] += count
            self._changed.notify_all()
        return 0

    def _fetch(self, request: Any) -> Any:
        wanted = {
            (topic.topic, one.partition): one.fetch_offset
            for topic in request.topics
            for one in topic.partitions
        }
        with self._changed:
            self._changed.wait_for(
                lambda: any(self._ends[one] > at for one, at in wanted.items()),
                request.max_wait_ms / 1000,
            )
            topics = [self._fetched(one, offset) for one, offset in wanted.items()]
        return FetchResponse(throttle_time_ms=0, responses=topics)

    def _fetched(self, partition: Partition, offset: int) -> Any:
        make = FetchResponse.FetchableTopicResponse
        known = partition[1] < self.topics.get(partition[0], 0)
        held = b"".join(data for first, data in self._batches[partition] if first >= offset)
        found = make.PartitionData(
            partition_index=partition[1],
            error_code=0 if known else UNKNOWN_TOPIC,
            high_watermark=self._ends[partition],
            last_stable_offset=self._ends[partition],
            aborted_transactions=None,
            records=held if known else b"",
        )
        return make(topic=partition[0], partitions=[found])

    def _offsets(self, request: Any) -> Any:
        make = ListOffsetsResponse.ListOffsetsTopicResponse
        partition = make.ListOffsetsPartitionResponse
        topics = [
            make(
                name=topic.name,
                partitions=[
                    partition(
                        partition_index=one.partition_index,
                        error_code=0 if topic.name in self.topics else UNKNOWN_TOPIC,
                        timestamp=-1,
                        offset=self._ends[topic.name, one.partition_index]
                        if one.timestamp == _LATEST
                        else 0,
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return ListOffsetsResponse(topics=topics, throttle_time_ms=0)


def _compressed(batch: bytes, codec: int) -> bytes:
    """A record batch of magic 2 with other attributes, and the checksum over them."""
    covered = struct.pack(">h", codec) + batch[_ATTRIBUTES_AT + 2 :]
    checksum = struct.pack(">I", calc_crc32c(covered))
    return batch[:_CHECKSUM_AT] + checksum + covered


@contextmanager
def scripted_kafka() -> Iterator[ScriptedKafka]:
    """A scripted broker on a free port, for as long as the context lasts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        broker = ScriptedKafka(server.getsockname())
        connections: list[socket.socket] = []
        accepting = threading.Thread(target=_accept, args=(server, broker, connections))
        accepting.start()
        try:
            yield broker
        finally:
            broker.acknowledges.set()
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection in connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, broker: ScriptedKafka, connections: list[socket.socket]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            connections.append(connection)
            threading.Thread(target=_serve, args=(connection, broker), daemon=True).start()


def _serve(plain: socket.socket, broker: ScriptedKafka) -> None:
    with plain, suppress(OSError, EOFError):
        connection = (
            plain if broker.tls is None else broker.tls.wrap_socket(plain, server_side=True)
        )
        with connection:
            _converse(connection, broker)


def _converse(connection: socket.socket, broker: ScriptedKafka) -> None:
    sasl = None if broker.passwords is None else SaslServer(broker.passwords)
    with connection.makefile("rb") as stream:
        while True:
            (size,) = struct.unpack(">i", _exactly(stream, 4))
            frame = _exactly(stream, size)
            key, version, correlation = struct.unpack_from(">hhi", frame)
            request = _REQUESTS[key].decode(frame, version=version, header=True)
            if sasl is not None and _REQUESTS[key] in SASL_REQUESTS:
                response = sasl.answer(request)
            elif sasl is None or sasl.is_authenticated or _REQUESTS[key] is ApiVersionsRequest:
                response = broker.answer(request)
            else:
                return
            response.API_VERSION = version
            response.with_header(correlation)
            connection.sendall(response.encode(header=True, framed=True))


def _exactly(stream: Any, size: int) -> bytes:
    data: bytes = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
