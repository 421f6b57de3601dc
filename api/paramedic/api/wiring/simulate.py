"""Puts the synthetic cluster together: served as exporters, or recorded."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import OutputError, PreflightError
from paramedic.api.wiring.stopping import signals_held, stop_on_signals
from paramedic.api.wiring.telling import say, tell
from paramedic.api.wiring.wording import counted
from paramedic.ingest.contract import JobName, NodeName
from paramedic.ingest.drafts import reason_of, remedy_for, write_text
from paramedic.ingest.recordings.errors import RecordingWriteError

if TYPE_CHECKING:
    from paramedic.ingest.synthetic.cluster import SyntheticCluster
    from paramedic.ingest.synthetic.configuration import ClusterConfig
    from paramedic.ingest.synthetic.faults.plan import FaultPlan
    from paramedic.ingest.synthetic.serving.addresses import NodeAddress

_TELL_EVERY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class FaultWanted:
    """A fault as it was asked for; its second counts from the first that is seen."""

    kind: str
    node: str
    gpu: int | None = None
    at_second: int = 0
    seconds: int | None = None
    strength: float = 0.5


@dataclass(frozen=True, slots=True)
class ClusterWanted:
    """A cluster as it was asked for; None: as the preset has it, or the default."""

    preset: str | None = None
    nodes: int | None = None
    gpus: int | None = None
    stages: int | None = None
    experts: int | None = None
    seed: int | None = None
    job: str = "synthetic"
    undisturbed: bool = False
    age_seconds: int = 0
    """How old the job is when it is first seen."""
    fault: FaultWanted | None = None

    def config(self, first_second: int | None = None) -> ClusterConfig:
        """Its configuration; `first_second` (Unix) where it shall not be the default one.

        Raises ClusterSettingError when it is none that can be.
        """
        from paramedic.ingest.synthetic.configuration import PRESETS, ClusterConfig

        base = PRESETS[self.preset]() if self.preset is not None else ClusterConfig()
        asked = {
            "nodes": self.nodes,
            "gpus": self.gpus,
            "pipeline_stages": self.stages,
            "expert_groups": self.experts,
        }
        config = replace(
            base,
            job=JobName(self.job),
            seed=base.seed if self.seed is None else self.seed,
            first_second=base.first_second if first_second is None else first_second,
            shape=replace(base.shape, **{k: v for k, v in asked.items() if v is not None}),
            faults=() if self.fault is None else (_plan(self.fault, self.age_seconds),),
        )
        return config.undisturbed() if self.undisturbed else config


@dataclass(frozen=True, slots=True)
class Serving:
    """How the pages are to be served."""

    dialect: str = "classic"
    job_labels: str = "hpc-job"
    port: int = 0
    port_per_node: bool = False
    speed: float = 1.0
    seconds: int | None = None
    """None: until asked to end."""
    prometheus_file: Path | None = None
    hosts_file: Path | None = None


def serve(wanted: ClusterWanted, how: Serving, stdout: TextIO, stderr: TextIO) -> int:
    """Serve the pages until asked to end, or until the seconds are over.

    Raises SyntheticError, or PreflightError when a file cannot be written.
    """
    with stop_on_signals() as stop:
        asyncio.run(serve_until(wanted, how, stdout, stderr, stop, time.time))
    return 0


async def serve_until(
    wanted: ClusterWanted,
    how: Serving,
    stdout: TextIO,
    stderr: TextIO,
    stop: threading.Event,
    clock: Callable[[], float],
) -> None:
    """Serve the pages until the event is set; `clock` gives Unix seconds."""
    from paramedic.ingest.synthetic.cluster import SyntheticCluster
    from paramedic.ingest.synthetic.exposition.dialects import Dialect
    from paramedic.ingest.synthetic.exposition.gpu_page import Attribution
    from paramedic.ingest.synthetic.serving.addresses import summary
    from paramedic.ingest.synthetic.serving.pages import Pages
    from paramedic.ingest.synthetic.serving.server import serving

    cluster = SyntheticCluster(wanted.config(int(clock()) - wanted.age_seconds))
    dialect, attribution = Dialect(how.dialect), Attribution(how.job_labels)
    cluster.second(wanted.age_seconds)
    pages = Pages(cluster, dialect, attribution, clock, how.speed)
    nodes = cluster.layout.nodes
    async with serving(pages, nodes, how.port, how.port_per_node) as addresses:
        _write_files(addresses, how)
        tell(stdout, json.dumps(summary(wanted.job, addresses)) + "\n")
        say(stderr, f"{_words(cluster)} at {addresses[0].gpu_url} and so on")
        await asyncio.to_thread(stop.wait, how.seconds)


def record(
    wanted: ClusterWanted,
    folder: Path,
    labels: Path | None,
    seconds: int,
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    """Write a recording, and beside it what is broken.

    Raises SyntheticError or RecordingError, and PreflightError, before anything is told or there,
    when the folder or the labels are there already, or the labels cannot be written.
    """
    from paramedic.ingest.synthetic import recording
    from paramedic.ingest.synthetic.cluster import SyntheticCluster

    cluster = SyntheticCluster(wanted.config())
    own = folder.resolve()
    beside = own.with_name(f"{own.name}.labels.json") if labels is None else labels
    _require_unused(beside, folder)
    _require_writable(beside, folder)
    progress = Progress(seconds, stderr, time.monotonic)
    with signals_held() as held, what_is_left_told(folder, beside):
        say(stderr, f"recording {seconds} s of {_words(cluster)}")
        recording.record(
            cluster, folder, beside, seconds, wanted.age_seconds, progress, held.have_come
        )
        if progress.done < seconds:
            _tell_of_part(folder, beside, progress, stderr)
            return 0  # and the signal takes effect
    done = {"job": wanted.job, "recording": str(folder), "labels": str(beside), "seconds": seconds}
    tell(stdout, json.dumps(done) + "\n")
    return 0


def _require_unused(labels: Path, folder: Path) -> None:
    from paramedic.ingest.recordings.writing import require_unused

    require_unused(folder)
    if labels.exists():
        raise PreflightError(
            f"{labels} exists, and labels are never written over: remove it, or name another file"
            " with --labels FILE"
        )


def _tell_of_part(folder: Path, labels: Path, progress: Progress, stderr: TextIO) -> None:
    """Whoever interrupts learns what is there and what it is worth."""
    say(
        stderr,
        f"{folder} is a partial recording, broken off after {progress.done} of"
        f" {progress.seconds} s; replay reads what is there; to record all of it, remove it"
        f" and {labels} first",
    )


@contextmanager
def what_is_left_told(folder: Path, labels: Path) -> Iterator[None]:
    """Whoever finds the disk full learns what is there."""
    try:
        yield
    except RecordingWriteError as error:
        left = [str(one) for one in (folder, labels) if one.exists()]
        if not left:
            raise
        raise OutputError(
            f"{error}; what was written is left in {' and '.join(left)}: remove it before the next"
            " try"
        ) from error


def _require_writable(labels: Path, folder: Path) -> None:
    """Find out whether the labels can be written, while there is no recording yet."""
    made = (folder.resolve(), *folder.resolve().parents)
    place = labels.resolve().parent
    if labels.exists() or (place in made and not place.exists()):
        return  # the recording refuses the first and makes the second
    try:
        labels.touch(exist_ok=False)
        labels.unlink()
    except OSError as error:
        raise PreflightError(
            f"--labels {labels} cannot be written ({reason_of(error)}):"
            f" {remedy_for(error, 'name another file')}"
        ) from error


class Progress:
    """Says now and then how far a recording has come."""

    def __init__(self, seconds: int, stderr: TextIO, clock: Callable[[], float]) -> None:
        self.seconds, self.done = seconds, 0
        self._stderr = stderr
        self._clock = clock
        self._told = clock()

    def __call__(self, done: int) -> None:
        """So many seconds are done."""
        self.done, now = done, self._clock()
        if now - self._told >= _TELL_EVERY_SECONDS or done == self.seconds:
            self._told = now
            say(self._stderr, f"{done} of {self.seconds} s recorded")


def _plan(fault: FaultWanted, age_seconds: int) -> FaultPlan:
    from paramedic.ingest.synthetic.faults.plan import FaultPlan

    onset = age_seconds + fault.at_second
    return FaultPlan(
        kind=fault.kind,
        node=NodeName(fault.node),
        gpu=fault.gpu,
        onset=onset,
        end=None if fault.seconds is None else onset + fault.seconds,
        strength=fault.strength,
    )


def _words(cluster: SyntheticCluster) -> str:
    shape, faults = cluster.config.shape, cluster.config.faults
    hurt = ", ".join(f"{plan.kind} at {plan.node}" for plan in faults) or "nothing breaks"
    return f"{counted(shape.nodes, 'node')} × {counted(shape.gpus, 'GPU')} ({hurt})"


def _write_files(addresses: list[NodeAddress], how: Serving) -> None:
    from paramedic.ingest.synthetic.serving.addresses import hosts_file, prometheus_file

    for file, text in (
        (how.prometheus_file, prometheus_file(addresses)),
        (how.hosts_file, hosts_file(addresses)),
    ):
        if file is not None:
            _write(file, text)


def _write(file: Path, text: str) -> None:
    try:
        write_text(file, text)
    except OSError as error:
        raise PreflightError(
            f"{file} cannot be written: {reason_of(error)}:"
            f" {remedy_for(error, 'name another file')}"
        ) from error
