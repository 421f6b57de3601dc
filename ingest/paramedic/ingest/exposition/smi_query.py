"""Reads what `nvidia-smi --query-gpu=… --format=csv` prints, also where other text surrounds it.

Every column gets the name and the unit that nvidia_gpu_exporter gives it, which reads the same
table; the catalogue knows those names. Text values say nothing and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import RawPage, Series

_COLUMN = re.compile(r"([a-zA-Z][\w.]*)(?: \[(\S+)\])?")
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")
_PREFIX = "nvidia_smi_"
# Unit in the header: how the exporter's name ends, and the factor to its unit.
_UNITS: Mapping[str, tuple[str, float]] = {
    "%": ("_ratio", 0.01),
    "W": ("_watts", 1.0),
    "MiB": ("_bytes", 1048576.0),
    "MHz": ("_clock_hz", 1e6),
    "us": ("_seconds", 1e-6),
}
_WORDS: Mapping[str, Mapping[str, float]] = {
    "remapped_rows.pending": {"No": 0.0, "Yes": 1.0},
    "remapped_rows.failure": {"No": 0.0, "Yes": 1.0},
    "gpu_recovery_action": {
        "None": 0.0,
        "Reset": 1.0,
        "Reboot": 2.0,
        "Drain P2P": 3.0,
        "Drain and Reset": 4.0,
    },
}
_LABELS = {"uuid": "uuid", "index": "gpu", "hostname": "hostname", "pci.bus_id": "pci_bus_id"}
_ABSENT = frozenset(("", "[N/A]", "N/A"))
_NAMES_A_GPU = frozenset(("uuid", "index", "pci.bus_id"))
_LEAST_COLUMNS = 2


def has_smi_query(text: str) -> bool:
    """Whether there is such a table somewhere in the text."""
    return any(_header(line) is not None for line in text.splitlines())


def pages_of_smi_query(
    text: str, origin: str, taken_seconds: float, default_node: NodeName | None = None
) -> list[RawPage]:
    """One page a table, in the text's order; a table without a time was taken at the given one."""
    lines = text.splitlines()
    pages: list[RawPage] = []
    for number, line in enumerate(lines):
        columns = _header(line)
        if columns is not None:
            rows = list(_rows(lines[number + 1 :], len(columns)))
            pages.append(_page(columns, rows, origin, taken_seconds, default_node))
    return pages


def _header(line: str) -> list[tuple[str, str]] | None:
    """The columns' names and units."""
    parts = [_COLUMN.fullmatch(part.strip()) for part in line.split(",")]
    columns = [(part[1], part[2] or "") for part in parts if part is not None]
    is_table = len(columns) == len(parts) >= _LEAST_COLUMNS
    names = {name for name, _ in columns}
    has_values = any(unit for _, unit in columns)
    return columns if is_table and has_values and names & _NAMES_A_GPU else None


def _rows(lines: Sequence[str], width: int) -> Iterator[list[str]]:
    for line in lines:
        row = [part.strip() for part in line.split(",")]
        if len(row) != width:
            return
        yield row


def _page(
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[str]],
    origin: str,
    taken_seconds: float,
    default_node: NodeName | None,
) -> RawPage:
    series: list[Series] = []
    values: list[float] = []
    for row in rows:
        by_name = {name: text for (name, _), text in zip(columns, row, strict=True)}
        labels = _labels_of(by_name)
        taken_seconds = _written_at(by_name.get("timestamp", ""), taken_seconds)
        for (name, unit), text in zip(columns, row, strict=True):
            value = _number(name, unit, text)
            if value is not None and name not in _LABELS:
                series.append(Series(_exporters_name(name, unit), labels))
                values.append(value)
    return RawPage(origin, taken_seconds, series, values, default_node=default_node)


def _labels_of(row: Mapping[str, str]) -> dict[str, str]:
    return {
        label: row[column]
        for column, label in _LABELS.items()
        if row.get(column, "") not in _ABSENT
    }


def _exporters_name(name: str, unit: str) -> str:
    plain = _CAPITAL.sub(r"_\1", name).lower().replace(".", "_")
    return f"{_PREFIX}{plain}{_UNITS.get(unit, ('', 1.0))[0]}"


def _number(name: str, unit: str, text: str) -> float | None:
    words = _WORDS.get(name)
    if words is not None:
        return words.get(text)
    digits = text.removesuffix(f" {unit}") if unit else text
    try:
        value = float(int(digits, 16)) if digits.startswith("0x") else float(digits)
    except (ValueError, OverflowError):
        return None
    return value * _UNITS.get(unit, ("", 1.0))[1]


def _written_at(text: str, otherwise: float) -> float:
    """Its time says no zone; UTC is as good as any."""
    try:
        return datetime.strptime(text, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return otherwise
