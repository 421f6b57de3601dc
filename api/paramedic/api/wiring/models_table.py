"""Trained models for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.wiring.wording import counted
from paramedic.ingest.contract import format_time
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from paramedic.models.registry.manifest import Manifest, TrainedOn

_HEADINGS = ("version", "stage", "name", "created", "metrics", "recordings", "scores")
_HEADLINES = ("labelled_f1", "held_out_loss_nats")
"""Of all scores, those that a line has room for."""
_SHOWN = 8
_LONGEST = 24
_RECORDINGS = 4
"""So many are listed, of more their number is told."""


def lines_of_list(rows: Sequence[Mapping[str, object]], root: Path) -> Iterator[str]:
    """A table of versions, and what is wrong with those that are damaged."""
    if not rows:
        where = "no versions in" if root.exists() else "there is no registry yet at"
        yield f"{where} {root}: the model that ships is in use (paramedic models show)"
        return
    brief = [{**row, "scores": _headlines(row.get("scores"))} for row in rows]
    table = [_HEADINGS, *(tuple(_cell(row.get(one)) for one in _HEADINGS) for row in brief)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        yield "  ".join(padded).rstrip()
    yield from (f"damaged: {row['damaged']}" for row in rows if "damaged" in row)


def lines_of_model(manifest: Manifest, *, is_whole: bool = False) -> Iterator[str]:
    """One model, a line for each thing that is known; without `is_whole` long lists are cut."""
    shown = len(manifest.metrics) if is_whole else _SHOWN
    where = f"version {manifest.version}" if manifest.version else "in no registry"
    yield f"{manifest.name}, {where}, made {manifest.created}"
    yield f"release {manifest.code_version}, catalogue {manifest.catalogue_version}"
    yield f"tensors {manifest.tensors_sha256}"
    yield f"{counted(len(manifest.metrics), 'metric')}: {some_names(manifest.metrics, shown)}"
    longest = None if is_whole else _LONGEST
    settings = [f"{k}={_cell(value)[:longest]}" for k, value in sorted(manifest.settings.items())]
    if is_whole or len(settings) <= _SHOWN:
        yield f"settings: {' '.join(settings)}"
    else:
        yield f"{len(settings)} settings: {' '.join(settings[:_SHOWN])} …"
    if not manifest.scores:
        yield "scores: none"
    yield from (f"{name}: {_cell(value)}" for name, value in sorted(manifest.scores.items()))
    yield from _lines_of_recordings(manifest.trained_on, is_whole=is_whole)
    for change in manifest.stages:
        yield f"{change.at}  {change.stage.value}  {change.why}".rstrip()


def _lines_of_recordings(seen: Sequence[TrainedOn], *, is_whole: bool) -> Iterator[str]:
    """Each of a few; of many how much they are, and the first of them."""
    if not is_whole and len(seen) > _RECORDINGS:
        seconds = sum(one.seconds for one in seen)
        names = some_names((one.name for one in seen), 3)
        yield f"trained on {len(seen)} recordings, {seconds} s: {names} (--all lists them)"
        return
    for one in seen:
        begun = format_time(datetime.fromtimestamp(one.first_second, UTC))
        yield f"trained on {one.name}: {one.seconds} s from {begun}, {one.sha256[:12]}"


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
