"""What a model was made of: the telemetry it has seen, and what read it."""

from __future__ import annotations

from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from paramedic.models.registry.manifest import Manifest, TrainedOn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paramedic.ingest.contract import Window
    from paramedic.models.history import JobHistory

_SHOWN_DIGITS = 12


def manifest_of_training(
    name: str,
    created: str,
    seen: Iterable[tuple[str, JobHistory]],
    scores: Mapping[str, float] | None = None,
) -> Manifest:
    """The manifest of a model that was trained just now, on these histories by these names."""
    return Manifest(
        name=name,
        created=created,
        code_version=code_version(),
        catalogue_version=catalogue_version(),
        scores=dict(scores or {}),
        trained_on=tuple(trained_on(where, history) for where, history in seen),
    )


def trained_on(name: str, history: JobHistory) -> TrainedOn:
    """A history as the manifest names it: its span, and a hash of everything observed in it."""
    content = sha256(history.job.encode())
    for entity, window in sorted(history.windows.items()):
        content.update(_heading(entity, window))
        content.update(np.packbits(window.observed).tobytes())
        content.update(np.where(window.observed, window.values, np.float32(0)).tobytes())
    seconds = history.seconds
    first = seconds.start if seconds else 0
    return TrainedOn(name, first, len(seconds) * seconds.step, content.hexdigest())


def code_version() -> str:
    """The release of Paramedic that runs."""
    return version("paramedic")


def catalogue_version() -> str:
    """Beginning of the SHA-256 of the catalogue: equal ones know equal metrics."""
    text = files("paramedic.ingest.catalogue").joinpath("metrics.toml").read_bytes()
    return sha256(text).hexdigest()[:_SHOWN_DIGITS]


def _heading(entity: str, window: Window) -> bytes:
    rows = [(row.node, row.index) for row in window.rows]
    return repr((entity, window.first_second, window.slot_seconds, rows, window.metrics)).encode()
