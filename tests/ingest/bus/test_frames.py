"""Frames survive any cut of the stream, and what is no frame is refused as such."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramedic.ingest.bus.embedded.frames import (
    FRAME_LIMIT_BYTES,
    Acknowledged,
    Deliver,
    Frame,
    FrameError,
    FrameReader,
    Missed,
    Publish,
    Subscribe,
    Subscribed,
    write,
)
from paramedic.ingest.contract import Start, Topic

unhurried = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

numbers = st.integers(0, 2**64 - 1)
topics = st.sampled_from(Topic)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
payloads = st.binary(max_size=50)
positions = st.dictionaries(topics, numbers)
frames: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Publish, numbers, topics, keys, payloads),
    st.builds(Subscribe, st.sampled_from(Start), numbers, positions),
    st.builds(Acknowledged, numbers),
    st.builds(Subscribed, numbers, positions),
    st.builds(Deliver, topics, numbers, keys, payloads),
    st.builds(Missed, topics, numbers, numbers),
)


@unhurried
@given(sent=st.lists(frames, max_size=6), cuts=st.lists(st.integers(1, 40), min_size=1))
def test_frames_arrive_whole_however_the_stream_is_cut(sent: list[Frame], cuts: list[int]) -> None:
    stream = b"".join(map(write, sent))
    reader, received, start, turn = FrameReader(), list[Frame](), 0, 0
    while start < len(stream):
        size = cuts[turn % len(cuts)]
        received += reader.feed(stream[start : start + size])
        start, turn = start + size, turn + 1
    assert received == sent


@unhurried
@given(st.lists(st.binary(max_size=60), max_size=5))
def test_arbitrary_bytes_raise_nothing_but_a_frame_error(chunks: list[bytes]) -> None:
    reader = FrameReader()
    with suppress(FrameError):
        for chunk in chunks:
            reader.feed(chunk)


@unhurried
@given(kind=st.integers(0, 9), body=st.binary(max_size=60))
def test_arbitrary_bodies_raise_nothing_but_a_frame_error(kind: int, body: bytes) -> None:
    with suppress(FrameError):
        FrameReader().feed(struct.pack("<IB", len(body) + 1, kind) + body)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (struct.pack("<I", 0), "frame of 0 bytes"),
        (struct.pack("<I", FRAME_LIMIT_BYTES + 1), "allowed are 1 to"),
        (struct.pack("<IB", 1, 77), "77 is not a valid Kind"),
        (struct.pack("<IBB", 2, 3, 0), "frame of 2 bytes"),
        (struct.pack("<IBQBH", 12, 1, 0, 0, 9), "a key of 9 bytes"),
        (struct.pack("<IBQBH", 12, 1, 0, 200, 0), "out of range"),
        (struct.pack("<IBQBHB", 13, 1, 0, 0, 1, 255), "utf-8"),
        (struct.pack("<IBBBQ", 11, 2, 9, 0, 0), "protocol version 9"),
        (struct.pack("<IBBBQB", 12, 2, 1, 0, 0, 1), "positions of 1 bytes"),
    ],
)
def test_what_is_no_frame_is_refused_with_the_reason(data: bytes, complaint: str) -> None:
    with pytest.raises(FrameError, match=complaint):
        FrameReader().feed(data)
