"""The trainer's batches have the bytes that ingest reads."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.remediation.trainer.telemetry_wire import RankBatch, encode_batch

_GOLDEN = Path(__file__).parents[2] / "ingest" / "golden"


def golden_batch() -> RankBatch:
    told = json.loads((_GOLDEN / "rank_batch.json").read_text())
    (table,) = told["tables"]
    values = {
        metric: math.nan if value is None else value
        for metric, (value,) in table["columns"].items()
    }
    return RankBatch(
        told["job"],
        told["generation"],
        told["second"],
        table["nodes"][0],
        table["indices"][0],
        values,
    )


def read(data: bytes) -> tuple[dict[str, Any], dict[str, float]]:
    """What the format's description says, read anew."""
    assert data[:5] == b"PTB1\x00"
    body = data[5:]
    (length,) = struct.unpack_from("<I", body)
    header = json.loads(body[4 : 4 + length])
    at, values = 4 + length, {}
    for column in header["tables"][0]["columns"]:
        form = {"f4": "<f", "f8": "<d"}[column["type"]]
        (values[column["metric"]],) = struct.unpack_from(form, body, at)
        at += struct.calcsize(form)
    assert at == len(body)
    return header, values


@pytest.mark.skipif(not _GOLDEN.exists(), reason="ingest's golden files are not here")
def test_the_bytes_are_those_of_the_golden_file() -> None:
    golden = (_GOLDEN / "rank_batch.golden").read_bytes()
    assert encode_batch(golden_batch()) == golden


def test_steps_times_and_totals_keep_their_last_digit() -> None:
    values = {"step": 16777217.0, "heartbeat": 1767226272.25, "x_total": 16777217.0, "loss": 0.1}
    _, back = read(encode_batch(RankBatch("j", 0, 1, "n", 0, values)))
    assert back == values


@settings(max_examples=30)
@given(st.dictionaries(st.text("abc_", min_size=1, max_size=12), st.floats(width=32), max_size=8))
def test_what_is_written_can_be_read(values: dict[str, float]) -> None:
    batch = RankBatch("job", 3, 1767226272, "node-0001", 1, values)
    header, back = read(encode_batch(batch))
    assert (header["job"], header["generation"], header["second"]) == ("job", 3, 1767226272)
    assert header["tables"][0]["nodes"] == ["node-0001"]
    assert list(back) == sorted(values)
    for metric, value in values.items():
        same = struct.pack("<d", back[metric]) == struct.pack("<d", value)
        assert same or (math.isnan(value) and math.isnan(back[metric]))


def test_a_value_beyond_32_bits_becomes_infinite_and_the_row_stays() -> None:
    _, back = read(encode_batch(RankBatch("j", 0, 1, "n", 0, {"gradient_norm": 1e300, "step": 4})))
    assert back == {"gradient_norm": math.inf, "step": 4}
