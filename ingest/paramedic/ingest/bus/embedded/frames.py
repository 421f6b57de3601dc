"""The frames between the embedded broker and its clients, and the reader that cuts them out.

A frame is its length (uint32, little-endian, kind and body), a byte that names its kind, and the
body. Numbers are little-endian, texts are UTF-8 behind their length (uint16).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from paramedic.ingest.bus.limits import KEY_LIMIT_BYTES, PAYLOAD_LIMIT_BYTES, encoded_key
from paramedic.ingest.contract import Start, Topic

FRAME_LIMIT_BYTES = PAYLOAD_LIMIT_BYTES + KEY_LIMIT_BYTES + 64
PROTOCOL_VERSION = 1

_LENGTH = struct.Struct("<I")
_SHORT = struct.Struct("<H")
_LONG = struct.Struct("<Q")
_TOPICS = tuple(Topic)
"""A topic travels as its place here; new topics go to the end."""


class FrameError(Exception):
    """The peer sent something that is no frame of this protocol; the connection is of no use."""


class Kind(IntEnum):
    """What a frame is; the byte behind its length."""

    PUBLISH = 1
    """Client: one message, with the publisher's own running number."""
    SUBSCRIBE = 2
    """Client: the topics it wants; from where, or how far it had come at which broker."""
    ACKNOWLEDGED = 3
    """Broker: everything up to this number is in the log."""
    SUBSCRIBED = 4
    """Broker: its identity and the offset at which each topic begins."""
    MESSAGE = 5
    """Broker: one message of a topic."""
    MISSED = 6
    """Broker: so many messages of a topic fell out of retention before they could be sent."""


@dataclass(frozen=True, slots=True)
class Publish:
    """A client hands a message over."""

    number: int
    topic: Topic
    key: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A client asks for topics; `positions` hold only at the broker named `epoch`."""

    start: Start
    epoch: int
    """The broker that the positions belong to; 0 for a new subscription."""
    positions: Mapping[Topic, int]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The broker has everything up to this number."""

    number: int


@dataclass(frozen=True, slots=True)
class Subscribed:
    """The broker's identity, and where each topic begins for this subscriber."""

    epoch: int
    positions: Mapping[Topic, int]


@dataclass(frozen=True, slots=True)
class Deliver:
    """One message on its way to a subscriber."""

    topic: Topic
    offset: int
    key: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Missed:
    """So many messages of a topic are gone, and reading goes on at the offset."""

    topic: Topic
    count: int
    next_offset: int


Frame = Publish | Subscribe | Acknowledged | Subscribed | Deliver | Missed


def write(frame: Frame) -> bytes:
    """The frame's bytes. Raises ContractError when key or payload are above their limits."""
    match frame:
        case Publish(number, topic, key, payload):
            return _message(Kind.PUBLISH, number, topic, key, payload)
        case Deliver(topic, offset, key, payload):
            return _message(Kind.MESSAGE, offset, topic, key, payload)
        case Subscribe(start, epoch, positions):
            first = bytes((PROTOCOL_VERSION, start is Start.EARLIEST))
            return _frame(Kind.SUBSCRIBE, first, _LONG.pack(epoch), _positions(positions))
        case Subscribed(epoch, positions):
            return _frame(Kind.SUBSCRIBED, _LONG.pack(epoch), _positions(positions))
        case Acknowledged(number):
            return _frame(Kind.ACKNOWLEDGED, _LONG.pack(number))
        case Missed(topic, count, next_offset):
            return _frame(
                Kind.MISSED, _topic_byte(topic), _LONG.pack(count), _LONG.pack(next_offset)
            )


def _frame(kind: Kind, *parts: bytes) -> bytes:
    return b"".join((_LENGTH.pack(1 + sum(map(len, parts))), bytes((kind,)), *parts))


def _message(kind: Kind, number: int, topic: Topic, key: str, payload: bytes) -> bytes:
    encoded = encoded_key(topic, key, payload)
    head = (_LONG.pack(number), _topic_byte(topic), _SHORT.pack(len(encoded)), encoded)
    return _frame(kind, *head, payload)


def _topic_byte(topic: Topic) -> bytes:
    return bytes((_TOPICS.index(topic),))


def _positions(positions: Mapping[Topic, int]) -> bytes:
    return b"".join(_topic_byte(topic) + _LONG.pack(offset) for topic, offset in positions.items())


def read(content: memoryview[int]) -> Frame:
    """The frame in its kind and body. Raises FrameError when it is none."""
    try:
        return _read(Kind(content[0]), content[1:])
    except (ValueError, IndexError, struct.error) as error:
        raise FrameError(f"frame of {len(content)} bytes: {error}") from error


def _read(kind: Kind, body: memoryview[int]) -> Frame:
    match kind:
        case Kind.PUBLISH:
            number, topic, key, payload = _read_message(body)
            return Publish(number, topic, key, payload)
        case Kind.MESSAGE:
            offset, topic, key, payload = _read_message(body)
            return Deliver(topic, offset, key, payload)
        case Kind.SUBSCRIBE:
            return _read_subscribe(body)
        case Kind.SUBSCRIBED:
            return Subscribed(_LONG.unpack_from(body)[0], _read_positions(body[_LONG.size :]))
        case Kind.ACKNOWLEDGED:
            return Acknowledged(*_LONG.unpack(body))
        case Kind.MISSED:
            count, next_offset = struct.unpack("<QQ", body[1:])
            return Missed(_TOPICS[body[0]], count, next_offset)


def _read_message(body: memoryview[int]) -> tuple[int, Topic, str, bytes]:
    (number,) = _LONG.unpack_from(body)
    topic = _TOPICS[body[8]]
    (key_length,) = _SHORT.unpack_from(body, 9)
    key_end = 11 + key_length
    if key_end > len(body):
        raise FrameError(f"a key of {key_length} bytes in a frame of {len(body)}")
    return number, topic, str(body[11:key_end], "utf-8"), bytes(body[key_end:])


def _read_subscribe(body: memoryview[int]) -> Subscribe:
    if body[0] != PROTOCOL_VERSION:
        raise FrameError(f"protocol version {body[0]}, this broker speaks {PROTOCOL_VERSION}")
    start = Start.EARLIEST if body[1] else Start.LATEST
    return Subscribe(start, _LONG.unpack_from(body, 2)[0], _read_positions(body[10:]))


def _read_positions(body: memoryview[int]) -> dict[Topic, int]:
    entry_bytes = 1 + _LONG.size
    if len(body) % entry_bytes:
        raise FrameError(f"positions of {len(body)} bytes, an entry has {entry_bytes}")
    return {
        _TOPICS[body[start]]: _LONG.unpack_from(body, start + 1)[0]
        for start in range(0, len(body), entry_bytes)
    }


class FrameReader:
    """Cuts a stream of bytes into frames and never holds more than one frame too many."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete with this data. Raises FrameError when it is none."""
        self._buffer += data
        frames = []
        start = 0
        with memoryview(self._buffer) as view:
            while (end := self._end_of_frame(start)) is not None:
                frames.append(read(view[start + _LENGTH.size : end]))
                start = end
        del self._buffer[:start]
        return frames

    def _end_of_frame(self, start: int) -> int | None:
        if len(self._buffer) < start + _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer, start)
        if not 1 <= length <= FRAME_LIMIT_BYTES:
            raise FrameError(f"frame of {length} bytes, allowed are 1 to {FRAME_LIMIT_BYTES}")
        end: int = start + _LENGTH.size + length
        return end if len(self._buffer) >= end else None
