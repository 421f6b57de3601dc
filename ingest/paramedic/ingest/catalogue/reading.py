"""Reads the catalogue's file (metrics.toml tells its form) into metrics and exporters' names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from paramedic.ingest.catalogue.metric import (
    Before,
    CatalogueError,
    Exported,
    Kind,
    Metric,
    Over,
    Ratio,
)
from paramedic.ingest.contract import Entity, why_not

IGNORED = "ignored"
_METRIC_KEYS = frozenset(
    ("entity", "unit", "kind", "range", "input", "complement", "ratio", "total")
)
_NAME_KEYS = frozenset(("name", "factor", "kind", "over", "per", "only", "drop", "before"))
_UNREADABLE = (KeyError, ValueError, TypeError, AttributeError)
_SEVERAL = re.compile(r"\[(\d)-(\d)\]")


@dataclass(frozen=True, slots=True)
class ReadCatalogue:
    """What the file says, in its order."""

    metrics: tuple[Metric, ...]
    exported: tuple[Exported, ...]
    ignored: tuple[str, ...]
    """Patterns of names that are known and no telemetry."""


def read_catalogue(text: str) -> ReadCatalogue:
    """Read the text of a catalogue. Raises CatalogueError, naming the metric and the reason."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"metric catalogue: not TOML: {error}") from error
    ignored = tables.pop(IGNORED, {})
    metrics = {name: _metric(name, table) for name, table in tables.items()}
    _check_ratios(metrics)
    exported: list[Exported] = []
    for name, table in tables.items():
        exported += _names_of(metrics[name], table, len(exported))
    _check_names(exported)
    patterns = tuple(pattern for names in ignored.values() for pattern in names)
    return ReadCatalogue(tuple(metrics.values()), tuple(exported), patterns)


def _metric(name: str, table: Mapping[str, Any]) -> Metric:
    try:
        low, high = table["range"]
        ratio = table.get("ratio")
        return Metric(
            id=name,
            entity=Entity(table["entity"]),
            unit=table["unit"],
            kind=Kind(table["kind"]),
            low=float(low),
            high=float(high),
            is_input=table.get("input", False),
            is_complement=table.get("complement", False),
            ratio=None if ratio is None else Ratio(ratio["of"], ratio["by"], Over(ratio["over"])),
            total=table.get("total", f"{name.removesuffix('_per_second')}_total"),
        )
    except _UNREADABLE as error:
        raise CatalogueError(f"metric catalogue: [{name}]: {why_not(error)}") from error


def _names_of(metric: Metric, table: Mapping[str, Any], rank: int) -> Iterator[Exported]:
    for dialect, names in table.items():
        if dialect in _METRIC_KEYS:
            continue
        group = rank
        for entry in names if isinstance(names, list) else [names]:
            fields = {"name": entry} if isinstance(entry, str) else entry
            for name in _spelled_out(fields["name"]):
                group = rank if fields.get("over", Over.FIRST) == Over.FIRST else group
                yield _exported(name, metric, dialect, fields, group, rank)
                rank += 1


def _exported(
    name: str, metric: Metric, dialect: str, fields: Mapping[str, Any], group: int, rank: int
) -> Exported:
    unknown = set(fields) - _NAME_KEYS
    if unknown:
        raise CatalogueError(f"metric catalogue: [{metric.id}] {name}: unknown {sorted(unknown)}")
    try:
        before = fields.get("before")
        return Exported(
            name=name,
            metric=metric,
            dialect=dialect,
            factor=float(fields.get("factor", 1.0)),
            kind=Kind(fields.get("kind", metric.kind)),
            over=Over(fields.get("over", Over.FIRST)),
            per=tuple(fields.get("per", ())),
            only=_patterns(fields.get("only", {})),
            drop=_patterns(fields.get("drop", {})),
            before=None if before is None else Before(**before),
            group=group,
            rank=rank,
        )
    except (*_UNREADABLE, re.error) as error:
        raise CatalogueError(f"metric catalogue: [{metric.id}] {name}: {why_not(error)}") from error


def _patterns(texts: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {label: re.compile(text) for label, text in texts.items()}


def _spelled_out(names: str | list[str]) -> Iterator[str]:
    """`prio[0-7]` as eight names."""
    for name in [names] if isinstance(names, str) else names:
        several = _SEVERAL.search(name)
        if several is None:
            yield name
            continue
        for digit in range(int(several[1]), int(several[2]) + 1):
            yield _SEVERAL.sub(str(digit), name)


def _check_ratios(metrics: Mapping[str, Metric]) -> None:
    for metric in metrics.values():
        for part in () if metric.ratio is None else (metric.ratio.of, metric.ratio.by):
            if part not in metrics:
                raise CatalogueError(f"metric catalogue: [{metric.id}]: no metric {part!r}")


def _check_names(exported: list[Exported]) -> None:
    seen: dict[str, str] = {}
    for name in exported:
        if name.name in seen:
            raise CatalogueError(
                f"metric catalogue: {name.name} is both {seen[name.name]} and {name.metric.id}"
            )
        seen[name.name] = name.metric.id
