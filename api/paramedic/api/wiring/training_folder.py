"""Where a training keeps how far it is, so that one that was stopped can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from paramedic.api.wiring.errors import InputError

_ASKED_FILE = "training.json"
_DRAFT_FILE = f".{_ASKED_FILE}.draft"


def training_folder(out: Path) -> Path:
    """Beside the model that is to be made."""
    return out.with_name(f"{out.name}.training")


def begin_training(out: Path, asked: Mapping[str, object], *, resume: bool) -> Path:
    """The folder for checkpoints; new, or with those of the training that was stopped.

    Raises InputError where one was stopped and is not to go on, or was another one, or the folder
    cannot be written.
    """
    folder = training_folder(out)
    try:
        if _was_begun(folder):
            _require_the_same(folder, asked, resume=resume)
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / _DRAFT_FILE
        draft.write_text(json.dumps(asked) + "\n", encoding="utf-8")
        draft.replace(folder / _ASKED_FILE)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    return folder


def _was_begun(folder: Path) -> bool:
    """Whether a training got as far as saying what it is. Raises InputError for other contents."""
    if (folder / _ASKED_FILE).exists():
        return True
    if folder.exists() and {one.name for one in folder.iterdir()} - {_DRAFT_FILE}:
        raise InputError(f"{folder} is no training's folder, and is needed for one: move it away")
    return False


def _require_the_same(folder: Path, asked: Mapping[str, object], *, resume: bool) -> None:
    if not resume:
        raise InputError(
            f"{folder} holds a training that was stopped: --resume goes on with it, "
            "or remove the folder"
        )
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
