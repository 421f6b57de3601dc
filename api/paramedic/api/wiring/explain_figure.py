"""Draws the figure of a verdict from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import OutputError, PreflightError
from paramedic.api.wiring.telling import say
from paramedic.api.wiring.writable import try_place_of
from paramedic.diagnosis.explanation.curves import CurveReader
from paramedic.diagnosis.explanation.depicting import depiction_of
from paramedic.ingest.contract import TelemetryBatch
from paramedic.ingest.drafts import reason_of, remedy_for, write_bytes

if TYPE_CHECKING:
    from paramedic.diagnosis.contract import Verdict
    from paramedic.ingest.recordings.recording import Recording


def require_place(path: Path) -> None:
    """Before a replay that may take minutes. Raises PreflightError where nothing can be drawn."""
    try:
        try_place_of(path)
    except OSError as error:
        raise PreflightError(
            f"--figure {path} cannot be written ({reason_of(error)}):"
            f" {remedy_for(error, 'name another file')}"
        ) from error


def draw_figure(path: Path, verdict: Verdict, recording: Recording, stderr: TextIO) -> None:
    """Write the figure. Raises OutputError when the file cannot be written."""
    drawn = figure_of(verdict, recording, path.suffix.removeprefix(".").lower())
    try:
        write_bytes(path, drawn)
    except OSError as error:
        raise OutputError(
            f"--figure {path} cannot be written ({reason_of(error)}), and nothing of it is left:"
            f" {remedy_for(error, 'name another file')}"
        ) from error
    say(stderr, f"the figure is in {path}")


def figure_of(verdict: Verdict, recording: Recording, form: str) -> bytes:
    """The figure as `png` or `svg`."""
    from paramedic.diagnosis.explanation.figure import draw

    stages = {node.name: node.pipeline_stage for node in recording.job.nodes}
    depiction = depiction_of(verdict, stages, recording.job.sampling_seconds)
    reader = CurveReader(depiction.metrics, depiction.whose, depiction.seconds)
    curves = depiction.chosen(reader.read(_batches(recording)))
    target = BytesIO()
    draw(depiction.scene, curves, form, target)
    return target.getvalue()


def _batches(recording: Recording) -> Iterator[TelemetryBatch]:
    for moment in recording.moments():
        if isinstance(moment.fact, TelemetryBatch):
            yield moment.fact
