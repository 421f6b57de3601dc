"""Reads ASD (InterFusion, MIT): 12 servers, 19 metrics, a sample every five minutes.

30 unlabelled days, then labelled ones. All servers sit on one clock; one of them began later.
"""

from __future__ import annotations

import csv
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from paramedic.diagnosis.benchmark.real_sets.errors import RealSetFormatError
from paramedic.diagnosis.benchmark.real_sets.location import present
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window
from paramedic.models.history import JobHistory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SLOT_SECONDS = 300
RESOLUTION = 0.01
"""Values are whole hundredths."""
_JOB = JobName("asd")
_LABELLED_FROM = 5_000_000 * SLOT_SECONDS
"""The set has no dates; the labelled days begin in this second."""
_LOCALISABLE = ("solo", "few")


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A stretch in which one server was labelled; slots of the labelled days."""

    node: NodeName
    first: int
    end: int
    """The first slot after it."""
    event_class: str
    """`solo`, `few` or `shared`: how many servers deviated."""


@dataclass(frozen=True, slots=True)
class Asd:
    """The set: all servers in the same order everywhere."""

    past: JobHistory
    """The unlabelled days."""
    labelled: JobHistory
    labels: NDArray[np.bool_]
    """(server, slot): whether the server is labelled."""
    runs: tuple[LabelledRun, ...]

    def place(self, node: NodeName) -> int:
        """The server's position. Raises ValueError when there is no such server."""
        return [row.node for row in self.labelled.windows[Entity.NODE].rows].index(node)

    @property
    def localisable_runs(self) -> list[LabelledRun]:
        """The runs in which one server, or few, deviated."""
        return [run for run in self.runs if run.event_class in _LOCALISABLE]


def read_asd(folder: Path) -> Asd:
    """Read the set. Raises RealSetError."""
    archive, segments = present(folder / "asd_dev.npz"), present(folder / "asd_dev_segments.csv")
    with (
        _told_with(archive),
        archive.open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        servers = _servers(arrays)
        past = _aligned([arrays[f"{server}/train"] for server in servers])
        labelled = _aligned([arrays[f"{server}/test"] for server in servers])
        labels = np.stack([arrays[f"{server}/label"] != 0 for server in servers])
    with _told_with(segments):
        runs = _runs(segments)
    before = _LABELLED_FROM - past.shape[1] * SLOT_SECONDS
    return Asd(
        _history(servers, past, before), _history(servers, labelled, _LABELLED_FROM), labels, runs
    )


@contextmanager
def _told_with(file: Path) -> Iterator[None]:
    """Whatever is wrong with the file is told with its name."""
    try:
        yield
    except (LookupError, TypeError, ValueError, OSError, EOFError, BadZipFile) as error:
        raise RealSetFormatError(f"{file}: ASD cannot be read: {error!r}") from error


def _servers(arrays: Mapping[str, Any]) -> list[NodeName]:
    numbered = (NodeName(f"omi-{number}") for number in count(1))
    servers = list(takewhile(lambda name: f"{name}/train" in arrays, numbered))
    if not servers:
        raise KeyError("omi-1/train")
    return servers


def _aligned(arrays: Sequence[NDArray[np.int16]]) -> NDArray[np.float32]:
    """(server, slot, metric): arrays end together; what began later is unknown before."""
    slots = max(len(array) for array in arrays)
    aligned = np.full((len(arrays), slots, arrays[0].shape[1]), np.nan, np.float32)
    for server, array in zip(aligned, arrays, strict=True):
        server[slots - len(array) :] = array * RESOLUTION
    return aligned


def _history(servers: Sequence[NodeName], values: NDArray[np.float32], first: int) -> JobHistory:
    metrics = tuple(f"asd_{number:02d}" for number in range(1, values.shape[2] + 1))
    by_metric = values.transpose(0, 2, 1)
    rows = tuple(EntityKey(Entity.NODE, server) for server in servers)
    window = Window(
        _JOB, 0, Entity.NODE, first, rows, metrics, by_metric, ~np.isnan(by_metric), SLOT_SECONDS
    )
    return JobHistory(_JOB, {Entity.NODE: window})


def _runs(segments: Path) -> tuple[LabelledRun, ...]:
    with segments.open(newline="", encoding="utf-8") as file:
        return tuple(
            LabelledRun(
                NodeName(row["machine"]), int(row["start"]), int(row["end"]), row["event_class"]
            )
            for row in csv.DictReader(file)
        )
