"""What a trainer may send, and why anything else is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.agent.datagrams import RankReport, read_datagram
from paramedic.ingest.agent.errors import DatagramRefusedError, RefusalReason
from paramedic.ingest.agent.watched import WatchedProcess
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

JOB = JobName("job")
A, SPARE = NodeName("a"), NodeName("s")
WATCHED = (WatchedProcess(A, 1, 0), WatchedProcess(SPARE, 2, None))


def ranks(*rows: tuple[NodeName, int]) -> Table:
    nodes, indices = tuple(node for node, _ in rows), tuple(rank for _, rank in rows)
    return Table(Entity.RANK, nodes, indices, {"step": (5.0,) * len(rows)})


def datagram(*tables: Table, job: JobName = JOB) -> bytes:
    return encode(TelemetryBatch(job, 2, 1000, tables))


def test_the_row_of_a_watched_rank_is_read() -> None:
    report = read_datagram(datagram(ranks((A, 0))), JOB, WATCHED)
    assert report == RankReport(A, 0, 2, 1000, {"step": 5.0})


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", RefusalReason.MALFORMED),
        (b"hello", RefusalReason.MALFORMED),
        (datagram(ranks((A, 0)))[:-3], RefusalReason.MALFORMED),
        (datagram(ranks((A, 0)), job=JobName("other")), RefusalReason.FOREIGN_JOB),
        (datagram(ranks((NodeName("x"), 0))), RefusalReason.FOREIGN_NODE),
        (datagram(ranks((A, 1))), RefusalReason.FOREIGN_RANK),
        (datagram(ranks((SPARE, 0))), RefusalReason.FOREIGN_RANK),
        (datagram(), RefusalReason.NOT_ONE_RANK),
        (datagram(ranks((A, 0), (A, 1))), RefusalReason.NOT_ONE_RANK),
        (datagram(ranks((A, 0)), ranks((A, 0))), RefusalReason.NOT_ONE_RANK),
        (datagram(Table(Entity.NODE, (A,), None, {"x": (1.0,)})), RefusalReason.NOT_ONE_RANK),
    ],
)
def test_anything_else_is_refused_with_its_reason(payload: bytes, reason: RefusalReason) -> None:
    with pytest.raises(DatagramRefusedError) as refusal:
        read_datagram(payload, JOB, WATCHED)
    assert refusal.value.reason is reason


@settings(max_examples=50)
@given(payload=st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_refusal(payload: bytes) -> None:
    with pytest.raises(DatagramRefusedError):
        read_datagram(payload, JOB, WATCHED)


@settings(max_examples=50)
@given(at=st.integers(0, 400), byte=st.integers(0, 255))
def test_a_damaged_datagram_is_read_or_refused(at: int, byte: int) -> None:
    payload = bytearray(datagram(ranks((A, 0))))
    payload[at % len(payload)] = byte
    with suppress(DatagramRefusedError):
        assert read_datagram(bytes(payload), JOB, WATCHED).node == A
