"""The layout facts of a telemetry batch, read from the schema file beside this module."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Literal

SCHEMA_FILE = "telemetry_batch.schema.json"


class ValueType(StrEnum):
    """How the values of a column lie in the body."""

    F4 = "f4"
    """IEEE 754 binary32, little-endian."""
    F8 = "f8"
    """IEEE 754 binary64, little-endian: for counters and whatever must keep every digit."""

    @property
    def typecode(self) -> Literal["f", "d"]:
        """The type's letter in `array` and `memoryview`."""
        return "f" if self is ValueType.F4 else "d"

    @property
    def width_bytes(self) -> int:
        """Bytes a value takes."""
        return 4 if self is ValueType.F4 else 8


class Compression(StrEnum):
    """What was done to the body; the byte after the magic says it."""

    NONE = "none"
    """For the trainer and for golden bytes: nothing depends on a compressor's version."""
    ZLIB = "zlib"
    """For everything that crosses a network."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the schema file states beyond the shape of the header."""

    version: int
    magic: bytes
    compression_bytes: dict[Compression, int]
    f8_metrics: frozenset[str]
    f8_suffixes: tuple[str, ...]
    header_limit_bytes: int
    body_limit_bytes: int
    nodes_per_shard: int

    def type_of(self, metric: str) -> ValueType:
        """The type in which a metric is written."""
        exact = metric in self.f8_metrics or metric.endswith(self.f8_suffixes)
        return ValueType.F8 if exact else ValueType.F4


@cache
def schema() -> dict[str, Any]:
    """The schema file as it ships: JSON Schema of the header, and `layout`."""
    text = resources.files(__package__).joinpath(SCHEMA_FILE).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


@cache
def layout() -> Layout:
    """The layout facts of the schema file."""
    facts = schema()["layout"]
    rule = facts["type_rule"]
    return Layout(
        version=facts["version"],
        magic=facts["magic"].encode("ascii"),
        compression_bytes={
            Compression(name): int(byte) for byte, name in facts["compression"].items()
        },
        f8_metrics=frozenset(rule["f8_metrics"]),
        f8_suffixes=tuple(rule["f8_suffixes"]),
        header_limit_bytes=facts["limits"]["header_bytes"],
        body_limit_bytes=facts["limits"]["body_bytes"],
        nodes_per_shard=facts["message_key"]["nodes_per_shard"],
    )
