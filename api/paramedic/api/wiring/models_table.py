"""Trained models for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.ingest.contract import format_time
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from paramedic.models.registry.manifest import Manifest

_HEADINGS = ("version", "stage", "name", "created", "metrics", "recordings", "scores")
_HEADLINES = ("labelled_f1", "held_out_loss_nats")
"""Of all scores, those that a line has room for."""
_SHOWN = 8
_LONGEST = 24


def lines_of_list(rows: Sequence[Mapping[str, object]], root: Path) -> Iterator[str]:
    """A table of versions, and what is wrong with those that are damaged."""
    if not rows:
        yield f"no versions in {root}: the model that ships is in use (paramedic models show)"
        return
    brief = [{**row, "scores": _headlines(row.get("scores"))} for row in rows]
    table = [_HEADINGS, *(tuple(_cell(row.get(one)) for one in _HEADINGS) for row in brief)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        yield "  ".join(padded).rstrip()
    yield from (f"damaged: {row['damaged']}" for row in rows if "damaged" in row)


def lines_of_model(manifest: Manifest) -> Iterator[str]:
    """One model, a line for each thing that is known."""
    where = f"version {manifest.version}" if manifest.version else "in no registry"
    yield f"{manifest.name}, {where}, made {manifest.created}"
    yield f"release {manifest.code_version}, catalogue {manifest.catalogue_version}"
    yield f"tensors {manifest.tensors_sha256}"
    yield f"{len(manifest.metrics)} metrics: {some_names(manifest.metrics, _SHOWN)}"
    settings = ((name, _cell(value)[:_LONGEST]) for name, value in manifest.settings.items())
    yield "settings: " + " ".join(f"{name}={value}" for name, value in sorted(settings))
    if not manifest.scores:
        yield "scores: none"
    yield from (f"{name}: {_cell(value)}" for name, value in sorted(manifest.scores.items()))
    for seen in manifest.trained_on:
        begun = format_time(datetime.fromtimestamp(seen.first_second, UTC))
        yield f"trained on {seen.name}: {seen.seconds} s from {begun}, {seen.sha256[:12]}"
    for change in manifest.stages:
        yield f"{change.at}  {change.stage.value}  {change.why}".rstrip()


def _headlines(scores: object) -> object:
    """Those of a training by their headlines; others whole."""
    if not isinstance(scores, Mapping):
        return scores
    return {name: scores[name] for name in _HEADLINES if name in scores} or scores


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_cell(one)}" for name, one in sorted(value.items()))
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)
