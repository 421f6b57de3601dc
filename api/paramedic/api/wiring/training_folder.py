"""Where a training keeps how far it is, so that one that was stopped can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from paramedic.api.wiring.errors import InputError
from paramedic.ingest.drafts import draft_of, reason_of, remedy_for, write_text
from paramedic.ingest.folder_lock import LOCK_FILE

_ASKED_FILE = "training.json"
_NO_MATTER = {LOCK_FILE, draft_of(Path(_ASKED_FILE)).name}
"""What may lie in a folder in which no training was begun."""


def training_folder(out: Path) -> Path:
    """Beside the model that is to be made."""
    return out.with_name(f"{out.name}.training")


def begin_training(out: Path, asked: Mapping[str, object]) -> Path:
    """The folder for checkpoints; new, or with those of the training that was stopped.

    Raises InputError where another one was stopped, or the folder cannot be written.
    """
    folder = training_folder(out)
    try:
        if _was_begun(folder):
            _require_the_same(folder, asked)
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / _ASKED_FILE, json.dumps(asked) + "\n")
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written: {reason_of(error)}:"
            f" {remedy_for(error, 'name another folder with --out')}"
        ) from error
    return folder


def require_wanted(out: Path, *, resume: bool) -> None:
    """Before anything is read. Raises InputError where one was stopped and is not to go on."""
    folder = training_folder(out)
    if _was_begun(folder) and not resume:
        raise InputError(
            f"{folder} holds a training that was stopped: --resume goes on with it, "
            "or remove the folder"
        )


def _was_begun(folder: Path) -> bool:
    """Whether a training got as far as saying what it is. Raises InputError for other contents."""
    if (folder / _ASKED_FILE).exists():
        return True
    if folder.exists() and {one.name for one in folder.iterdir()} - _NO_MATTER:
        raise InputError(f"{folder} is no training's folder, and is needed for one: move it away")
    return False


def _require_the_same(folder: Path, asked: Mapping[str, object]) -> None:
    try:
        before = json.loads((folder / _ASKED_FILE).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{folder / _ASKED_FILE}: {error}: remove {folder}") from error
    other = [name for name, value in asked.items() if before.get(name) != value]
    if other:
        raise InputError(
            f"{folder} holds a training with other {', '.join(other)}: "
            "take the same again, or remove the folder"
        )
