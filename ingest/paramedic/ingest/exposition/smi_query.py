"""Reads what `nvidia-smi --query-gpu=… --format=csv` prints, also where other text surrounds it.

Every column gets the name and the unit that nvidia_gpu_exporter gives it, which reads the same
table; the catalogue knows those names. Texts in columns of texts say nothing and are left out;
whatever else is left out is counted by its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from paramedic.ingest.contract import NodeName
from paramedic.ingest.exposition.moments import is_moment
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
_NOT_AVAILABLE = re.compile(r"N/A|\[.*\]|")
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
            table = _Table(columns, taken_seconds)
            for row in _rows(lines[number + 1 :]):
                table.add(row)
            pages.append(table.page(origin, default_node))
    return pages


def _header(line: str) -> list[tuple[str, str]] | None:
    """The columns' names and units."""
    parts = [_COLUMN.fullmatch(part.strip()) for part in line.split(",")]
    columns = [(part[1], part[2] or "") for part in parts if part is not None]
    is_table = len(columns) == len(parts) >= _LEAST_COLUMNS
    names = {name for name, _ in columns}
    has_values = any(unit for _, unit in columns)
    return columns if is_table and has_values and names & _NAMES_A_GPU else None


def _rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """What follows a header up to a line that can be no row, not even half of one."""
    for line in lines:
        row = [part.strip() for part in line.split(",")]
        if len(row) < _LEAST_COLUMNS or _header(line) is not None:
            return
        yield row


class _Table:
    """What one table says."""

    def __init__(self, columns: Sequence[tuple[str, str]], taken_seconds: float) -> None:
        self._columns = columns
        self._taken_seconds = taken_seconds
        self._series: list[Series] = []
        self._values: list[float] = []
        self._unreadable: Counter[str] = Counter()

    def add(self, row: Sequence[str]) -> None:
        """One GPU's row."""
        if len(row) != len(self._columns):
            self._unreadable["bad_row"] += 1
            return
        by_name = {name: text for (name, _), text in zip(self._columns, row, strict=True)}
        written = _written_at(by_name.get("timestamp"), self._taken_seconds)
        if written is None:
            self._unreadable["bad_time"] += 1
            return
        self._taken_seconds = written
        labels = _labels_of(by_name)
        for (name, unit), text in zip(self._columns, row, strict=True):
            if name not in _LABELS and name != "timestamp":
                self._add_cell(name, unit, text, labels)

    def _add_cell(self, name: str, unit: str, text: str, labels: Mapping[str, str]) -> None:
        value = _number(name, unit, text)
        if value is not None:
            self._series.append(Series(_exporters_name(name, unit), labels))
            self._values.append(value)
        elif _NOT_AVAILABLE.fullmatch(text):
            self._unreadable["not_available"] += 1
        elif unit or name in _WORDS:
            self._unreadable["not_a_number"] += 1

    def page(self, origin: str, default_node: NodeName | None) -> RawPage:
        """All of it."""
        return RawPage(origin, self._taken_seconds, self._series, self._values,
                       dict(self._unreadable), default_node)  # fmt: skip


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


def _written_at(text: str | None, otherwise: float) -> float | None:
    """Its time says no zone; UTC is as good as any. None where it is no time."""
    if text is None:
        return otherwise
    try:
        moment = datetime.strptime(text, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment.timestamp() if is_moment(moment.timestamp()) else None
