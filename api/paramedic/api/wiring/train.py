"""Trains a pattern model from recordings and writes it as a model folder."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from paramedic.api.wiring.errors import InputError
from paramedic.api.wiring.labelled_scores import labelled_scores
from paramedic.api.wiring.telling import say, tell
from paramedic.api.wiring.training_folder import begin_training, require_wanted, training_folder
from paramedic.api.wiring.wording import counted
from paramedic.api.wiring.writable import make_writable
from paramedic.ingest.contract import format_time
from paramedic.ingest.drafts import reason_of, remedy_for
from paramedic.ingest.folder_lock import alone_in
from paramedic.models.histories.errors import LabelError
from paramedic.models.histories.labelled import LabelledHistory, read_labelled
from paramedic.models.pattern.detector import PatternDetector
from paramedic.models.registry.errors import ModelWriteError
from paramedic.models.registry.model_folder import save
from paramedic.models.registry.provenance import manifest_of_training

if TYPE_CHECKING:
    from pytorch_lightning.loggers import CSVLogger, Logger

    from paramedic.models.detection import FaultyMachineDetector
    from paramedic.models.history import JobHistory
    from paramedic.models.pattern.artifact import PatternArtifact
    from paramedic.models.registry.manifest import Manifest
    from paramedic.models.training.fit_settings import FitSettings

    Detector = Callable[[PatternArtifact], FaultyMachineDetector]
    Progress = Callable[[str, float], None]
    Learn = Callable[
        [Sequence[JobHistory], FitSettings, Progress, Sequence[Logger]], PatternArtifact
    ]

_TELL_EVERY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What is to be trained, on what, and where it goes."""

    recordings: tuple[Path, ...]
    """As they were typed; so the manifest names them."""
    folder: Path
    """The current folder; relative paths start there."""
    out: Path
    name: str
    seed: int
    epochs: int | None
    """At most; None: the default."""
    resume: bool
    accelerator: str
    logs: Path | None
    now: datetime
    clock: Callable[[], float]
    """Seconds that only ever grow; for progress."""


def fitted(
    histories: Sequence[JobHistory],
    settings: FitSettings,
    progress: Progress,
    loggers: Sequence[Logger],
) -> PatternArtifact:
    """Learn with Lightning. Raises PatternError."""
    from paramedic.models.training.fitting import fit

    with _quiet_lightning():
        return fit(histories, settings, progress, loggers)


def train(
    request: TrainRequest, stdout: TextIO, stderr: TextIO,
    learn: Learn = fitted, detector: Detector = PatternDetector,
) -> int:  # fmt: skip
    """Read, learn, measure, write.

    Raises RecordingError, ModelWriteError, InputError or FolderInUseError.
    """
    with alone_in(training_folder(request.out), "a training"):
        return _train(request, stdout, stderr, learn, detector)


def _train(
    request: TrainRequest, stdout: TextIO, stderr: TextIO, learn: Learn, detector: Detector
) -> int:
    begun = request.clock()
    if request.out.exists():
        raise ModelWriteError(f"{request.out} is there already: name another folder")
    require_wanted(request.out, resume=request.resume)
    _require_logs(request.logs)
    seen = _read(request, stderr)
    manifest = manifest_of_training(
        request.name,
        format_time(request.now.replace(microsecond=0)),
        ((one.name, one.history) for one in seen),
    )
    artifact = _learnt(request, seen, manifest, stderr, learn)
    scores = labelled_scores(detector(artifact), seen, stderr)
    kept = save(request.out, artifact, replace(manifest, scores=scores))
    shutil.rmtree(training_folder(request.out))
    seconds = request.clock() - begun
    tell(stdout, json.dumps(_result(request, kept, seconds)) + "\n")
    say(stderr, f"{request.out} is a model; paramedic models promote {request.out} puts it in use")
    return 0


def _require_logs(folder: Path | None) -> None:
    """Before anything is read. Raises InputError where losses cannot be logged."""
    try:
        if folder is not None:
            make_writable(folder)
    except OSError as error:
        raise InputError(
            f"--logs {folder} cannot be written ({reason_of(error)}):"
            f" {remedy_for(error, 'name another folder')}"
        ) from error


def _read(request: TrainRequest, stderr: TextIO) -> list[LabelledHistory]:
    """Every stretch of every recording, by the name as typed, with what is known of it."""
    seen: list[LabelledHistory] = []
    for path in request.recordings:
        try:
            found = read_labelled(request.folder / path)
        except LabelError as error:
            raise InputError(str(error)) from error
        seconds = sum(len(one.history.seconds) * one.history.seconds.step for one in found)
        say(stderr, f"{path}: {seconds} s in {counted(len(found), 'part')}")
        seen += [replace(one, name=str(path)) for one in found]
    return seen


def _learnt(
    request: TrainRequest,
    seen: Sequence[LabelledHistory],
    manifest: Manifest,
    stderr: TextIO,
    learn: Learn,
) -> PatternArtifact:
    from paramedic.models.pattern.errors import PatternError

    folder = begin_training(request.out, _asked(request, manifest))
    histories = [one.history for one in seen]
    progress = _Progress(stderr, request.clock)
    try:
        return learn(histories, _settings(request, folder), progress, _loggers(request))
    except PatternError as error:
        shutil.rmtree(folder)
        raise InputError(f"the recordings teach nothing: {error}") from error


def _asked(request: TrainRequest, manifest: Manifest) -> dict[str, object]:
    """What has to be the same for a training to go on."""
    return {
        "seed": request.seed,
        "epochs": request.epochs,
        "code_version": manifest.code_version,
        "recordings": [one.sha256 for one in manifest.trained_on],
    }


def _settings(request: TrainRequest, folder: Path) -> FitSettings:
    from paramedic.models.training.fit_settings import FitSettings

    settings = FitSettings(
        seed=request.seed, accelerator=request.accelerator, checkpoint_folder=folder
    )
    return settings if request.epochs is None else replace(settings, most_epochs=request.epochs)


def _loggers(request: TrainRequest) -> Sequence[CSVLogger]:
    if request.logs is None:
        return ()
    from pytorch_lightning.loggers import CSVLogger

    return (CSVLogger(request.logs, name=request.name),)


def _result(request: TrainRequest, kept: Manifest, seconds: float) -> dict[str, object]:
    return {
        "model": str(request.out),
        "name": kept.name,
        "tensors_sha256": kept.tensors_sha256,
        "metrics": len(kept.metrics),
        "trained_seconds": sum(one.seconds for one in kept.trained_on),
        "scores": dict(kept.scores),
        "seconds": round(seconds, 1),
    }


class _Progress:
    """Says what is being done: at once when it is another thing, else every few seconds."""

    def __init__(self, stderr: TextIO, clock: Callable[[], float]) -> None:
        self._stderr, self._clock = stderr, clock
        self._stage, self._told = "", 0.0

    def __call__(self, stage: str, share: float) -> None:
        now = self._clock()
        if stage == self._stage and now - self._told < _TELL_EVERY_SECONDS:
            return
        self._stage, self._told = stage, now
        say(self._stderr, f"{stage}: {share:.0%}".replace("%", " %"))


@contextmanager
def _quiet_lightning() -> Iterator[None]:
    """Lightning warns of what is no concern of ours.

    It also turns Ctrl-C into an exit of its own, which becomes Ctrl-C again.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SystemExit as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
