"""How each generation of dcgm-exporter names and scales what a card says: `dialects.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class Dialect(StrEnum):
    """Which dcgm-exporter the nodes run."""

    OLD = "old"
    """1.x, or --use-old-namespace: lower-case names, label `uuid`."""
    CLASSIC = "classic"
    """2.x to 4.8.2: `DCGM_FI_…` names, label `Hostname`."""
    CLASSIC_LOWER = "classic-lower"
    """4.8.3 and 4.8.4: the same names, label `hostname`."""
    SI = "si"
    """From 4.9: the DCGM 4.7 names, base units, label `hostname`."""


@dataclass(frozen=True, slots=True)
class Field:
    """One metric family of a page."""

    name: str
    source: str
    """A GPU metric of the cluster's second, one of its counters, or a derived value."""
    factor: float
    """Printed value for one canonical unit."""
    is_whole: bool
    """Printed as an integer; otherwise with six decimals."""
    is_counter: bool
    help: str


@cache
def fields_of(dialect: Dialect) -> tuple[Field, ...]:
    """The families of a page, in their order."""
    text = (files(__package__) / "dialects.toml").read_text(encoding="utf-8")
    rows: list[Mapping[str, Any]] = tomllib.loads(text)["field"]
    spelling = "classic" if dialect is Dialect.CLASSIC_LOWER else dialect.value
    return tuple(_field(row, spelling) for row in rows if spelling in row)


def _field(row: Mapping[str, Any], spelling: str) -> Field:
    has_decimals = row.get("decimals", False)
    if spelling == "si":
        has_decimals = row.get("si_decimals", has_decimals)
    return Field(
        name=row[spelling],
        source=row["source"],
        factor=1.0 if spelling == "si" else row.get("factor", 1.0),
        is_whole=not has_decimals,
        is_counter=row.get("counter", False),
        help=row["help"],
    )
