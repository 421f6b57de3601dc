"""A telemetry batch as bytes, version 1: the trainer's side of the bus format.

Layout: magic `PTB1`, one byte for the compression (none here), then the body: uint32
length of the header, header as JSON, and for each column of each table its values. All numbers
are little-endian. Standard library only.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAGIC = b"PTB1"
_VERSION = 1
_PLAIN = b"\x00"
_DOUBLES = frozenset({"step", "heartbeat", "loss"})
_FORMATS = {"f4": "<f", "f8": "<d"}


@dataclass(frozen=True, slots=True)
class RankBatch:
    """One rank's values of one second. A metric that is not in `values` was not observed."""

    job: str
    generation: int
    second: int
    """Unix time, UTC."""
    node: str
    rank: int
    values: Mapping[str, float]


def encode_batch(batch: RankBatch) -> bytes:
    """The batch's bytes, not compressed: one row is too small to gain anything."""
    metrics = sorted(batch.values)
    columns = [{"metric": metric, "type": _type_of(metric)} for metric in metrics]
    table: dict[str, object] = {
        "columns": columns,
        "entity": "rank",
        "indices": [batch.rank],
        "nodes": [batch.node],
    }
    header = json.dumps(_header(batch, table), sort_keys=True, separators=(",", ":")).encode()
    body = struct.pack("<I", len(header)) + header
    body += b"".join(_pack(metric, batch.values[metric]) for metric in metrics)
    return _MAGIC + _PLAIN + body


def _header(batch: RankBatch, table: dict[str, object]) -> dict[str, object]:
    return {
        "generation": batch.generation,
        "job": batch.job,
        "second": batch.second,
        "tables": [table],
        "version": _VERSION,
    }


def _pack(metric: str, value: float) -> bytes:
    try:
        return struct.pack(_FORMATS[_type_of(metric)], value)
    except OverflowError:
        # Beyond what 32 bits hold; infinity says so, an error here would lose the whole row.
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def _type_of(metric: str) -> str:
    return "f8" if metric in _DOUBLES or metric.endswith("_total") else "f4"
